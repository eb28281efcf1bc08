//! The parameters of a request, validated like Tidal does.

use super::{include::Includes, refusal::Refusal, render};

pub(crate) type Pairs = Vec<(String, String)>;

/// Documented as "≤ 20 per call". That more gives a 400 is an assumption.
const MAX_VALUES: usize = 20;

pub(crate) struct Asked {
    filters: Pairs,
    pub(crate) includes: Includes,
    pub(crate) country: String,
    pub(crate) from: usize,
    /// This request as a relative link, without its cursor.
    pub(crate) link: String,
}

impl Asked {
    /// `kind` is the type at the root of `include`; `filters` are the documented filters.
    pub(crate) fn read(path: &str, kind: &str, pairs: Pairs, filters: &[&str]) -> Result<Self, Refusal> {
        let mut asked =
            Self { filters: vec![], includes: Includes::default(), country: "US".into(), from: 0, link: String::new() };
        let (mut paths, mut kept) = (vec![], vec![]);
        for (key, value) in pairs {
            match key.as_str() {
                "include" => paths.extend(list(&value)),
                "countryCode" => asked.country.clone_from(&value),
                "sort" => return Err(Refusal::parameter("sort", "Sorting is not supported here")),
                "page[cursor]" => {
                    asked.from =
                        render::offset(&value).ok_or_else(|| Refusal::parameter("page[cursor]", "Invalid cursor"))?;
                    continue;
                }
                _ if key.starts_with("filter[") => asked.add_filter(&key, &value, filters)?,
                // Other unknown parameters, including `limit`, are ignored.
                _ => {}
            }
            kept.push(format!("{}={}", encode(&key), encode(&value)));
        }
        asked.includes = Includes::read(kind, &paths).map_err(|detail| Refusal::parameter("include", &detail))?;
        asked.link = format!("{path}?{}", kept.join("&"));
        Ok(asked)
    }

    fn add_filter(&mut self, key: &str, value: &str, known: &[&str]) -> Result<(), Refusal> {
        if !known.iter().any(|filter| key == format!("filter[{filter}]")) {
            return Err(Refusal::parameter(key, &format!("Unknown filter; available: {}", known.join(", "))));
        }
        // A query is free text and may contain commas.
        match key {
            "filter[query]" => self.filters.push((key.into(), value.into())),
            _ => self.filters.extend(list(value).map(|value| (key.to_owned(), value))),
        }
        if self.filters.len() > MAX_VALUES {
            return Err(Refusal::parameter(key, &format!("At most {MAX_VALUES} values")));
        }
        Ok(())
    }

    pub(crate) fn filters(&self, name: &str) -> Vec<&str> {
        let key = format!("filter[{name}]");
        self.filters.iter().filter(|(k, _)| *k == key).map(|(_, value)| value.as_str()).collect()
    }
}

/// Lists are joined by commas, sent as repeated parameters, or both.
fn list(value: &str) -> impl Iterator<Item = String> {
    value.split(',').map(str::to_owned)
}

fn encode(text: &str) -> String {
    let byte = |b: u8| match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(b).to_string(),
        _ => format!("%{b:02X}"),
    };
    text.bytes().map(byte).collect()
}
