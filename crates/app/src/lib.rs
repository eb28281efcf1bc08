//! The application: every service, built once.

pub mod agents;
pub mod backup;
mod claims;
pub mod config;
pub mod connections;
mod converse;
mod count;
mod decided;
pub mod enrich;
mod error;
pub mod export;
mod export_conversation;
mod history;
mod host;
pub mod import;
mod index_sync;
pub mod library;
pub mod mcp_client;
mod metered;
pub mod models;
pub mod networks;
mod node;
pub mod observe;
mod old_results;
mod operator;
pub mod per_user;
pub mod readiness;
mod recovery;
mod run_turn;
pub mod sample;
mod service_access;
pub mod services;
#[cfg(test)]
mod simulation;
mod text_limit;
mod titles;
mod tools;
mod turn_journal;
pub mod turns;
mod usage_today;
mod wordings;

use std::{collections::HashMap, sync::Arc, time::Duration};

use anyhow::Context;
use engine::{
    Model, ToolSpec, Toolbox, UserId,
    mutants::{Mutant, planted},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    agents::{AGENTS, Agent, Circumstances},
    config::{Config, MusicDir},
    connections::InUse,
    enrich::{Describer, Pipeline, Sources},
    index_sync::Indexing,
    mcp_client::McpTools,
    metered::Meter,
    models::Models,
    node::Node,
    observe::{
        BackgroundCalls, Observer,
        metrics::{Gauges, IndexReading},
    },
    per_user::PerUser,
    readiness::Readiness,
    services::Services,
    turns::Turns,
    wordings::Wordings,
};
pub use search::IndexError;
pub use sources::tidal::{Tidal, TidalError};
use store::{Store, TokenLimits};

pub use crate::{
    converse::{Again, Ask, MessageText},
    count::{Count, OutOfRange},
    error::Error,
    history::window,
    index_sync::IndexOf,
    operator::Operator,
    text_limit::{Text, WrongLength},
};

/// The time limit for cancelled work: turns are stored, spans are sent.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// The tools of each agent, by its id.
type AgentTools = HashMap<&'static str, (Toolbox, Arc<[ToolSpec]>)>;

pub struct App {
    pub config: Config,
    store: Store,
    models: Models,
    /// The tools that a user may call without an agent.
    pub toolbox: Toolbox,
    /// Segue's own tools. Public documents contain only these.
    pub own_tools: Toolbox,
    services: Services,
    indexing: Indexing,
    pipeline: Arc<Pipeline>,
    pub turns: Arc<Turns>,
    pub observer: Arc<Observer>,
    /// All spawned tasks. The shutdown waits for them.
    spawned: TaskTracker,
    /// Cancelled at the start of the shutdown: no new turns.
    pub shutdown: CancellationToken,
    /// Cancelled after the last turn: background work must end.
    background: CancellationToken,
    agents: AgentTools,
    node: Node,
    meter: Meter,
    /// One export of a user at a time: each reads all rows of the user.
    exports: Arc<PerUser>,
    direct_calls: PerUser,
    readiness: Arc<Readiness>,
    in_use: InUse,
}

impl App {
    /// Builds every service and starts the background work.
    pub async fn start(config: Config, model: Arc<dyn Model>) -> anyhow::Result<Arc<Self>> {
        #[cfg(debug_assertions)]
        config::plant_mutant()?;
        let node = Node::claim(&config.data_dir)
            .with_context(|| format!("the data directory {} cannot be used", config.data_dir.display()))?;
        let store = open_store(&config).await?;
        let (config, of_page, in_use) = Box::pin(connections::apply(config, &store)).await?;
        let indexing = Indexing::open(&config, &store).await.context("the index cannot be opened")?;
        let (tidal, sources) = (Tidal::new(&config.tidal)?, Sources::new(&config.sources)?);
        let spawned = TaskTracker::new();
        let background_calls = BackgroundCalls::default();
        let meter = Meter::new(&store, token_limits(&config), &spawned, &background_calls);
        let models = Models::open(&config, model, of_page, &spawned).await.context("the models cannot be set up")?;
        let describer = Describer::new(models.clone(), meter.clone());
        let pipeline = Arc::new(Pipeline::new(
            store.clone(),
            node.name.clone(),
            sources,
            tidal.clone(),
            describer,
            config.shared_collection,
        ));
        let services = Services::new(&store, indexing.index(), tidal, &pipeline, &models, (&config, &node), &spawned);
        let mcp_tools = McpTools::find(&config.mcp, &store).await;
        let wordings = Wordings::new(models.background(), Some(meter.clone()));
        let own_tools = tools::toolbox(&services.tasks, &services.library, &services.playlists, wordings);
        let all_tools = mcp_tools.join(own_tools.clone());
        let observer = Arc::new(Observer::new(&config, &node.name, &all_tools)?);
        background_calls.tell(&observer);
        let shutdown = CancellationToken::new();
        let app = Arc::new(Self {
            observer,
            agents: tools_by_agent(AGENTS, &all_tools, &mcp_tools, services.library.tidal.is_configured())?,
            turns: Arc::new(Turns::new(Arc::new(store.clone()), node.name.clone(), shutdown.clone())),
            spawned,
            meter,
            exports: export::exports_at_once(),
            direct_calls: converse::direct_calls_at_once(config.open_requests),
            shutdown,
            background: CancellationToken::new(),
            config,
            store,
            models,
            toolbox: mcp_tools.join_direct(own_tools.clone()),
            own_tools,
            services,
            readiness: Arc::new(Readiness::new(&indexing)),
            indexing,
            pipeline,
            node,
            in_use,
        });
        #[cfg(debug_assertions)]
        arm_crash_at_start();
        app.start_background_work();
        if app.node.is_reborn && app.config.takes_turns {
            recovery::take_dead_turns(&app, Some(&app.node.name)).await;
        }
        Ok(app)
    }

