//! Planted bugs: the tests of `make prove` must find each of them (docs/reliability.md).
//!
//! A build with debug assertions contains all of them, and a process activates at most one, at its start. A release build
//! contains none: there `planted` is false at compile time.

use std::str::FromStr;

macro_rules! mutants {
    ($($name:ident $says:literal $text:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mutant { $($name,)* }

        /// Every bug with its name and its description.
        pub const ALL: &[(Mutant, &str, &str)] = &[$((Mutant::$name, $says, $text),)*];
    };
}

mutants! {
    EffectWithoutJournal "effect-without-journal" "a tool's effect commits, its journal row does not say so",
    SaveUnfenced "save-unfenced" "events are saved without checking the lease token",
    SettleUnfenced "settle-unfenced" "an effect commits without checking the lease token",
    FinishUnfenced "finish-unfenced" "a call is closed without checking the lease token",
    EndUnfenced "end-unfenced" "a turn is ended without checking the lease token",
    CallsKeepToken "calls-keep-token" "a takeover leaves open calls under the old token",
    LeaseIgnored "lease-ignored" "a turn is taken from a node that holds its lease",
    LeaseNotRenewed "lease-not-renewed" "a node does not renew its leases",
    LostLeaseUnnoticed "lost-lease-unnoticed" "a node that lost a lease goes on with the model call",
    ReaderNotCut "reader-not-cut" "readers of a turn that was lost are not let go",
    TakesAtOnceAfterOutage "takes-at-once-after-outage" "after an outage a node takes turns before others could renew",
    TakeoverCountIgnored "takeover-count-ignored" "a turn that kills its node is taken over for ever",
    TakeoverRepeatsCall "takeover-repeats-call" "a takeover runs a call again, under a new id",
    TakeoverForgetsText "takeover-forgets-text" "a takeover forgets the text that was streamed",
    TakeoverForgetsUsage "takeover-forgets-usage" "a takeover forgets the tokens that were used",
    ReadsNotRunAgain "reads-not-run-again" "a takeover gives up reads that were under way",
    TakeoverForgetsDecision "takeover-forgets-decision" "a takeover asks the model instead of making the call that was allowed",
    StopNotCarried "stop-not-carried" "a takeover goes on with a turn that was stopped",
    SeqRestarts "seq-restarts" "a takeover counts events from 1 again",
    ResumeRepeatsOne "resume-repeats-one" "a reader that resumes gets its last event again",
    ResumeSkipsOne "resume-skips-one" "a reader that resumes misses one event",
    ShownBeforeCommit "shown-before-commit" "readers see events that are not saved",
    EndShownBeforeCommit "end-shown-before-commit" "readers see the end before it is stored",
    LostReplyForgotten "lost-reply-forgotten" "a save whose reply was lost is not recognised",
    GroupFailsTogether "group-fails-together" "one turn that cannot be saved keeps the others from it",
    DrainInterrupts "drain-interrupts" "a node that leaves ends its turns instead of handing them over",
    NoticeLost "notice-lost" "notices to other nodes are never sent",
    ClientMessageIdIgnored "client-message-id-ignored" "a message that is sent twice is two turns",
    LockOrder "lock-order" "the end of a turn locks the turn before the conversation",
    StartEndsWithClient "start-ends-with-client" "a client that leaves cancels the start of its turn",
}

#[derive(Debug, thiserror::Error)]
#[error("there is no planted bug of this name")]
pub struct UnknownMutant;

impl FromStr for Mutant {
    type Err = UnknownMutant;

    fn from_str(text: &str) -> Result<Self, UnknownMutant> {
        ALL.iter().find(|(_, name, _)| *name == text).map(|(mutant, ..)| *mutant).ok_or(UnknownMutant)
    }
}

#[cfg(debug_assertions)]
static PLANTED: std::sync::OnceLock<Mutant> = std::sync::OnceLock::new();

/// Activates one bug in this process. Later calls have no effect.
#[cfg(debug_assertions)]
pub fn plant(mutant: Mutant) {
    PLANTED.get_or_init(|| mutant);
}

#[cfg(debug_assertions)]
pub fn planted(mutant: Mutant) -> bool {
    PLANTED.get() == Some(&mutant)
}

#[cfg(not(debug_assertions))]
pub const fn planted(_: Mutant) -> bool {
    false
}

/// The SQL statement, changed if the bug is active.
#[cfg(debug_assertions)]
pub fn statement(sql: &'static str, mutant: Mutant, find: &str, put: &str) -> &'static str {
    if !planted(mutant) {
        return sql;
    }
    assert!(sql.contains(find), "'{find}' is not in {sql}");
    // Leaked once per statement of a test process, which is little memory.
    Box::leak(sql.replace(find, put).into_boxed_str())
}

#[cfg(not(debug_assertions))]
pub const fn statement(sql: &'static str, _: Mutant, _: &str, _: &str) -> &'static str {
    sql
}
