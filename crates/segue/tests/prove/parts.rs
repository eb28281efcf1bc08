//! The parts of the proof, by name.

use futures::future::BoxFuture;

use crate::{
    consent, crash, histories, nodes, outage, pause,
    plan::{Found, Plan},
    replies, scenario,
};

pub(crate) struct Part {
    pub(crate) name: String,
    /// Whether the part needs several nodes or a proxy in front of the database.
    pub(crate) needs_postgres: bool,
    /// Whether a test of `it` checks the same. Only a complete run and the planted bugs need the part here.
    pub(crate) is_tested_in_it: bool,
    pub(crate) run: Box<dyn Fn(Plan) -> BoxFuture<'static, Found>>,
}

fn part<F>(name: impl Into<String>, needs_postgres: bool, run: impl Fn(Plan) -> F + 'static) -> Part
where
    F: Future<Output = Found> + Send + 'static,
{
    Part { name: name.into(), needs_postgres, is_tested_in_it: false, run: Box::new(move |plan| Box::pin(run(plan))) }
}

pub(crate) fn all() -> Vec<Part> {
    let crashes = scenario::all().into_iter().map(|scenario| {
        part(format!("crash: {}", scenario.name), false, move |plan| crash::every_point(scenario, plan))
    });
    let replies = replies::NAMES
        .map(|name| part(format!("lost reply: {name}"), true, move |plan| replies::every_reply(name, plan)));
    let pauses =
        pause::NAMES.map(|name| part(format!("pause: {name}"), true, move |plan| pause::every_point(name, plan)));
    let fences =
        pause::NAMES.map(|name| part(format!("fence: {name}"), true, move |plan| pause::every_fence(name, plan)));
    let rest = [
        part("crash: consent", false, consent::every_point),
        part("pause: consent", true, consent::every_pause),
        part("outage longer than a lease, two nodes", true, outage::two_nodes),
        part("outage: start and end collide", true, outage::collide),
        part("nodes: a running node keeps its turn", false, nodes::keeps_its_turn),
        part("nodes: a turn is lost while the model is silent", false, nodes::loses_its_lease),
        Part {
            is_tested_in_it: true,
            ..part("nodes: the node of a turn dies three times", false, nodes::dies_three_times)
        },
        part("nodes: a stop while the node is paused", true, nodes::stops_while_paused),
        part("nodes: one turn cannot be saved", false, nodes::saves_the_others),
        Part {
            is_tested_in_it: true,
            ..part("nodes: a message is sent five times", false, nodes::deduplicates_a_message)
        },
        Part {
            is_tested_in_it: true,
            ..part("nodes: clients disconnect at once", false, nodes::answers_disconnected_clients)
        },
        Part { is_tested_in_it: true, ..part("nodes: a stop within a second", false, nodes::stops_in_time) },
        part("histories: six clients of two nodes", true, histories::two_nodes),
    ];
    crashes.chain(replies).chain(pauses).chain(fences).chain(rest).collect()
}
