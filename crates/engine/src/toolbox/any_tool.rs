//! A tool without its types: one of Segue, or one of another server.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use schemars::SchemaGenerator;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Done,
    spec::{output_with_references, spec},
};
use crate::{
    Effect, Report, Tool, ToolContext, ToolError, ToolSpec,
    external::{External, ExternalOutput},
    json_bytes, untrusted,
};

/// A type-erased tool.
pub(super) trait AnyTool: Send + Sync {
    fn spec(&self) -> &ToolSpec;
    /// The schema of the output for a document in which types have names.
    fn output_with_references(&self, generator: &mut SchemaGenerator) -> Value;
    fn is_foreign(&self) -> bool {
        false
    }
    fn deadline(&self) -> Duration;
    /// The error of an attempt that exceeds the deadline.
    fn late(&self) -> ToolError;
    fn check(&self, input: &Value) -> Result<(), ToolError>;
    fn call<'a>(&'a self, cx: &'a ToolContext, input: &'a Value) -> BoxFuture<'a, Result<Reported, ToolError>>;
    fn for_model(&self, output: &Value) -> Value;
}

/// An output without its durations.
pub(super) struct Reported {
    summary: String,
    count: usize,
    output: Value,
}

impl Reported {
    pub(super) fn finish(mut self, duration_ms: u64, timings: BTreeMap<String, u64>, was_retried: bool) -> Done {
        if let Value::Object(fields) = &mut self.output {
            fields.insert("summary".into(), json!(self.summary));
            fields.insert("durationMs".into(), json!(duration_ms));
        }
        Done {
            summary: self.summary,
            count: self.count,
            duration_ms,
            output: Arc::new(self.output),
            timings,
            was_retried,
        }
    }
}

/// An output is stored in the journal and in the message, and readers of the turn hold it in memory.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

fn check_size(output: &Value) -> Result<(), ToolError> {
    let n_bytes = json_bytes(output);
    if n_bytes > MAX_OUTPUT_BYTES {
        let (n_kib, most) = (n_bytes >> 10, MAX_OUTPUT_BYTES >> 10);
        return Err(ToolError::BadInput(format!(
            "The result has {n_kib} KiB. At most {most} KiB are allowed. Ask for less."
        )));
    }
    Ok(())
}

pub(super) struct Typed<T> {
    spec: ToolSpec,
    tool: T,
}

impl<T: Tool> Typed<T> {
    pub(super) fn new(tool: T) -> Self {
        Self { spec: spec::<T>(), tool }
    }

    fn parse(input: &Value) -> Result<T::Input, ToolError> {
        T::Input::deserialize(input)
            .map_err(|error| ToolError::BadInput(format!("Invalid input for {}: {error}", T::NAME)))
    }
}

impl<T: Tool> AnyTool for Typed<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn output_with_references(&self, generator: &mut SchemaGenerator) -> Value {
        output_with_references::<T>(generator)
    }

    fn deadline(&self) -> Duration {
        T::DEADLINE
    }

    fn late(&self) -> ToolError {
        T::late()
    }

    fn check(&self, input: &Value) -> Result<(), ToolError> {
        Self::parse(input).map(drop)
    }

    fn call<'a>(&'a self, cx: &'a ToolContext, input: &'a Value) -> BoxFuture<'a, Result<Reported, ToolError>> {
        Box::pin(async move {
            let output = self.tool.call(cx, Self::parse(input)?).await?;
            let (summary, count) = (output.summary(), output.count());
            let output = serde_json::to_value(&output).map_err(anyhow::Error::from)?;
            // The effect of a tool that changes something is committed; each of them limits its output.
            if T::EFFECT == Effect::Reads {
                check_size(&output)?;
            }
            Ok(Reported { summary: untrusted::without_nul(&summary), count, output: untrusted::storable(output) })
        })
    }

    fn for_model(&self, output: &Value) -> Value {
        T::for_model(output)
    }
}

impl AnyTool for External {
    fn spec(&self) -> &ToolSpec {
        self.0.spec()
    }

    /// Another server describes its tool without names.
    fn output_with_references(&self, _: &mut SchemaGenerator) -> Value {
        self.spec().output_schema.clone()
    }

    fn is_foreign(&self) -> bool {
        true
    }

    fn deadline(&self) -> Duration {
        self.0.deadline()
    }

    fn late(&self) -> ToolError {
        let message = format!("{} took longer than {} s", self.spec().title, self.deadline().as_secs());
        ToolError::Unavailable { message, retryable: true }
    }

    /// The server that offers the tool validates its input.
    fn check(&self, _: &Value) -> Result<(), ToolError> {
        Ok(())
    }

    fn call<'a>(&'a self, cx: &'a ToolContext, input: &'a Value) -> BoxFuture<'a, Result<Reported, ToolError>> {
        Box::pin(async move {
            let ExternalOutput { summary, count, output } = self.0.call(cx, input).await?;
            Ok(Reported { summary: untrusted::without_nul(&summary), count, output: untrusted::storable(output) })
        })
    }

    fn for_model(&self, output: &Value) -> Value {
        output.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_has_at_most_one_mebibyte() {
        let output = |n_bytes: usize| json!({"tracks": "x".repeat(n_bytes - r#"{"tracks":""}"#.len())});
        assert!(check_size(&output(MAX_OUTPUT_BYTES)).is_ok());
        let Err(ToolError::BadInput(error)) = check_size(&output(MAX_OUTPUT_BYTES + 1024)) else { panic!("too long") };
        assert_eq!(error, "The result has 1025 KiB. At most 1024 KiB are allowed. Ask for less.");
    }
}