    fn start_background_work(self: &Arc<Self>) {
        let (turns, token) = (self.turns.clone(), self.background.clone());
        self.spawned.spawn(async move { turns.keep_saving(token).await });
        let (turns, token) = (self.turns.clone(), self.background.clone());
        self.spawned.spawn(async move { turns.keep_listening_for_stops(token).await });
        let (store, token) = (self.store.clone(), self.background.clone());
        self.spawned
            .spawn(async move { tokio::join!(store.send_notices(token.clone()), store.receive_notices(token)) });
        let (indexing, store, token) = (self.indexing.clone(), self.store.clone(), self.background.clone());
        let put = self.pipeline.put.clone();
        let node = self.node.name.clone();
        self.spawned.spawn(async move { indexing.keep_up(store, node, put, token).await });
        let (readiness, indexing, token) = (self.readiness.clone(), self.indexing.clone(), self.background.clone());
        self.spawned.spawn(async move { readiness.keep_looking(&indexing, token).await });
        self.spawned.spawn(recovery::keep_leases(self.clone()));
        self.observer.start(&self.spawned, self.background.clone());
    }

    /// Starts the workers that enrich and index tracks. Servers start them, and the commands that need them.
    pub async fn start_ingestion(&self) -> Result<(), Error> {
        Ok(self.pipeline.start(self.node.is_reborn, &self.spawned, &self.background).await?)
    }

    /// Synchronises folders with libraries until the process ends: the configured ones, and those that users added.
    pub async fn start_folders(&self) -> Result<(), Error> {
        for MusicDir { user, path } in &self.config.music_dirs {
            let owner = match user {
                Some(name) => self.accounts().named(name).await?.owner(),
                None => UserId::new("local"),
            };
            self.folders().add(&Operator::of_this_machine(), &owner, path).await?;
        }
        self.spawned.spawn(self.folders().clone().keep_all(self.background.clone()));
        Ok(())
    }

    /// Crash points count from here, see `make prove`.
    #[cfg(debug_assertions)]
    pub fn arm_crash_point(&self) {
        if let Some(n) = config::point("SEGUE_CRASH_AT") {
            store::failpoint::arm(n, store::failpoint::Does::Abort);
        }
        if let Some(n) = config::point("SEGUE_PAUSE_AT") {
            store::failpoint::arm(n, store::failpoint::Does::Pause);
        }
    }

    /// Accepts no new turns and waits for running ones, up to the time limit. The rest is handed over to other nodes.
    pub async fn drain(&self) {
        self.shutdown.cancel();
        if self.wait_until_idle(self.config.drain).await {
            return;
        }
        let n_turns = self.release_turns();
        tracing::warn!("{n_turns} turns ran longer than the drain time");
        if !self.wait_until_idle(STOP_TIMEOUT).await {
            tracing::warn!("Shutdown with running turns; another node finishes them");
        }
    }

    /// Stops waiting for running turns.
    pub fn skip_drain(&self) {
        self.shutdown.cancel();
        self.release_turns();
    }

    /// Releases the running turns: another node finishes them, or this one after its restart. Without takeovers they
    /// end as interrupted.
    fn release_turns(&self) -> usize {
        let hands_over = self.config.takeover && !planted(Mutant::DrainInterrupts);
        if hands_over { self.turns.hand_over_all() } else { self.turns.cut_all() }
    }

