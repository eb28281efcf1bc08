//! Tantivy tokenizers over the terms of [`query::words`].

use query::words::{Word, is_stop_word, words};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Terms of prose, without stop words.
#[derive(Clone, Copy)]
pub(crate) struct WordTokenizer;

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = Words;
    fn token_stream<'a>(&'a mut self, text: &'a str) -> Words {
        let words = words(text).into_iter().filter(|word| !is_stop_word(&word.term)).collect::<Vec<_>>();
        Words { words: words.into_iter(), token: Token::default() }
    }
}

/// Like [`WordTokenizer`] for names, where a stop word may be the whole name.
#[derive(Clone, Copy)]
pub(crate) struct NameTokenizer;

impl Tokenizer for NameTokenizer {
    type TokenStream<'a> = Words;
    fn token_stream<'a>(&'a mut self, text: &'a str) -> Words {
        Words { words: words(text).into_iter(), token: Token::default() }
    }
}

pub(crate) struct Words {
    words: std::vec::IntoIter<Word>,
    token: Token,
}

impl TokenStream for Words {
    fn advance(&mut self) -> bool {
        let Some(word) = self.words.next() else { return false };
        let position = self.token.position.wrapping_add(1);
        self.token =
            Token { offset_from: word.start, offset_to: word.end, position, text: word.term, position_length: 1 };
        true
    }
    fn token(&self) -> &Token {
        &self.token
    }
    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
