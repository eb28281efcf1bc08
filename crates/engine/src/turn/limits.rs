//! How many steps and how much time a turn may take.

use std::time::Duration;

use crate::Model;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of tool rounds. After them the model must answer with the results that it has.
    pub max_steps: u32,
    pub first_delta: Duration,
    pub silence: Duration,
    pub whole_turn: Duration,
}

impl Limits {
    /// The limits for this model. A local server may need minutes to read a prompt.
    pub fn for_model(self, model: &dyn Model) -> Self {
        if !model.is_local() {
            return self;
        }
        let (first_delta, whole_turn) = (Duration::from_secs(180), Duration::from_secs(900));
        Self { first_delta: self.first_delta.max(first_delta), whole_turn: self.whole_turn.max(whole_turn), ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: 5,
            first_delta: Duration::from_secs(30),
            silence: Duration::from_secs(60),
            whole_turn: Duration::from_secs(300),
        }
    }
}