    async fn wait_until_idle(&self, time: Duration) -> bool {
        let quiet = async {
            while !self.turns.is_quiet() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(time, quiet).await.is_ok()
    }

    /// Stops everything: first the turns, then the background work and the database.
    pub async fn stop(&self) {
        self.drain().await;
        self.background.cancel();
        self.spawned.close();
        if tokio::time::timeout(STOP_TIMEOUT, self.spawned.wait()).await.is_err() {
            tracing::warn!("Shutdown with unfinished background work");
        }
        self.pipeline.release_steps().await;
        self.store.close().await;
    }

    /// The metrics for Prometheus.
    pub async fn metrics(&self) -> String {
        let (unsaved_events, oldest_ms) = self.turns.unsaved();
        let age_ms = oldest_ms.map_or(0, |at_ms| chrono::Utc::now().timestamp_millis() - at_ms);
        let reading = Gauges {
            turns_running: self.turns.n_live(),
            unsaved_events,
            log_lag: Duration::from_millis(u64::try_from(age_ms).unwrap_or(0)),
            pools: self.store.pools(),
            background_write_longest: self.store.longest_background_write(),
            index: within_timeout(self.index_reading()).await.flatten(),
            ingest: within_timeout(self.store.step_counts()).await.and_then(Result::ok).unwrap_or_default(),
        };
        self.observer.render(&reading)
    }

    /// `None` if the index or the database does not answer.
    async fn index_reading(&self) -> Option<IndexReading> {
        let info = self.services.library.index.info().await.ok()?;
        let newest = self.store.track_revision().await.ok()?;
        Some(IndexReading { tracks: info.n_tracks, lag: (newest - info.revision).max(0) })
    }

    pub(crate) fn toolbox_of(&self, agent: &Agent) -> &Toolbox {
        &self.agents[agent.id].0
    }

    /// The instructions of an agent. If the index does not answer, it counts as filled: the search then reports the
    /// error.
    pub(crate) async fn instructions_of(&self, agent: &Agent) -> Arc<str> {
        let has_catalogue = self.has_catalogue();
        let has_tracks = match agent.usable_tools(has_catalogue).any(|tool| tool == "semanticSearch") {
            true => self.services.library.index.info().await.map_or(true, |info| info.n_tracks > 0),
            false => true,
        };
        agent.told(Circumstances { has_catalogue, has_tracks }).into()
    }

    pub(crate) fn specs_of(&self, agent: &Agent) -> Arc<[ToolSpec]> {
        self.agents[agent.id].1.clone()
    }
}

/// Metrics are most useful while a part is slow, so a part that does not answer in time is left out.
async fn within_timeout<T>(asked: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(Duration::from_secs(2), asked).await.ok()
}

/// The tools of each agent. An agent with an unknown tool name is an error in its definition.
fn tools_by_agent(
    agents: &[Agent],
    toolbox: &Toolbox,
    mcp_tools: &McpTools,
    has_catalogue: bool,
) -> anyhow::Result<AgentTools> {
    let of = |agent: &Agent| {
        let mut names: Vec<&str> = agent.usable_tools(has_catalogue).collect();
        names.extend(mcp_tools.names_for(agent.id));
        let toolbox = toolbox.only(&names).with_context(|| format!("the agent '{}' cannot be set up", agent.id))?;
        let for_model = |spec: &ToolSpec| match agent.tools.contains(&&*spec.name) {
            true => tools::model_spec::own_spec_for_model(spec),
            false => tools::model_spec::spec_for_model(spec),
        };
        let specs = toolbox.specs().iter().map(for_model).collect();
        Ok((agent.id, (toolbox, specs)))
    };
    agents.iter().map(of).collect()
}

fn token_limits(config: &Config) -> TokenLimits {
    TokenLimits { per_day: config.turn_limits.tokens_per_day, background_per_day: config.background_tokens_per_day }
}

async fn open_store(config: &Config) -> anyhow::Result<Store> {
    let store =
        Store::open(&config.database_url, config.database_pool).await.context("the database cannot be opened")?;
    store.complete_migration().await.context("the database cannot be brought up to date")?;
    Ok(store.with_lease(config.lease))
}

#[cfg(debug_assertions)]
fn arm_crash_at_start() {
    if let Some(n) = config::point("SEGUE_CRASH_AT_START") {
        store::failpoint::arm(n, store::failpoint::Does::Abort);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_names_an_unknown_tool_cannot_start() {
        let agent = Agent { tools: &["add_tsak"], ..AGENTS[0] };
        let error = tools_by_agent(&[agent], &Toolbox::default(), &McpTools::default(), true).err().expect("refused");
        assert_eq!(
            format!("{error:#}"),
            "the agent 'discover' cannot be set up: there is no tool 'add_tsak'; the tools are: "
        );
    }
}
