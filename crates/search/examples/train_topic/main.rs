//! `make train-topic`: learns from the sentences in `training` to tell daily life from music and prints how many of them are on
//! the wrong side when they were not seen (five folds).
//!
//! Kernel ridge regression with Nyström's approximation: two sentences are as alike as their similarities to every fourteenth sentence
//! make them, so that the server compares a message with these only.
//!
//! Usage: `train_topic [MODELS_DIR]`. Each model in this folder gets a probe too (`probe.rs`).

#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

mod probe;

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use probe::Probed;
use search::{
    embed::{MiniLm, UseM3},
    topic::{LANDMARK_EVERY, Trained},
};

const N_FOLDS: usize = 5;
/// Sentences about one subject stand together in the files. They are left out together, because a sentence is easy to
/// judge when its neighbours are known.
const TOGETHER: usize = 60;
/// Keeps the weights small: a sentence must not explain only itself.
const RIDGE: f32 = 0.2;

struct Example {
    sentence: String,
    trained: Trained,
    is_daily_life: bool,
}

impl Example {
    fn target(&self) -> f32 {
        if self.is_daily_life { 1.0 } else { -1.0 }
    }

    fn is_english(&self) -> bool {
        self.sentence == self.trained.english
    }
}

/// The sentences that stand for all.
struct Landmarks<'e> {
    sentences: Vec<&'e Trained>,
    /// Their similarities to each other, as the product of this lower triangle and its transpose.
    triangle: Vec<Vec<f32>>,
}

impl<'e> Landmarks<'e> {
    /// Added to the similarity of a sentence to itself: two that are almost the same would make the triangle singular.
    const APART: f32 = 0.01;

    fn of(examples: &'e [Example]) -> Self {
        let sentences: Vec<&Trained> =
            examples.iter().step_by(LANDMARK_EVERY).map(|example| &example.trained).collect();
        let mut triangle: Vec<Vec<f32>> = Vec::new();
        for (at, sentence) in sentences.iter().enumerate() {
            let alike: Vec<f32> = sentences[..at].iter().map(|other| sentence.likeness(other)).collect();
            let mut row = solve(&triangle, &alike);
            let rest = sentence.likeness(sentence) + Self::APART - dot(&row, &row);
            row.push(rest.max(Self::APART / 2.0).sqrt());
            triangle.push(row);
        }
        Self { sentences, triangle }
    }

    /// A sentence as numbers. The product of two such rows is how alike the sentences are.
    fn coordinates(&self, sentence: &Trained) -> Vec<f32> {
        let alike: Vec<f32> = self.sentences.iter().map(|landmark| landmark.likeness(sentence)).collect();
        solve(&self.triangle, &alike)
    }

    /// The weights of the landmarks that give the same sum as these weights of all sentences.
    fn weights(&self, coordinates: &[Vec<f32>], weights: &[f32]) -> Vec<f32> {
        let mut sum = vec![0.0; self.sentences.len()];
        for (row, weight) in coordinates.iter().zip(weights) {
            add(&mut sum, *weight, row);
        }
        for at in (0..sum.len()).rev() {
            let row = &self.triangle[at];
            let weight = sum[at] / row[at];
            add(&mut sum[..at], -weight, &row[..at]);
            sum[at] = weight;
        }
        sum
    }
}

/// The numbers whose products with the rows of a lower triangle are `values`.
fn solve(triangle: &[Vec<f32>], values: &[f32]) -> Vec<f32> {
    let mut solved = Vec::with_capacity(values.len());
    for (row, value) in triangle.iter().zip(values) {
        let at = solved.len();
        solved.push((value - dot(&row[..at], &solved)) / row[at]);
    }
    solved
}

/// How alike each two examples are. The table of all pairs would have hundreds of millions of cells; only its products with
/// weights are computed.
struct Likeness<'e> {
    coordinates: &'e [Vec<f32>],
    /// The sentences with each term, and its share in them.
    by_term: Vec<Vec<(usize, f32)>>,
}

