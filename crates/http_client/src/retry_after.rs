//! `Retry-After`: how long a server asks us to wait, in seconds or as a date.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// A longer wait means a wrong clock or a wrong unit.
const MAX_WAIT: Duration = Duration::from_secs(3600);

pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    from(headers, Utc::now())
}

fn from(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match value.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok()?,
        Err(_) => (DateTime::parse_from_rfc2822(value).ok()?.to_utc() - now).to_std().unwrap_or_default(),
    };
    Some(wait.min(MAX_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_as_seconds_or_as_a_date() {
        let now = DateTime::parse_from_rfc2822("Sun, 06 Nov 1994 08:49:30 GMT").expect("a date").to_utc();
        let cases = [
            ("3", Some(3_000)),
            ("0.5", Some(500)),
            (" 0 ", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(7_000)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("86400", Some(3_600_000)),
            ("soon", None),
            ("-1", None),
        ];
        for (value, expected) in cases {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, value.parse().expect("a header"))]);
            assert_eq!(from(&headers, now), expected.map(Duration::from_millis), "{value:?}");
        }
    }
}
