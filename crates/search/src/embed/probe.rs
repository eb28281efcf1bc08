//! A probe tells from the vector of a query whether it is about daily life or about music: a weighted sum of the vector's
//! values. `make train-topic` writes the weights, which belong to one model.

use std::sync::LazyLock;

use crate::fuse::dot;

static MINILM: LazyLock<Probe> = LazyLock::new(|| Probe::read(include_str!("../../assets/topic_minilm.txt")));
static USE_M3: LazyLock<Probe> = LazyLock::new(|| Probe::read(include_str!("../../assets/topic_use.txt")));

/// What the models of an embedder say about a query: about 1 for daily life, -1 for music. A model without a probe, or that
/// did not read the query, says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Votes {
    /// Of a model that reads only English.
    pub english: Option<f32>,
    /// Of a model that reads other languages too.
    pub across: Option<f32>,
}

impl Votes {
    pub(super) fn of_minilm(vector: &[f32]) -> Self {
        Self { english: MINILM.vote(vector), ..Self::default() }
    }

    pub(super) fn of_use(vector: &[f32]) -> Self {
        Self { across: USE_M3.vote(vector), ..Self::default() }
    }

    /// Those of two embedders that are used together.
    pub(super) fn beside(self, other: Self) -> Self {
        Self { english: self.english.or(other.english), across: self.across.or(other.across) }
    }
}

struct Probe {
    constant: f32,
    weights: Vec<f32>,
}

impl Probe {
    /// The constant is in the first line, and each weight in a line of its own.
    fn read(file: &str) -> Self {
        let mut values = file.lines().filter_map(|line| line.parse().ok());
        Self { constant: values.next().unwrap_or_default(), weights: values.collect() }
    }

    /// The vector may have any length, because two embedders share one unit vector.
    fn vote(&self, vector: &[f32]) -> Option<f32> {
        let length = dot(vector, vector).sqrt();
        let is_read = length > 0.0 && vector.len() == self.weights.len();
        is_read.then(|| self.constant + dot(vector, &self.weights) / length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vote_does_not_depend_on_the_length_of_the_vector_and_the_zero_vector_has_none() {
        let probe = Probe::read("0.5\n1\n-2\n");
        assert_eq!(probe.vote(&[1.0, 0.0]), Some(1.5));
        assert_eq!(probe.vote(&[0.0, 0.25]), Some(-1.5));
        assert_eq!((probe.vote(&[0.0, 0.0]), probe.vote(&[1.0])), (None, None));
    }

    #[test]
    fn each_model_has_a_weight_for_every_value_of_its_vectors() {
        let (mut minilm, mut across) = (vec![0.0; 384], vec![0.0; 512]);
        (minilm[0], across[0]) = (1.0, 1.0);
        let both = Votes::of_minilm(&minilm).beside(Votes::of_use(&across));
        assert!(both.english.is_some() && both.across.is_some(), "run make train-topic");
    }
}
