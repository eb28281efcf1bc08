//! `segue chat`: the agents in the terminal, with streamed answers and one line per tool call.

use std::{
    io::{IsTerminal, Read},
    process::ExitCode,
    sync::Arc,
};

use app::{
    App, Ask,
    agents::AGENTS,
    config::Config,
    services::{consents::Decision, turns::StartedTurn},
};
use clap::builder::PossibleValuesParser;
use engine::{ConversationId, Kind, UserId};
use futures::StreamExt;
use tokio::io::{AsyncBufReadExt, BufReader};
use uuid::Uuid;

use super::{choose_model, screen::Screen, user_arg::UserArg};
use crate::telemetry;

/// Talk to an agent in the terminal
#[derive(clap::Args)]
pub(super) struct Args {
    /// The agent that answers
    #[arg(long, default_value = AGENTS[0].id, value_parser = PossibleValuesParser::new(AGENTS.iter().map(|agent| agent.id)))]
    agent: String,
    /// Print events, one JSON object per line
    #[arg(long)]
    json: bool,
    /// From now on, use this model of a model server on this machine; "offline" removes the choice
    #[arg(long, value_name = "MODEL")]
    choose: Option<String>,
    #[command(flatten)]
    user: UserArg,
    /// Send this message and exit; without it, messages come from stdin or a prompt
    message: Option<String>,
}

pub(super) async fn run(config: Config, args: Args) -> anyhow::Result<ExitCode> {
    telemetry::init("error");
    let message = match args.message {
        Some(message) => Some(message),
        None if !std::io::stdin().is_terminal() => Some(read_stdin()?),
        None => None,
    };
    let app = super::open(config).await?;
    if let Some(name) = &args.choose {
        choose_model::by_name(&app, name).await?;
    } else if message.is_none() && !args.json && std::io::stderr().is_terminal() {
        choose_model::by_question(&app, &mut std::io::stdin().lock(), &mut std::io::stderr()).await?;
    }
    let mut session = Session {
        owner: args.user.id(app.config.auth, app.accounts()).await?,
        app,
        agent: args.agent,
        conversation: None,
        screen: Screen::new(args.json),
    };
    let all_well = match message {
        Some(message) => session.say(message).await?,
        None => session.talk().await?,
    };
    session.app.stop().await;
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read_stdin() -> std::io::Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

struct Session {
    app: Arc<App>,
    owner: UserId,
    agent: String,
    conversation: Option<ConversationId>,
    screen: Screen,
}

impl Session {
    /// Prompts for messages until the end of input.
    async fn talk(&mut self) -> anyhow::Result<bool> {
        eprintln!(
            "Segue, {} agent, model {}. Ctrl-C stops an answer, Ctrl-D exits.",
            self.agent,
            self.app.models().active().id()
        );
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        loop {
            eprint!("\n> ");
            let Some(line) = lines.next_line().await? else { return Ok(true) };
            if !line.trim().is_empty() {
                self.say(line).await?;
            }
        }
    }

    /// Runs one turn. Returns whether it was answered.
    async fn say(&mut self, text: String) -> anyhow::Result<bool> {
        let ask = Ask {
            text,
            conversation: self.conversation,
            agent: Some(self.agent.clone()),
            client_message_id: None,
            ..Ask::default()
        };
        let mut started = self.app.converse(&self.owner, ask).await?;
        self.conversation = Some(started.conversation);
        loop {
            let (all_well, questions) = self.watch(&started).await?;
            match self.decide(questions).await? {
                Some(next) => started = next,
                None => return Ok(all_well),
            }
        }
    }

    /// Prints a turn to its end. Returns whether it was answered, and the calls that wait for consent.
    async fn watch(&mut self, started: &StartedTurn) -> anyhow::Result<(bool, Vec<Uuid>)> {
        let mut events = self.app.turns.follow_started(&self.owner, started).await?;
        let (mut all_well, mut questions) = (true, Vec::new());
        loop {
            tokio::select! {
                batch = events.next() => {
                    let Some(batch) = batch else { return Ok((all_well, questions)) };
                    for event in &batch {
                        self.screen.show(event)?;
                        all_well &= !matches!(event.kind, Kind::Failed { .. });
                        if let Kind::ToolFailed { failure, .. } = &event.kind {
                            questions.extend(failure.consent_id);
                        }
                    }
                }
                _ = tokio::signal::ctrl_c() => self.app.turns.stop(&self.owner, started.turn).await?,
            }
        }
    }
}

impl Session {
    /// Asks the user about each call that waits for consent. The first allowed call starts a turn. If stdin is not a
    /// terminal, every call is refused.
    async fn decide(&self, questions: Vec<Uuid>) -> anyhow::Result<Option<StartedTurn>> {
        let mut next = None;
        for id in questions {
            let decision = if std::io::stdin().is_terminal() && next.is_none() {
                ask_person()?
            } else {
                eprintln!("Refused: a call needs consent, and stdin is not a terminal.");
                Decision::Refuse
            };
            next = self.app.consents().decide(&self.owner, id, decision).await?.or(next);
        }
        Ok(next)
    }
}

/// Every answer except "o" and "c" refuses.
fn ask_person() -> anyhow::Result<Decision> {
    eprint!("Allow this call? [o]nce, in this [c]onversation, or [r]efuse (r): ");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(match line.trim().to_lowercase().as_str() {
        "o" | "once" => Decision::Once,
        "c" | "conversation" => Decision::Conversation,
        _ => Decision::Refuse,
    })
}
