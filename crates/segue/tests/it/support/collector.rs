//! The OTLP double on a port of its own, and a trace as text.

use std::ops::Deref;

use doubles::{Running, otlp::OtlpDouble, serve};

pub(crate) use doubles::otlp::{Span, SpanKind};

pub(crate) struct Collector {
    pub(crate) url: String,
    double: OtlpDouble,
    _server: Running,
}

impl Collector {
    pub(crate) async fn start() -> Self {
        let double = OtlpDouble::default();
        let server = serve(double.router()).await.expect("a port");
        Self { url: format!("http://{}", server.addr), double, _server: server }
    }
}

impl Deref for Collector {
    type Target = OtlpDouble;

    fn deref(&self) -> &OtlpDouble {
        &self.double
    }
}

/// A trace as an indented list: name, type, level, and the attributes that the test names.
pub(crate) fn tree(spans: &[Span], shown: &[&str]) -> String {
    let mut lines = String::new();
    below("", 0, spans, shown, &mut lines);
    lines
}

fn below(parent: &str, depth: usize, spans: &[Span], shown: &[&str], lines: &mut String) {
    let mut children: Vec<_> = spans.iter().filter(|span| span.parent == parent).collect();
    children.sort_by_key(|span| span.start);
    for span in children {
        assert!(span.end >= span.start);
        let kind = span.attributes["langfuse.observation.type"].as_str().unwrap_or_default();
        let status = if span.status == 2 { " ERROR" } else { "" };
        lines.push_str(&format!("{}{} ({kind}){status}\n", "  ".repeat(depth), span.name));
        for name in shown {
            let found = span.attributes.iter().find(|(key, _)| key.ends_with(name));
            if let Some((_, value)) = found {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                lines.push_str(&format!("{}  {name}: {text}\n", "  ".repeat(depth)));
            }
        }
        below(&span.id, depth + 1, spans, shown, lines);
    }
}
