//! `make train-topic`: gives each sentence in `training` its weight for telling daily life from music (kernel ridge
//! regression) and prints how many sentences are on the wrong side when they were not seen (five folds).

#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

use std::{fmt::Write, fs, path::PathBuf};

use anyhow::Context;
use search::topic::{Trained, likeness};

const N_FOLDS: usize = 5;
/// Keeps the weights small: a sentence must not explain only itself.
const RIDGE: f64 = 0.3;

struct Example {
    trained: Trained,
    is_daily_life: bool,
}

impl Example {
    fn target(&self) -> f64 {
        if self.is_daily_life { 1.0 } else { -1.0 }
    }
}

/// The weights that solve (likeness + ridge) · weights = targets.
fn fit(examples: &[&Example]) -> Vec<f64> {
    let n = examples.len();
    let mut lower = vec![vec![0.0; n]; n];
    for row in 0..n {
        for column in 0..=row {
            let ridge = if row == column { RIDGE } else { 0.0 };
            let alike =
                f64::from(likeness(&examples[row].trained.features, &examples[column].trained.features)) + ridge;
            let known: f64 = (0..column).map(|at| lower[row][at] * lower[column][at]).sum();
            lower[row][column] =
                if row == column { (alike - known).sqrt() } else { (alike - known) / lower[column][column] };
        }
    }
    let mut weights: Vec<f64> = examples.iter().map(|example| example.target()).collect();
    for row in 0..n {
        let known: f64 = (0..row).map(|at| lower[row][at] * weights[at]).sum();
        weights[row] = (weights[row] - known) / lower[row][row];
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|at| lower[at][row] * weights[at]).sum();
        weights[row] = (weights[row] - known) / lower[row][row];
    }
    weights
}

fn says_daily_life(examples: &[&Example], weights: &[f64], features: &[f32]) -> bool {
    let votes = examples.iter().zip(weights);
    votes.map(|(example, weight)| weight * f64::from(likeness(&example.trained.features, features))).sum::<f64>() > 0.0
}

fn main() -> anyhow::Result<()> {
    let crate_dir = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut examples = Vec::new();
    for (file, is_daily_life) in [("on_topic.txt", false), ("off_topic.txt", true)] {
        for sentence in fs::read_to_string(crate_dir.join("training").join(file))?.lines() {
            let trained = Trained::of(sentence).with_context(|| format!("{file}: no known word in {sentence:?}"))?;
            examples.push(Example { trained, is_daily_life });
        }
    }
    report(&examples);
    let all: Vec<&Example> = examples.iter().collect();
    let mut file = String::new();
    for (example, weight) in all.iter().zip(fit(&all)) {
        let form = example.trained.form.map(|value| format!("{value:.3}")).join(" ");
        writeln!(file, "{weight:.3}\t{form}\t{}", example.trained.english)?;
    }
    fs::write(crate_dir.join("assets/topic.txt"), file)?;
    Ok(())
}

fn report(examples: &[Example]) {
    let mut wrong = [Vec::new(), Vec::new()];
    for fold in 0..N_FOLDS {
        let (unseen, seen): (Vec<_>, Vec<_>) = examples.iter().enumerate().partition(|(at, _)| at % N_FOLDS == fold);
        let seen: Vec<&Example> = seen.into_iter().map(|(_, example)| example).collect();
        let weights = fit(&seen);
        for (_, example) in unseen {
            if says_daily_life(&seen, &weights, &example.trained.features) != example.is_daily_life {
                wrong[usize::from(example.is_daily_life)].push(example.trained.english.as_str());
            }
        }
    }
    let n_daily = examples.iter().filter(|example| example.is_daily_life).count();
    for (about, wrong, n) in [("music", &wrong[0], examples.len() - n_daily), ("daily life", &wrong[1], n_daily)] {
        println!("about {about}: {} of {n} unseen sentences on the wrong side: {}", wrong.len(), wrong.join(" · "));
    }
}
