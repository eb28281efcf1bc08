//! The limit that a phrase sets with its values.

use super::{
    super::{
        pattern::Value,
        types::{Key, Limit, NumberRange, YearRange},
    },
    Rule,
};

pub(crate) fn limit(rule: Rule, values: &[Value], this_year: i32) -> Option<Limit> {
    use Value::{Decade, Key as KeyOf, Language, Number, Year};
    let years = |from, to| Some(Limit::Years(YearRange { from, to }));
    match (rule, values) {
        (Rule::YearsBetween, [Year(a), Year(b)]) => years(Some(*a.min(b)), Some(*a.max(b))),
        (Rule::YearsSince, [Year(year)]) => years(Some(*year), None),
        (Rule::YearsAfter, [Year(year)]) => years(Some(year + 1), None),
        (Rule::YearsUntil, [Year(year)]) => years(None, Some(*year)),
        (Rule::YearsBefore, [Year(year)]) => years(None, Some(year - 1)),
        (Rule::YearsIn, [Year(year)]) => years(Some(*year), Some(*year)),
        (Rule::Decade, [Decade(range)]) => Some(Limit::Years(*range)),
        (Rule::DecadesBetween, [Decade(a), Decade(b)]) => years(a.from.min(b.from), a.to.max(b.to)),
        (Rule::OlderThanYears, [Number(n)]) => years(None, Some(this_year - *n as i32 - 1)),
        (Rule::NewerThanYears, [Number(n)]) => years(Some(this_year - *n as i32), None),
        (Rule::Key, [KeyOf(key)]) => Some(Limit::Key(*key)),
        (Rule::MinorKey, []) => Some(Limit::Key(Key { tonic: None, minor: Some(true) })),
        (Rule::MajorKey, []) => Some(Limit::Key(Key { tonic: None, minor: Some(false) })),
        (Rule::Language, [Language(code)]) => Some(Limit::Language(code)),
        (Rule::NotLanguage, [Language(code)]) => Some(Limit::NotLanguage(code)),
        (Rule::Instrumental, []) => Some(Limit::Instrumental(true)),
        (Rule::Vocal, []) => Some(Limit::Instrumental(false)),
        (Rule::Clean, []) => Some(Limit::Explicit(false)),
        (Rule::Explicit, []) => Some(Limit::Explicit(true)),
        (Rule::Owned, []) => Some(Limit::InLibrary(true)),
        (Rule::New, []) => Some(Limit::InLibrary(false)),
        (Rule::OnePerArtist, []) => Some(Limit::PerArtist(1)),
        (Rule::PerArtist, [Number(n)]) => counted(*n).map(Limit::PerArtist),
        (Rule::AtMost, [Number(n)]) => counted(*n).map(Limit::AtMost),
        _ => measured(rule, values),
    }
}

fn counted(n: f64) -> Option<usize> {
    (n.fract() == 0.0 && (1.0..=100.0).contains(&n)).then_some(n as usize)
}

/// A length or a tempo, with the phrase before it.
fn measured(rule: Rule, values: &[Value]) -> Option<Limit> {
    let as_limit = |value: &Value, range: NumberRange| match value {
        Value::Seconds(_) => Some(Limit::Duration(range)),
        Value::Tempo(_) => Some(Limit::Tempo(range)),
        _ => None,
    };
    let last = values.last()?;
    let (Value::Seconds(x) | Value::Tempo(x)) = *last else { return None };
    let is_tempo = matches!(last, Value::Tempo(_));
    let range = |min, max| as_limit(last, NumberRange { min, max });
    match (rule, values) {
        (Rule::Below, [_]) => range(None, Some(x.next_down())),
        (Rule::Most, [_]) => range(None, Some(x)),
        (Rule::Above, [_]) => range(Some(x.next_up()), None),
        (Rule::Least, [_]) => range(Some(x), None),
        // "Around 120 bpm" allows 5 % to each side, "around three minutes" 10 %.
        (Rule::Around, [_]) => {
            let share = if is_tempo { 0.05 } else { 0.1 };
            range(Some(x * (1.0 - share)), Some(x * (1.0 + share)))
        }
        (Rule::Exactly, [_]) => range(Some(x - 2.0), Some(x + 2.0)),
        (Rule::Between, [first, _]) => {
            let low = match first {
                // "Between 3 and 4 minutes": the first number has no unit of its own.
                Value::Number(n) if is_tempo || x < 60.0 || *n >= 60.0 => *n,
                Value::Number(n) => 60.0 * n,
                Value::Seconds(low) | Value::Tempo(low) => *low,
                _ => return None,
            };
            range(Some(low.min(x)), Some(low.max(x)))
        }
        _ => None,
    }
}
