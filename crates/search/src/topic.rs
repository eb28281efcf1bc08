//! Whether a message is about daily life rather than about music: a line drawn through the vectors of the built-in
//! table. `make train-topic` fits it to the two lists of sentences in `training`.

use std::sync::LazyLock;

use super::{fuse::dot, why::table};

static WEIGHTS: LazyLock<(Vec<f32>, f32)> = LazyLock::new(|| read(include_str!("../assets/topic.txt")));

/// One weight a line; the last is the constant.
fn read(file: &str) -> (Vec<f32>, f32) {
    let mut weights: Vec<f32> = file.lines().filter_map(|line| line.parse().ok()).collect();
    let constant = weights.pop().unwrap_or_default();
    (weights, constant)
}

/// 0 to 1: how surely a message is about daily life. A message without a known word is about neither.
pub(crate) fn daily_life(message: &str) -> f32 {
    let Some(table) = table() else { return 0.0 };
    let vector = table.vector(message);
    if vector.iter().all(|x| *x == 0.0) {
        return 0.0;
    }
    let (weights, constant) = &*WEIGHTS;
    1.0 / (1.0 + (-dot(&vector, weights) - constant).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_a_weight_for_each_number_of_a_vector() {
        assert_eq!(WEIGHTS.0.len(), table().unwrap().vector("").len());
    }

    #[test]
    fn errands_are_told_from_what_songs_are_about() {
        for errand in ["pay the invoice of the plumber", "wifi router password", "dentist appointment on Tuesday"] {
            assert!(daily_life(errand) > 0.5, "{errand}: {}", daily_life(errand));
        }
        for wish in ["lonely in the rain", "a lullaby with piano", "dancing until the morning", ""] {
            assert!(daily_life(wish) < 0.5, "{wish}: {}", daily_life(wish));
        }
    }
}
