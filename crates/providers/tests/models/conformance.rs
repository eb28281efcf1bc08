//! The recorded streams of both vendors produce the same deltas.

use crate::provider::{Answer, Provider, Then, VENDORS, Vendor, hello, transcript};

/// Recorded once for each vendor.
const SHARED: &[(&str, &[&str])] = &[
    ("text", &[r#"text "Hello""#, r#"text " grün 🎵""#, r#"text " \"x\"\n""#, "end in 25 out 12 cache 0+0"]),
    ("one_call", &[r#"text "Adding it.""#, r#"call add_task {"title": "Milk"}"#, "end in 25 out 12 cache 0+0"]),
    (
        "parallel_calls",
        &[
            r#"call add_task {"title":"Milk"}"#,
            r#"call add_task {"title":"Eggs"}"#,
            r#"call list_tasks {"filter":"all"}"#,
            "end in 25 out 12 cache 0+0",
        ],
    ),
    ("no_arguments", &["call list_tasks {}", "end in 25 out 12 cache 0+0"]),
    ("noise", &[r#"text "Hi""#, r#"text " there""#, "end in 25 out 12 cache 0+0"]),
    ("cached_usage", &[r#"text "Hi""#, "end in 2047 out 15 cache 2000+40"]),
    ("error_midway", &[r#"text "Let me""#, r#"Unavailable("Overloaded")"#]),
    ("cut", &[r#"text "Let me""#, r#"Unavailable("its stream was cut")"#]),
    ("cut_in_a_call", &[r#"text "Let me""#, r#"Unavailable("its stream was cut")"#]),
    (
        "too_long",
        &[
            r#"text "One, two,""#,
            r#"text "\n\n(The answer ends here: it reached the model's length limit.)""#,
            "end in 25 out 12 cache 0+0",
        ],
    ),
    ("declined", &[r#"text "(The model declined to answer this.)""#, "end in 25 out 12 cache 0+0"]),
    ("after_the_end", &[r#"text "Hi""#, "end in 25 out 12 cache 0+0"]),
];

/// Recorded for one vendor only.
const ANTHROPIC: &[(&str, &[&str])] = &[
    ("whole_input_at_the_start", &[r#"call add_task {"title":"Milk"}"#, "end in 25 out 12 cache 0+0"]),
    (
        "blocks_side_by_side",
        &[r#"text "Both.""#, "call list_tasks {}", r#"call add_task {"title":"Milk"}"#, "end in 25 out 12 cache 0+0"],
    ),
    ("server_tools", &[r#"text "Found.""#, "end in 25 out 12 cache 0+0"]),
    ("block_never_closed", &[r#"call list_tasks {"filter":"all"}"#, "end in 25 out 12 cache 0+0"]),
];

const OPENAI: &[(&str, &[&str])] = &[
    (
        "numbered_zero_every_time",
        &[r#"call add_task {"title":"Milk"}"#, r#"call add_task {"title":"Eggs"}"#, "end in 25 out 12 cache 0+0"],
    ),
    (
        "not_numbered",
        &[
            r#"call add_task {"title":"Milk"}"#,
            r#"call add_task {"title":"Eggs"}"#,
            r#"call list_tasks {"filter":"all"}"#,
            "end in 25 out 12 cache 0+0",
        ],
    ),
    (
        "named_in_every_fragment",
        &[r#"call add_task {"title":"Milk"}"#, r#"call add_task {"title":"Eggs"}"#, "end in 25 out 12 cache 0+0"],
    ),
    ("named_in_every_fragment_not_numbered", &[r#"call add_task {"title":"Milk"}"#, "end in 25 out 12 cache 0+0"]),
    ("a_new_id_in_every_fragment", &[r#"call add_task {"title":"Milk"}"#, "end in 25 out 12 cache 0+0"]),
    (
        "arguments_as_an_object",
        &[r#"call add_task {"title":"Milk"}"#, "call list_tasks ", "end in 25 out 12 cache 0+0"],
    ),
    ("no_done", &[r#"text "Hi""#, "end in 0 out 0 cache 0+0"]),
    ("usage_in_every_chunk", &[r#"text "Hi""#, r#"text "!""#, "end in 25 out 12 cache 0+0"]),
    ("done_without_a_reason", &[r#"text "Hi""#, "end in 25 out 12 cache 0+0"]),
    ("error_in_plain_words", &[r#"text "Let me""#, r#"Unavailable("model runner has stopped")"#]),
    ("refusal_in_words", &[r#"text "I cannot help with that.""#, "end in 25 out 12 cache 0+0"]),
];

async fn check(vendor: Vendor, cases: &[(&str, &[&str])]) {
    for (case, expected) in cases {
        let sent = vendor.recorded(case);
        let with_crlf = String::from_utf8(sent.clone()).expect("UTF-8").replace('\n', "\r\n");
        let answers = [
            ("whole", Answer::stream(sent.clone())),
            ("byte by byte", Answer::stream(sent.clone()).in_pieces(1)),
            ("in sevens, with CRLF", Answer::stream(with_crlf).in_pieces(7)),
        ];
        for (how, answer) in answers {
            let provider = Provider::start([answer]).await;
            let transcript = transcript(&*vendor.model(&provider.url), &hello()).await;
            assert_eq!(transcript, expected.join("\n"), "{vendor:?}: {case}, sent {how}");
        }
    }
}

#[tokio::test]
async fn both_providers_read_the_same_replies_from_their_own_streams() {
    for vendor in VENDORS {
        check(vendor, SHARED).await;
    }
}

#[tokio::test]
async fn deviations_of_compatible_servers_are_read() {
    check(Vendor::Anthropic, ANTHROPIC).await;
    check(Vendor::OpenAi, OPENAI).await;
}

#[tokio::test]
async fn every_recorded_stream_is_in_a_table() {
    for (vendor, own) in [(Vendor::Anthropic, ANTHROPIC), (Vendor::OpenAi, OPENAI)] {
        let folder = format!("{}/tests/models/{}", env!("CARGO_MANIFEST_DIR"), vendor.folder());
        for file in std::fs::read_dir(folder).expect("a folder") {
            let name = file.expect("a file").file_name().into_string().expect("UTF-8");
            let case = name.strip_suffix(".sse").expect("a stream");
            let is_known = SHARED.iter().chain(own).any(|(known, _)| *known == case) || case == "broken_frame";
            assert!(is_known, "{vendor:?}: {name} is in no table");
        }
    }
}

#[tokio::test]
async fn a_frame_that_is_not_json_ends_the_reply_as_a_failure() {
    for vendor in VENDORS {
        let provider = Provider::start([Answer::stream(vendor.recorded("broken_frame"))]).await;
        let transcript = transcript(&*vendor.model(&provider.url), &hello()).await;
        let (said, failure) = transcript.split_once('\n').expect("two lines");
        assert_eq!(said, r#"text "Let me""#, "{vendor:?}");
        assert!(failure.starts_with(r#"Unavailable("it sent a frame that cannot be parsed"#), "{vendor:?}: {failure}");
    }
}

#[tokio::test]
async fn a_stream_cut_anywhere_never_looks_complete() {
    for vendor in VENDORS {
        let whole = vendor.recorded("one_call");
        // From here on the Chat Completions reply contains its finish reason, so it is complete without the rest.
        let complete_from = match vendor {
            Vendor::Anthropic => whole.len(),
            Vendor::OpenAi => position(&whole, b"tool_calls\"}").expect("a reason") + b"tool_calls\"}]}\n\n".len(),
        };
        for (n_bytes, then) in (1..whole.len()).step_by(11).flat_map(|n| [(n, Then::Finish), (n, Then::Break)]) {
            let cut = Answer::stream(&whole[..n_bytes]).then(then);
            let provider = Provider::start(vec![cut; 3]).await;
            let transcript = transcript(&*vendor.model(&provider.url), &hello()).await;
            let is_whole = transcript.contains("\nend in");
            assert_eq!(is_whole, n_bytes >= complete_from, "{vendor:?} at {n_bytes}: {transcript}");
            let has_half_a_call = transcript.replace(r#"call add_task {"title": "Milk"}"#, "").contains("call ");
            assert!(!has_half_a_call, "{vendor:?} at {n_bytes}: {transcript}");
        }
    }
}

fn position(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}