impl<'e> Likeness<'e> {
    fn of(examples: &[Example], coordinates: &'e [Vec<f32>]) -> Self {
        Self { coordinates, by_term: sentences_by_term(examples).into_values().collect() }
    }

    /// The votes of all examples about each one.
    fn votes(&self, weights: &[f32]) -> Vec<f32> {
        let mut sum = vec![0.0; self.coordinates.first().map_or(0, Vec::len)];
        for (row, weight) in self.coordinates.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
            add(&mut sum, *weight, row);
        }
        let mut votes: Vec<f32> = self.coordinates.iter().map(|row| dot(row, &sum)).collect();
        for sentences in &self.by_term {
            let of_term: f32 = sentences.iter().map(|(at, share)| share * weights[*at]).sum();
            sentences.iter().for_each(|(at, share)| votes[*at] += share * of_term);
        }
        votes
    }

    /// The weights that solve (likeness + ridge) · weights = targets, by conjugate gradients. Examples that are not seen
    /// have the weight 0.
    fn fit(&self, targets: &[f32], is_seen: &dyn Fn(usize) -> bool) -> Vec<f32> {
        const SMALLEST_ERROR: f32 = 1e-4;
        const MOST_STEPS: usize = 1000;
        let seen: Vec<usize> = (0..targets.len()).filter(|at| is_seen(*at)).collect();
        let mut weights = vec![0.0; targets.len()];
        let mut error = vec![0.0; targets.len()];
        for &at in &seen {
            error[at] = targets[at];
        }
        let mut direction = error.clone();
        let mut square = dot(&error, &error);
        let smallest = SMALLEST_ERROR * SMALLEST_ERROR * square;
        for _ in 0..MOST_STEPS {
            let votes = self.votes(&direction);
            let mut product = vec![0.0; targets.len()];
            for &at in &seen {
                product[at] = votes[at] + RIDGE * direction[at];
            }
            let step = square / dot(&direction, &product);
            add(&mut weights, step, &direction);
            add(&mut error, -step, &product);
            let next = dot(&error, &error);
            if next < smallest {
                break;
            }
            let turn = next / square;
            for (towards, error) in direction.iter_mut().zip(&error) {
                *towards = error + turn * *towards;
            }
            square = next;
        }
        weights
    }

    /// The votes about each example by weights that did not see it.
    fn unseen(&self, targets: &[f32]) -> Vec<Option<f32>> {
        let mut votes = vec![None; targets.len()];
        for is_seen in folds() {
            let of_fold = self.votes(&self.fit(targets, &is_seen));
            for at in (0..targets.len()).filter(|at| !is_seen(*at)) {
                votes[at] = Some(of_fold[at]);
            }
        }
        votes
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let mut lanes = [0.0f32; 16];
    for (a, b) in a.iter().zip(b) {
        (0..16).for_each(|lane| lanes[lane] += a[lane] * b[lane]);
    }
    lanes.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum::<f32>()
}

