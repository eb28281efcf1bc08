//! `try-model URL`: runs sixty utterances through the real product against any model server and prints a score table.
//! `try-model --doubles`: the same against a double of each family of servers.

mod product;
mod rehearsal;
mod utterance;

use std::io::Write;

use doubles::model::Family;

use self::{
    product::{Outcome, Product},
    rehearsal::{Rehearsal, Spelling},
};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let argument = std::env::args().nth(1).unwrap_or_default();
    let mut out = std::io::stdout();
    match argument.as_str() {
        "" | "--help" => {
            writeln!(out, "Usage: try-model URL (as OPENAI_BASE_URL), or try-model --doubles")?;
            std::process::exit(2);
        }
        "--doubles" => {
            writeln!(out, "{HEAD}")?;
            for (name, family) in Family::ALL {
                for spelling in [Spelling::Native, Spelling::Text] {
                    let outcomes = rehearse(family, spelling).await?;
                    writeln!(out, "{}", row(&format!("{name}, {spelling:?} calls"), &outcomes))?;
                }
            }
        }
        url => {
            let product = Product::start(&[("OPENAI_BASE_URL", url.to_owned())]).await?;
            let outcomes = try_all(&product, None).await?;
            writeln!(out, "{HEAD}\n{}", row(&product.model().await?, &outcomes))?;
        }
    }
    Ok(())
}

async fn rehearse(family: Family, spelling: Spelling) -> anyhow::Result<Vec<Outcome>> {
    let rehearsal = Rehearsal::start(family, spelling).await?;
    let product = Product::start(&rehearsal.settings()).await?;
    try_all(&product, Some(&rehearsal)).await
}

async fn try_all(product: &Product, rehearsal: Option<&Rehearsal>) -> anyhow::Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for utterance in utterance::all()? {
        product.set_tasks(&utterance.tasks).await?;
        if let Some(rehearsal) = rehearsal {
            rehearsal.prepare(product, &utterance).await?;
        }
        let outcome = product.say(&utterance).await?;
        let mark = if outcome.is_right && outcome.is_honest && outcome.is_answered { "✓" } else { "✗" };
        let call = if outcome.needs_call && !outcome.made_call { " (its call was not made)" } else { "" };
        writeln!(
            std::io::stderr(),
            "{mark} {:>5.1} s  {}: {}{call}",
            outcome.seconds,
            utterance.agent,
            utterance.words
        )?;
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

const HEAD: &str = "| model | utterances | answered | calls made | right | honest | median s | tokens read |
|---|---|---|---|---|---|---|---|";

#[allow(clippy::cast_precision_loss, reason = "an average")]
fn row(name: &str, outcomes: &[Outcome]) -> String {
    let count = |holds: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| holds(outcome)).count();
    let mut seconds: Vec<f64> = outcomes.iter().map(|outcome| outcome.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let median = seconds.get(seconds.len() / 2).copied().unwrap_or_default();
    let n = outcomes.len();
    let tokens = outcomes.iter().map(|outcome| outcome.input_tokens).sum::<u64>() / n.max(1) as u64;
    format!(
        "| {name} | {n} | {} | {} of {} | {} | {} | {median:.1} | {tokens} |",
        count(|outcome| outcome.is_answered),
        count(|outcome| outcome.needs_call && outcome.made_call),
        count(|outcome| outcome.needs_call),
        count(|outcome| outcome.is_right),
        count(|outcome| outcome.is_honest),
    )
}
