//! `make train-topic`: fits the line between daily life and music to the sentences in `training` (logistic regression)
//! and prints how many it puts on the wrong side when it has not seen them (five folds).

#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

use std::{fmt::Write, fs, path::PathBuf};

use search::embed::StaticTable;

const N_FOLDS: usize = 5;
const N_STEPS: usize = 3000;
const RATE: f32 = 2.0;
/// Keeps the weights small: the sentences are few, and a vector has 256 numbers.
const DECAY: f32 = 0.001;

struct Example {
    vector: Vec<f32>,
    is_daily_life: bool,
}

struct Line {
    weights: Vec<f32>,
    constant: f32,
}

impl Line {
    fn probability(&self, vector: &[f32]) -> f32 {
        let sum: f32 = self.weights.iter().zip(vector).map(|(weight, x)| weight * x).sum();
        1.0 / (1.0 + (-sum - self.constant).exp())
    }

    fn fit(examples: &[&Example]) -> Self {
        let n_dims = examples.first().map_or(0, |example| example.vector.len());
        let mut line = Self { weights: vec![0.0; n_dims], constant: 0.0 };
        for _ in 0..N_STEPS {
            let mut slope = vec![0.0; n_dims];
            let mut constant = 0.0;
            for example in examples {
                let error = line.probability(&example.vector) - f32::from(u8::from(example.is_daily_life));
                slope.iter_mut().zip(&example.vector).for_each(|(slope, x)| *slope += error * x);
                constant += error;
            }
            let rate = RATE / examples.len() as f32;
            for (weight, slope) in line.weights.iter_mut().zip(slope) {
                *weight -= rate * slope + RATE * DECAY * *weight;
            }
            line.constant -= rate * constant;
        }
        line
    }
}

fn main() -> anyhow::Result<()> {
    let crate_dir = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let table = StaticTable::built_in()?;
    let mut examples = Vec::new();
    for (file, is_daily_life) in [("on_topic.txt", false), ("off_topic.txt", true)] {
        let sentences = fs::read_to_string(crate_dir.join("training").join(file))?;
        let read = sentences.lines().map(|line| Example { vector: table.vector(line), is_daily_life });
        examples.extend(read);
    }
    let mut wrong = [0, 0];
    for fold in 0..N_FOLDS {
        let is_seen = |at: usize| at % N_FOLDS != fold;
        let seen: Vec<_> = examples.iter().enumerate().filter(|(at, _)| is_seen(*at)).map(|(_, one)| one).collect();
        let line = Line::fit(&seen);
        for (_, example) in examples.iter().enumerate().filter(|(at, _)| !is_seen(*at)) {
            let said = line.probability(&example.vector) > 0.5;
            wrong[usize::from(example.is_daily_life)] += usize::from(said != example.is_daily_life);
        }
    }
    let n_daily = examples.iter().filter(|example| example.is_daily_life).count();
    println!(
        "unseen sentences on the wrong side: {} of {} about music, {} of {n_daily} about daily life",
        wrong[0],
        examples.len() - n_daily,
        wrong[1]
    );
    let line = Line::fit(&examples.iter().collect::<Vec<_>>());
    let mut file = String::new();
    for weight in line.weights.iter().chain([&line.constant]) {
        writeln!(file, "{weight:.4}")?;
    }
    fs::write(crate_dir.join("assets/topic.txt"), file)?;
    Ok(())
}
