//! The database away for longer than a lease, with two nodes; and two clients of one conversation who never wait.

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

/// The node that is back later must be able to renew within it, however busy the machine is.
const LEASE_MS: u64 = 4000;
/// One node is back so much later than the other: more than the time between two renewals, much less than a lease.
const LATER: Duration = Duration::from_millis(1000);
/// The node that is back first has stored something.
const IS_BACK: &str = "SELECT 'one' FROM turns WHERE lease_until > now() OR ended_at IS NOT NULL";

/// Turns run on both nodes when the database goes away for two leases, and comes back for one node first. It does not take
/// what the other still has.
pub(crate) async fn two_nodes(plan: Plan) -> Found {
    let model = model::start(plan).await;
    let world = World::new().await;
    let ((wire, through), (late_wire, late_through)) = (wired(&world).await, wired(&world).await);
    let settings = |through| with_lease(&model, LEASE_MS).into_iter().chain([through]).collect::<Vec<_>>();
    let one = Process::start(&world, &settings(through)).await;
    let two = Process::start(&world, &settings(late_through)).await;
    // Both have been steady for a lease.
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
    wire.mend();
    assert!(until(&world, IS_BACK, |rows| !rows.is_empty()).await, "the node that is back first goes on");
    tokio::time::sleep(LATER).await;
    late_wire.mend();
    let ended = futures::future::join_all(streams.into_iter().map(crate::support::Stream::rest)).await;
    let mut broken = Vec::new();
    for (n, events) in ended.into_iter().enumerate() {
        if events.last().is_none_or(|last: &Value| last["stopReason"] != "complete") {
            broken.push(format!("turn {n} of a living node ends with {:?}", events.last()));
        }
    }
    let log: Vec<_> =
        one.log().into_iter().chain(two.log()).filter(|line| line.contains("whose server died")).collect();
    broken.extend(log.into_iter().map(|line| format!("taken from a living node: {line}")));
    broken.extend(check::broken(&one, &Seen::default()).await);
    (1, broken)
}

/// Two clients send to one conversation as fast as they are answered: 409 is an answer, a deadlock is not.
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
