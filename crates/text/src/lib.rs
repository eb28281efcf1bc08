//! Functions for any text: fold it for comparisons, remove invisible characters, cut it to a length. Lengths are numbers
//! of `char`s.

mod fold;
mod invisible;
mod length;

pub use fold::{fold, fold_char, is_unspaced};
pub use invisible::{is_hidden, is_invisible, without_hidden, without_invisible};
pub use length::{cut, shortened, shortened_at_word};
