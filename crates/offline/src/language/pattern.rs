//! Patterns: the syntax of the grammar, and the search for the pattern that fits a text best.
//!
//! `mark {x} [as] (done | finished)`: plain words, a choice, an optional part, and slots for any words. A pattern must fit
//! the whole text. Of several, the pattern with the most plain words wins.

use std::{collections::HashMap, iter::Peekable};

use super::text::{Likeness, Word, fold, likeness};

/// The patterns of one grammar, each with its value `T`.
pub(crate) struct Grammar<T> {
    sentences: Vec<(T, Vec<Node>)>,
    /// Every plain word of the grammar, numbered, so that a text is compared with each word only once.
    vocabulary: HashMap<String, usize>,
    /// The required similarity of a typed word and a word of the grammar.
    tolerance: Likeness,
}

enum Node {
    Word(usize),
    X,
    Y,
    Choice(Vec<Vec<Node>>),
}

/// A match, with the words in its slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fit<T> {
    pub(crate) meaning: T,
    pub(crate) slots: Slots,
    pub(crate) score: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Slots {
    pub(crate) x: Option<(usize, usize)>,
    pub(crate) y: Option<(usize, usize)>,
    /// Whether a word of the pattern was mistyped.
    pub(crate) has_typo: bool,
}

/// A correct word counts more than a mistyped one. Words in a slot do not count.
const RIGHT: u32 = 10;
const TYPO: u32 = 6;

impl<T: Copy> Grammar<T> {
    pub(crate) fn new(tolerance: Likeness, lines: impl Iterator<Item = (T, &'static str)>) -> Self {
        let mut grammar = Self { sentences: Vec::new(), vocabulary: HashMap::new(), tolerance };
        for (meaning, pattern) in lines {
            let spaced = pattern.split_inclusive(BRACKETS).flat_map(|piece| {
                let (word, bracket) = piece.split_at(piece.len() - usize::from(piece.ends_with(BRACKETS)));
                word.split_whitespace().chain((!bracket.is_empty()).then_some(bracket))
            });
            let mut tokens = spaced.peekable();
            let choices = grammar.choices(&mut tokens);
            debug_assert!(tokens.next().is_none(), "unbalanced brackets in the pattern {pattern:?}");
            grammar.sentences.push((meaning, vec![Node::Choice(choices)]));
        }
        grammar
    }

    /// `a b | c`, up to the end or a closing bracket.
    fn choices(&mut self, tokens: &mut Peekable<impl Iterator<Item = &'static str>>) -> Vec<Vec<Node>> {
        let mut choices = vec![Vec::new()];
        while let Some(token) = tokens.next_if(|token| !matches!(*token, ")" | "]")) {
            let node = match token {
                "|" => {
                    choices.push(Vec::new());
                    continue;
                }
                "(" | "[" => {
                    let mut inner = self.choices(tokens);
                    let closing = tokens.next();
                    debug_assert!(closing.is_some(), "a bracket is not closed");
                    if token == "[" {
                        inner.push(Vec::new());
                    }
                    Node::Choice(inner)
                }
                "{x}" => Node::X,
                "{y}" => Node::Y,
                word => {
                    let next = self.vocabulary.len();
                    Node::Word(*self.vocabulary.entry(fold(word)).or_insert(next))
                }
            };
            choices.last_mut().expect("the list of choices is never empty").push(node);
        }
        choices
    }

    pub(crate) fn best(&self, words: &[Word]) -> Option<Fit<T>> {
        let known: Vec<_> = words.iter().map(|word| self.readings(&word.folded)).collect();
        let mut best: Option<Fit<T>> = None;
        for (meaning, nodes) in &self.sentences {
            let Some((score, slots)) = fit(&known, 0, nodes, None) else { continue };
            if best.is_none_or(|best| score > best.score) {
                best = Some(Fit { meaning: *meaning, slots, score });
            }
        }
        best
    }

    /// The words of the grammar that a typed word may mean. A known word is never a typo of another word.
    fn readings(&self, typed: &str) -> Vec<(usize, u32)> {
        if let Some(&id) = self.vocabulary.get(typed) {
            return vec![(id, RIGHT)];
        }
        let near = self.vocabulary.iter().filter(|(word, _)| likeness(typed, word) >= self.tolerance);
        near.map(|(_, &id)| (id, TYPO)).collect()
    }
}

const BRACKETS: [char; 5] = ['(', ')', '[', ']', '|'];

/// The nodes that must match after the current ones.
struct Then<'a> {
    nodes: &'a [Node],
    then: Option<&'a Then<'a>>,
}

/// Matches `nodes` and the nodes after them with the words from `at` to the end. Slots take as few words as possible.
fn fit(known: &[Vec<(usize, u32)>], at: usize, nodes: &[Node], then: Option<&Then>) -> Option<(u32, Slots)> {
    let Some((first, rest)) = nodes.split_first() else {
        return match then {
            Some(next) => fit(known, at, next.nodes, next.then),
            None => (at == known.len()).then(|| (0, Slots::default())),
        };
    };
    match first {
        Node::Word(id) => {
            let (_, worth) = known.get(at)?.iter().find(|(reading, _)| reading == id)?;
            let (score, slots) = fit(known, at + 1, rest, then)?;
            Some((score + worth, Slots { has_typo: slots.has_typo || *worth == TYPO, ..slots }))
        }
        Node::Choice(choices) => {
            let then = Then { nodes: rest, then };
            let fits = choices.iter().filter_map(|choice| fit(known, at, choice, Some(&then)));
            fits.reduce(|best, other| if other.0 > best.0 { other } else { best })
        }
        Node::X | Node::Y => {
            let ends = at + 1..=known.len();
            let (end, (score, mut slots)) =
                ends.into_iter().find_map(|end| Some((end, fit(known, end, rest, then)?)))?;
            match first {
                Node::X => slots.x = Some((at, end)),
                _ => slots.y = Some((at, end)),
            }
            Some((score, slots))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::text::words;

    #[test]
    fn the_pattern_with_the_most_plain_words_wins() {
        let patterns = [("add", "add {x}"), ("list", "add {x} to (my | the) list"), ("move", "move {x} [over] to {y}")];
        let grammar = Grammar::new(Likeness::Near, patterns.into_iter());
        let table = [
            ("add milk", Some(("add", Some((1, 2)), None))),
            ("add milk to my list", Some(("list", Some((1, 2)), None))),
            ("add milk to teh list", Some(("add", Some((1, 5)), None))),
            ("move it over to the shed", Some(("move", Some((1, 2)), Some((4, 6))))),
            ("adding", None),
        ];
        for (text, expected) in table {
            let found = grammar.best(&words(text)).map(|fit| (fit.meaning, fit.slots.x, fit.slots.y));
            assert_eq!(found, expected, "{text}");
        }
    }
}
