//! Histories: clients of several users send messages, resume, stop and read through two nodes, while one node is paused
//! and the other is killed. The clients record what they saw.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    client::{Client, Shared},
    history::{self, Answer, Record, Stored},
    model,
    plan::{Found, Plan, with_lease},
    signals::signal,
    support::{JWT_SECRET, Process, World},
};

const USERS: [&str; 3] = ["ann", "bob", "cleo"];
const CLIENTS_PER_USER: usize = 2;
const LEASE_MS: u64 = 2500;
/// Longer than a lease.
const PAUSE: Duration = Duration::from_millis(4000);
const BETWEEN: Duration = Duration::from_millis(1500);

pub(crate) async fn two_nodes(plan: Plan) -> Found {
    let n_rounds = if plan.stride == 1 { 24 } else { 5 };
    let world = World::new().await;
    let auth = [("SEGUE_AUTH", "jwt".to_owned()), ("SEGUE_JWT_SECRET", JWT_SECRET.to_owned())];
    let settings: Vec<_> = with_lease(&model::start(plan).await, LEASE_MS).into_iter().chain(auth).collect();
    let mut nodes = [Process::start(&world, &settings).await, Process::start(&world, &settings).await];
    let shared = Arc::new(Shared {
        urls: Mutex::new([nodes[0].url.clone(), nodes[1].url.clone()]),
        history: Mutex::default(),
        turns: Mutex::default(),
    });
    let is_over = Arc::new(AtomicBool::new(false));
    let clients = USERS.iter().flat_map(|user| (0..CLIENTS_PER_USER).map(move |n| (*user, n)));
    let running = clients.map(|(user, n)| {
        let client = Client::new(user, n, shared.clone());
        tokio::spawn(async move { client.run(n_rounds).await })
    });
    let running: Vec<_> = running.collect();
    let done = {
        let is_over = is_over.clone();
        tokio::spawn(async move {
            let problems = futures::future::join_all(running).await;
            is_over.store(true, Ordering::SeqCst);
            problems.into_iter().flat_map(|problems| problems.unwrap()).collect::<Vec<String>>()
        })
    };
    disturb(&world, &settings, &mut nodes, &shared, &is_over).await;
    let mut broken = done.await.unwrap();
    let (stored, unknown) = stored(&shared).await;
    let history: Vec<Record> = shared.history.lock().unwrap().clone();
    broken.extend(unknown);
    broken.extend(history::broken(&history, &stored));
    (history.len(), broken)
}

/// Pauses one node for longer than a lease, then kills and restarts the other, until the clients are done.
async fn disturb(
    world: &World,
    settings: &[(&'static str, String)],
    nodes: &mut [Process; 2],
    shared: &Shared,
    is_over: &AtomicBool,
) {
    while !is_over.load(Ordering::SeqCst) {
        tokio::time::sleep(BETWEEN).await;
        signal(nodes[0].pid(), "-STOP").await;
        tokio::time::sleep(PAUSE).await;
        signal(nodes[0].pid(), "-CONT").await;
        tokio::time::sleep(BETWEEN).await;
        nodes[1].kill_at_once().await;
        nodes[1] = Process::start(world, settings).await;
        shared.urls.lock().unwrap()[1].clone_from(&nodes[1].url);
    }
}

/// What is stored at the end, and turns that no client has started.
async fn stored(shared: &Arc<Shared>) -> (Stored, Vec<String>) {
    let (mut stored, mut broken) = (Stored::default(), Vec::new());
    let turns = shared.turns.lock().unwrap().clone();
    for user in USERS {
        let client = Client::new(user, 0, shared.clone());
        let own: Vec<_> = turns.iter().filter(|turn| turn.user == user).collect();
        let listed = client.get("/api/conversations?limit=100").await;
        let n_conversations = listed["conversations"].as_array().map_or(0, Vec::len);
        if n_conversations != own.len() {
            broken.push(format!("{user} has {n_conversations} conversations and started {}", own.len()));
        }
        for turn in own {
            let conversation = client.get(&format!("/api/conversations/{}", turn.conversation)).await;
            let messages = conversation["messages"].as_array().cloned().unwrap_or_default();
            let Some(message) = messages.iter().find(|message| message["id"] == turn.message.as_str()) else {
                continue;
            };
            let steps = model::script(&format!("history {}", turn.mark));
            let answer = Answer {
                user: user.to_owned(),
                status: message["status"].as_str().unwrap_or_default().to_owned(),
                text: text_of(message),
                whole_text: model::text(&steps),
                effect: turn.mark.clone(),
            };
            stored.answers.insert(turn.id.clone(), answer);
        }
        for task in client.get("/api/tasks").await["tasks"].as_array().into_iter().flatten() {
            *stored.effects.entry(task["title"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
        }
    }
    (stored, broken)
}

pub(crate) fn text_of(message: &Value) -> String {
    let blocks = message["content"].as_array().cloned().unwrap_or_default();
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

/// A message of the native protocol.
pub(crate) fn ask(mark: &str) -> Value {
    json!({"message": format!("history {mark}"), "agent": "tasks", "clientMessageId": mark})
}
