//! The ISRC parser accepts or rejects any text, and parsing is idempotent.
#![no_main]

use music::Isrc;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for isrc in Isrc::all_in(text).into_iter().flatten() {
        assert_eq!(isrc.as_str().len(), 12);
        assert!(isrc.as_str().bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()));
        let again: Vec<_> = Isrc::all_in(isrc.as_str()).into_iter().flatten().collect();
        assert_eq!(again, [isrc]);
    }
});
