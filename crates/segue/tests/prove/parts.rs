//! The parts of the proof, by name.

use futures::future::BoxFuture;

use crate::{
    consent, crash, histories, nodes, outage, pause,
    plan::{Found, Plan},
    replies, scenario,
};

pub(crate) struct Part {
    pub(crate) name: String,
    /// It is about several nodes or about the wire to the database.
    pub(crate) needs_postgres: bool,
    /// A test of `it` says the same; only a whole run and the planted bugs need it here.
    pub(crate) is_elsewhere: bool,
    pub(crate) run: Box<dyn Fn(Plan) -> BoxFuture<'static, Found>>,
}

fn part<F>(name: impl Into<String>, needs_postgres: bool, run: impl Fn(Plan) -> F + 'static) -> Part
where
    F: Future<Output = Found> + Send + 'static,
{
    Part { name: name.into(), needs_postgres, is_elsewhere: false, run: Box::new(move |plan| Box::pin(run(plan))) }
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
        part("outage longer than a lease, two nodes", true, outage::two_nodes),
        part("outage: start and end collide", true, outage::collide),
        part("nodes: a living node keeps its turn", false, nodes::keeps_its_turn),
        part("nodes: a turn is lost while the model is silent", false, nodes::loses_it_silently),
        Part {
            is_elsewhere: true,
            ..part("nodes: a turn takes its node down three times", false, nodes::dies_three_times)
        },
        part("nodes: a stop while the node stands still", true, nodes::stops_while_paused),
        part("nodes: one turn cannot be saved", false, nodes::saves_the_others),
        Part { is_elsewhere: true, ..part("nodes: a message is sent five times", false, nodes::knows_a_message) },
        Part { is_elsewhere: true, ..part("nodes: clients leave at once", false, nodes::leaves_clients_alone) },
        Part { is_elsewhere: true, ..part("nodes: a stop within a second", false, nodes::stops_in_time) },
        part("histories: six clients of two nodes", true, histories::two_nodes),
    ];
    crashes.chain(replies).chain(pauses).chain(fences).chain(rest).collect()
}
