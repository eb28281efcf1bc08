//! A probe of a model: ridge regression on the model's vectors of the sentences.

use std::fmt::Write;

use search::embed::{Embedder, TextKind};

use crate::{Example, folds};

/// Keeps the weights small.
const RIDGE: f64 = 1.0;

/// The sentences as a model reads them.
pub(crate) struct Probed {
    /// A 1 for the constant, and the vector. `None` for a sentence that the model does not read.
    rows: Vec<Option<Vec<f64>>>,
}

impl Probed {
    pub(crate) async fn of(
        model: &impl Embedder,
        examples: &[Example],
        reads: impl Fn(&Example) -> bool,
    ) -> anyhow::Result<Self> {
        let texts: Vec<String> = examples.iter().map(|example| example.sentence.clone()).collect();
        let mut rows = Vec::new();
        for texts in texts.chunks(256) {
            let vectors = model.embed(texts, TextKind::Query).await?;
            rows.extend(
                vectors.iter().map(|vector| [1.0].into_iter().chain(vector.iter().map(|x| f64::from(*x))).collect()),
            );
        }
        let rows = rows.into_iter().zip(examples).map(|(row, example)| reads(example).then_some(row)).collect();
        Ok(Self { rows })
    }

    /// The votes about each example by weights that did not see it.
    pub(crate) fn unseen(&self, targets: &[f32]) -> Vec<Option<f32>> {
        let mut votes = vec![None; targets.len()];
        for is_seen in folds() {
            let weights = self.fit(targets, &is_seen);
            for at in (0..targets.len()).filter(|at| !is_seen(*at)) {
                votes[at] = self.rows[at].as_ref().map(|row| dot(row, &weights) as f32);
            }
        }
        votes
    }

    /// The constant and the weights, one a line.
    pub(crate) fn file(&self, targets: &[f32]) -> anyhow::Result<String> {
        let mut lines = String::new();
        for weight in self.fit(targets, &|_| true) {
            writeln!(lines, "{weight:.4}")?;
        }
        Ok(lines)
    }

    /// Solves (rowsᵀ · rows + ridge) · weights = rowsᵀ · targets.
    fn fit(&self, targets: &[f32], is_seen: &dyn Fn(usize) -> bool) -> Vec<f64> {
        let n_weights = self.rows.iter().flatten().next().map_or(0, Vec::len);
        let mut products = vec![vec![0.0; n_weights]; n_weights];
        let mut sums = vec![0.0; n_weights];
        for (at, row) in self.rows.iter().enumerate().filter(|(at, _)| is_seen(*at)) {
            let Some(row) = row else { continue };
            for (of_value, value) in products.iter_mut().zip(row) {
                of_value.iter_mut().zip(row).for_each(|(product, other)| *product += value * other);
            }
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(targets[at]) * value);
        }
        for (at, row) in products.iter_mut().enumerate() {
            row[at] += RIDGE;
        }
        solved(products, sums)
    }
}

/// The solution of a system of equations with a symmetric positive matrix, by elimination.
fn solved(mut matrix: Vec<Vec<f64>>, mut values: Vec<f64>) -> Vec<f64> {
    for at in 0..values.len() {
        let (pivot, value) = (matrix[at].clone(), values[at]);
        for below in at + 1..values.len() {
            let times = matrix[below][at] / pivot[at];
            matrix[below].iter_mut().zip(&pivot).for_each(|(cell, pivot)| *cell -= times * pivot);
            values[below] -= times * value;
        }
    }
    for at in (0..values.len()).rev() {
        let known: f64 = (at + 1..values.len()).map(|other| matrix[at][other] * values[other]).sum();
        values[at] = (values[at] - known) / matrix[at][at];
    }
    values
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