fn add(to: &mut [f32], times: f32, what: &[f32]) {
    for (to, what) in to.iter_mut().zip(what) {
        *to += times * what;
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let crate_dir = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let models_dir = std::env::args().nth(1).map_or_else(|| "segue-data/models".into(), PathBuf::from);
    let examples = read(&crate_dir)?;
    let landmarks = Landmarks::of(&examples);
    let coordinates: Vec<Vec<f32>> = examples.iter().map(|example| landmarks.coordinates(&example.trained)).collect();
    let likeness = Likeness::of(&examples, &coordinates);
    let targets: Vec<f32> = examples.iter().map(Example::target).collect();
    let weights = likeness.fit(&targets, &|_| true);
    let assets = crate_dir.join("assets");
    fs::write(assets.join("topic.txt"), sentences(&landmarks, &landmarks.weights(&coordinates, &weights))?)?;
    fs::write(assets.join("topic_terms.txt"), terms(&examples, &weights)?)?;

    let mut votes = vec![likeness.unseen(&targets)];
    report("the sentences", &examples, &votes);
    if let Some(minilm) = MiniLm::find(&models_dir)? {
        let probed = Probed::of(&minilm, &examples, Example::is_english).await?;
        fs::write(assets.join("topic_minilm.txt"), probed.file(&targets)?)?;
        votes.push(probed.unseen(&targets));
        report("the sentences and MiniLM", &examples, &votes);
    }
    if let Some(across) = UseM3::find(&models_dir)? {
        let probed = Probed::of(&across, &examples, |_| true).await?;
        fs::write(assets.join("topic_use.txt"), probed.file(&targets)?)?;
        votes.push(probed.unseen(&targets));
        report("the sentences and all models", &examples, &votes);
    }
    Ok(())
}

fn read(crate_dir: &Path) -> anyhow::Result<Vec<Example>> {
    let mut examples = Vec::new();
    for (file, is_daily_life) in [("on_topic.txt", false), ("off_topic.txt", true)] {
        for sentence in fs::read_to_string(crate_dir.join("training").join(file))?.lines() {
            match Trained::of(sentence) {
                Some(trained) => examples.push(Example { sentence: sentence.into(), trained, is_daily_life }),
                None => println!("{file}: left out, no known word in {sentence:?}"),
            }
        }
    }
    Ok(examples)
}

/// The sentences with each term, and its share in them. A term of one sentence tells nothing about others.
fn sentences_by_term(examples: &[Example]) -> BTreeMap<&str, Vec<(usize, f32)>> {
    let mut sentences = BTreeMap::<&str, Vec<(usize, f32)>>::new();
    for (at, example) in examples.iter().enumerate() {
        for term in &example.trained.terms {
            sentences.entry(&term.text).or_default().push((at, term.share));
        }
    }
    sentences.retain(|_, sentences| sentences.len() > 1);
    sentences
}

fn sentences(landmarks: &Landmarks, weights: &[f32]) -> anyhow::Result<String> {
    let mut lines = String::new();
    for (trained, weight) in landmarks.sentences.iter().zip(weights) {
        let form = trained.form.map(|value| ((value * 1000.0).round() / 1000.0).to_string()).join(" ");
        writeln!(lines, "{weight:.3}\t{form}\t{}", trained.english)?;
    }
    Ok(lines)
}

fn terms(examples: &[Example], weights: &[f32]) -> anyhow::Result<String> {
    let mut lines = String::new();
    for (term, shares) in sentences_by_term(examples) {
        let weight: f32 = shares.iter().map(|(at, share)| weights[*at] * share).sum();
        writeln!(lines, "{term}\t{weight:.3}")?;
    }
    Ok(lines)
}

/// For each fold: whether an example is seen.
fn folds() -> impl Iterator<Item = impl Fn(usize) -> bool> {
    (0..N_FOLDS).map(|fold| move |at: usize| at / TOGETHER % N_FOLDS != fold)
}

/// Prints how many sentences are on the wrong side by the mean of these votes, each of which did not see them.
fn report(by: &str, examples: &[Example], votes: &[Vec<Option<f32>>]) {
    for is_english in [true, false] {
        let languages = if is_english { "English" } else { "German, French, Spanish" };
        for (is_daily_life, about) in [(false, "music"), (true, "daily life")] {
            let is_of = |(_, example): &(usize, &Example)| {
                example.is_english() == is_english && example.is_daily_life == is_daily_life
            };
            let of: Vec<(usize, &Example)> = examples.iter().enumerate().filter(is_of).collect();
            let is_wrong = |(at, _): &&(usize, &Example)| {
                let sum: f32 = votes.iter().filter_map(|votes| votes[*at]).sum();
                (sum > 0.0) != is_daily_life
            };
            let wrong: Vec<&str> = of.iter().filter(is_wrong).map(|(_, example)| example.sentence.as_str()).collect();
            let (n_wrong, n, list) = (wrong.len(), of.len(), wrong.join(" · "));
            println!(
                "by {by}, {languages}, about {about}: {n_wrong} of {n} unseen sentences on the wrong side: {list}"
            );
        }
    }
}
