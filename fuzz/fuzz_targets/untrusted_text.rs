//! Any JSON becomes one marked line without invisible characters that can be read back.
#![no_main]

use engine::untrusted::{clean, marked, unmarked};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    assert_eq!(clean(&clean(&text)), clean(&text));
    let value = serde_json::from_slice(data).unwrap_or_else(|_| Value::String(text.into_owned()));
    let shown = marked("tool", value);
    assert_eq!(shown.as_str().map(|text| text.matches('\n').count()), Some(1));
    assert_ne!(unmarked(&shown), shown, "it can be read back");
});
