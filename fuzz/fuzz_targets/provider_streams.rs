//! Provider readers do not panic on any stream, and the result does not depend on where the chunks end.
#![no_main]

use providers::replay;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (u8, &[u8])| {
    let (size, body) = data;
    let size = usize::from(size).max(1);
    assert_eq!(replay::anthropic([body]), replay::anthropic(body.chunks(size)));
    assert_eq!(replay::openai([body]), replay::openai(body.chunks(size)));
});
