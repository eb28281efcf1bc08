//! The database is unavailable for longer than a lease, with two nodes. And: clients that send to one conversation
//! without a pause.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    check, model,
    plan::{Found, Plan, with_lease},
    replies::wired,
    scenario::Seen,
    signals::until,
    support::{Process, World, read_until_cut},
};

/// The second node must be able to renew within this time after the outage, on a busy machine too.
const LEASE_MS: u64 = 4000;
/// How much later the second node is connected again: more than the time between two renewals, much less than a lease.
const LATER: Duration = Duration::from_millis(1000);
/// The first node has stored something after the outage.
const IS_BACK: &str = "SELECT 'one' FROM turns WHERE lease_until > now() OR ended_at IS NOT NULL";

/// Turns run on both nodes when the database becomes unavailable for two leases. One node is connected again first, and
/// must not take over the turns of the other.
pub(crate) async fn two_nodes(plan: Plan) -> Found {
    let model = model::start(plan).await;
    let world = World::new().await;
    let ((wire, through), (late_wire, late_through)) = (wired(&world).await, wired(&world).await);
    let settings = |through| with_lease(&model, LEASE_MS).into_iter().chain([through]).collect::<Vec<_>>();
    let one = Process::start(&world, &settings(through)).await;
    let two = Process::start(&world, &settings(late_through)).await;
    // Both nodes have renewed their leases for the duration of a lease.
    tokio::time::sleep(Duration::from_millis(LEASE_MS * 2)).await;
    let mut streams = Vec::new();
    for server in [&one, &one, &two, &two] {
        let mut stream = server.chat(json!({"message": "long", "agent": "tasks"})).await;
        assert_eq!(stream.next().await.unwrap()["type"], "message_start");
        streams.push(stream);
    }
    wire.cut();
    late_wire.cut();
    tokio::time::sleep(Duration::from_millis(LEASE_MS * 2)).await;
    wire.restore();
    assert!(until(&world, IS_BACK, |rows| !rows.is_empty()).await, "the first node continues");
    tokio::time::sleep(LATER).await;
    late_wire.restore();
    let ended = futures::future::join_all(streams.into_iter().map(crate::support::Stream::rest)).await;
    let mut broken = Vec::new();
    for (n, events) in ended.into_iter().enumerate() {
        if events.last().is_none_or(|last: &Value| last["stopReason"] != "complete") {
            broken.push(format!("turn {n} of a running node ends with {:?}", events.last()));
        }
    }
    let log: Vec<_> =
        one.log().into_iter().chain(two.log()).filter(|line| line.contains("whose server died")).collect();
    broken.extend(log.into_iter().map(|line| format!("taken over from a running node: {line}")));
    broken.extend(check::broken(&one, &Seen::default()).await);
    (1, broken)
}

/// Four clients send to one conversation without a pause. 409 is a valid answer; a deadlock is an error.
pub(crate) async fn collide(plan: Plan) -> Found {
    let model = model::start(plan).await;
    let world = World::new().await;
    let server = Process::start(&world, &model).await;
    let start = server.chat(json!({"message": "plain", "agent": "tasks"})).await.rest().await;
    let conversation = start[0]["conversationId"].clone();
    let until = Instant::now() + Duration::from_secs(10);
    let send = async || {
        let (mut n_sent, mut odd) = (0, Vec::new());
        while Instant::now() < until {
            let body = json!({"message": "plain", "conversationId": conversation});
            let response = server.post("/api/chat/stream", body).await;
            n_sent += 1;
            match response.status().as_u16() {
                200 => read_until_cut(response, &mut Vec::new()).await,
                409 => {}
                status => odd.push(format!("{status} {}", response.text().await.unwrap_or_default())),
            }
        }
        (n_sent, odd)
    };
    let results = tokio::join!(send(), send(), send(), send());
    let all = [results.0, results.1, results.2, results.3];
    let n_sent = all.iter().map(|(n, _)| n).sum();
    (n_sent, all.into_iter().flat_map(|(_, odd)| odd).collect())
}
