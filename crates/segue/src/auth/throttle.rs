//! Throttling of sign-ins: whoever keeps failing waits, per name and per address.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Failures count for this long.
const WINDOW: Duration = Duration::from_secs(15 * 60);
/// Memory for so many names and addresses; beyond it the oldest half is forgotten.
const MAX_TRACKED: usize = 20_000;

/// What failures are counted by, and how many are too many. A name alone has a high limit: a low one would let anyone
/// lock someone else out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Subject {
    NameFromAddress(String, IpAddr),
    Address(IpAddr),
    Name(String),
}

impl Subject {
    fn limit(&self) -> u32 {
        match self {
            Subject::NameFromAddress(..) => 10,
            Subject::Address(_) => 50,
            Subject::Name(_) => 200,
        }
    }
}

struct Failures {
    n: u32,
    since: Instant,
}

#[derive(Default)]
pub(crate) struct Throttle {
    failures: Mutex<HashMap<Subject, Failures>>,
}

impl Throttle {
    /// How long this one has to wait, if at all.
    pub(crate) fn wait(&self, name: &str, address: IpAddr, now: Instant) -> Option<Duration> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = subjects(name, address).into_iter().filter_map(|subject| {
            let failed = failures.get(&subject).filter(|failed| failed.n >= subject.limit())?;
            (failed.since + WINDOW).checked_duration_since(now).filter(|wait| !wait.is_zero())
        });
        waits.max()
    }

    pub(crate) fn failed(&self, name: &str, address: IpAddr, now: Instant) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        for subject in subjects(name, address) {
            let failed = failures.entry(subject).or_insert(Failures { n: 0, since: now });
            if now.duration_since(failed.since) >= WINDOW {
                *failed = Failures { n: 0, since: now };
            }
            failed.n += 1;
        }
        if failures.len() > MAX_TRACKED {
            forget_half(&mut failures);
        }
    }

    /// The right password: what this person mistyped before is forgotten.
    pub(crate) fn succeeded(&self, name: &str, address: IpAddr) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.remove(&Subject::NameFromAddress(name.to_lowercase(), address));
    }
}

fn subjects(name: &str, address: IpAddr) -> [Subject; 3] {
    let name = name.to_lowercase();
    [Subject::NameFromAddress(name.clone(), address), Subject::Address(address), Subject::Name(name)]
}

fn forget_half(failures: &mut HashMap<Subject, Failures>) {
    let mut times: Vec<_> = failures.values().map(|failed| failed.since).collect();
    let (_, median, _) = times.select_nth_unstable(MAX_TRACKED / 2);
    let median = *median;
    failures.retain(|_, failed| failed.since > median);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(n: u8) -> IpAddr {
        [203, 0, 113, n].into()
    }

    #[test]
    fn whoever_keeps_failing_waits_and_no_one_else() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        for _ in 0..10 {
            assert_eq!(throttle.wait("ann", address(1), start), None);
            throttle.failed("ann", address(1), start);
        }
        assert_eq!(throttle.wait("ANN", address(1), start), Some(WINDOW));
        assert_eq!(throttle.wait("ann", address(2), start), None, "Ann at home is not locked out");
        assert_eq!(throttle.wait("bob", address(1), start), None);
        assert_eq!(throttle.wait("ann", address(1), start + WINDOW), None);
    }

    #[test]
    fn one_address_cannot_try_many_names_nor_many_addresses_one_name() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        for n in 0..50 {
            throttle.failed(&format!("user{n}"), address(1), start);
        }
        assert!(throttle.wait("someone", address(1), start).is_some());
        for n in 0..200 {
            throttle.failed("ann", address(n), start);
        }
        assert!(throttle.wait("ann", address(250), start).is_some());
    }

    #[test]
    fn memory_is_bounded() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        for n in 0..30_000_u32 {
            throttle.failed(&n.to_string(), IpAddr::from(n.to_be_bytes()), start + Duration::from_millis(n.into()));
        }
        assert!(throttle.failures.lock().unwrap().len() <= MAX_TRACKED);
    }
}
