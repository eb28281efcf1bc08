//! The setup for the offline model: a task list, a music index and a catalogue in memory, with the real turn loop.

use std::sync::{Arc, Mutex};

use engine::{Block, Finished, Kind, Limits, Message, MessageId, NoJournal, Prompt, Toolbox, Turn, UserId, run};
use offline::OfflineModel;
use serde::Serialize;
use serde_json::Value;

use crate::fakes::{
    AddTask, AlbumTracks, BatchMetadata, CompleteTask, DeleteTask, EditPlaylist, ListPlaylists, ListTasks, Playlists,
    SemanticSearch, SuggestPlaylist, TidalSearch, UpdateTask,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tidal {
    On,
    Off,
    Down,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    Tasks,
    Discover,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) completed: bool,
}

/// One conversation with its data.
pub(crate) struct World {
    model: OfflineModel,
    toolbox: Toolbox,
    tasks: Arc<Mutex<Vec<Task>>>,
    messages: Vec<Message>,
    pub(crate) limits: Limits,
    pub(crate) music: Arc<Value>,
}

/// The result of one message.
pub(crate) struct Answered {
    pub(crate) calls: Vec<(String, Value)>,
    pub(crate) text: String,
    pub(crate) finished: Finished,
    /// Titles by id, before any change.
    pub(crate) titles: Vec<(String, String)>,
}

impl World {
    pub(crate) fn new(model: &OfflineModel, agent: Agent, tidal: Tidal, tasks: &[&str]) -> Self {
        let music: Arc<Value> = Arc::new(serde_json::from_str(include_str!("music.json")).unwrap());
        let new_task = |(at, title): (usize, &&str)| Task {
            id: format!("00000000-0000-7000-8000-{at:012}"),
            title: title.trim_start_matches("[x] ").to_owned(),
            description: String::new(),
            completed: title.starts_with("[x] "),
        };
        let tasks = Arc::new(Mutex::new(tasks.iter().enumerate().map(new_task).collect::<Vec<_>>()));
        let playlists = Playlists::default();
        let toolbox = match agent {
            Agent::Tasks => Toolbox::default()
                .with(AddTask(tasks.clone()))
                .with(ListTasks(tasks.clone()))
                .with(CompleteTask(tasks.clone()))
                .with(UpdateTask(tasks.clone()))
                .with(DeleteTask(tasks.clone())),
            Agent::Discover => Toolbox::default()
                .with(SemanticSearch(music.clone()))
                .with(TidalSearch(music.clone(), tidal))
                .with(AlbumTracks(music.clone(), tidal))
                .with(BatchMetadata(music.clone()))
                .with(SuggestPlaylist(music.clone(), playlists.clone()))
                .with(ListPlaylists(playlists.clone()))
                .with(EditPlaylist(music.clone(), playlists)),
        };
        Self { model: model.clone(), toolbox, tasks, messages: Vec::new(), limits: Limits::default(), music }
    }

    pub(crate) fn tasks(&self) -> Vec<Task> {
        self.tasks.lock().unwrap().clone()
    }

    /// Adds a task outside the conversation, as the page does.
    pub(crate) fn add_behind_its_back(&self, title: &str) {
        let task =
            Task { id: "from-elsewhere".into(), title: title.into(), description: String::new(), completed: false };
        self.tasks.lock().unwrap().push(task);
    }

    /// One turn through the real loop.
    pub(crate) async fn say(&mut self, message: &str) -> Answered {
        let titles = self.tasks().into_iter().map(|task| (task.id, task.title)).collect();
        self.messages.push(Message::user(message));
        let turn = Turn {
            model: &self.model,
            toolbox: &self.toolbox,
            journal: &NoJournal,
            owner: UserId::new("ann"),
            message: MessageId::new(),
            prompt: Prompt {
                system: "".into(),
                tools: self.toolbox.specs().into(),
                messages: self.messages.clone(),
                may_call_tools: true,
            },
            limits: self.limits,
            progress: engine::Progress::default(),
            elapsed: std::time::Duration::ZERO,
            cancel: Default::default(),
        };
        let mut calls = Vec::new();
        let mut text = String::new();
        let finished = run(turn, &mut |kind| match kind {
            Kind::ToolStarted { name, input, .. } => calls.push((name, (*input).clone())),
            Kind::TextDone { text: done, .. } => text = done,
            _ => {}
        })
        .await;
        self.messages.push(Message::assistant(self.for_model(&finished.content)));
        Answered { calls, text, finished, titles }
    }

    /// A stored answer in the form that later turns read.
    fn for_model(&self, content: &[Block]) -> Vec<Block> {
        let name_of = |id| {
            content.iter().find_map(|block| match block {
                Block::ToolUse { id: call, name, .. } if *call == id => Some(name.as_str()),
                _ => None,
            })
        };
        let blocks = content.iter().cloned().map(|block| match block {
            Block::ToolResult { tool_use_id, content, is_error: false } => {
                let content = self.toolbox.for_model(name_of(tool_use_id).unwrap(), &content).into();
                Block::ToolResult { tool_use_id, content, is_error: false }
            }
            block => block,
        });
        blocks.collect()
    }
}
