//! Choosing a model server of this machine in the terminal. The choice is stored like the one of the settings page, and
//! a server gets no text of the user before it is chosen.

use std::io::{BufRead, Write};

use anyhow::bail;
use app::{
    App, Operator,
    models::{ChosenBy, FoundServer, Selected},
};

use super::terminal::shown;

/// The name that removes the choice.
const OFFLINE: &str = "offline";

/// A model of a server that was found.
#[derive(Debug, PartialEq)]
struct Offer {
    family: String,
    selected: Selected,
}

impl Offer {
    fn list(found: Vec<FoundServer>) -> Vec<Self> {
        let of_server = |server: FoundServer| {
            let family = server.family.to_string();
            let offer = move |model| Self {
                family: family.clone(),
                selected: Selected { server: server.base_url.clone(), model },
            };
            server.models.into_iter().map(offer)
        };
        found.into_iter().flat_map(of_server).collect()
    }

    /// "qwen2.5:7b (Ollama, http://127.0.0.1:11434/v1)".
    fn line(&self) -> String {
        shown(&format!("{} ({}, {})", self.selected.model, self.family, self.selected.server))
    }
}

/// Lets the model of this name answer, now and after a restart.
pub(super) async fn by_name(app: &App, name: &str) -> anyhow::Result<()> {
    if name == OFFLINE {
        return Ok(app.models().select(&Operator::of_this_machine(), None).await?);
    }
    let offers = Offer::list(app.models().look().await);
    let named: Vec<_> = offers.iter().filter(|offer| offer.selected.model == name).collect();
    let lines = |offers: &[&Offer]| offers.iter().map(|offer| offer.line()).collect::<Vec<_>>().join(", ");
    match named.as_slice() {
        [offer] => choose(app, offer).await,
        [] if offers.is_empty() => bail!("no model server of this machine answers; start one, or set OPENAI_BASE_URL"),
        [] => bail!("no server has the model '{name}'; there are: {}", lines(&offers.iter().collect::<Vec<_>>())),
        several => bail!("several servers have it, so set OPENAI_BASE_URL instead: {}", lines(several)),
    }
}

/// While no model is chosen and servers are found: asks which of their models is to answer.
pub(super) async fn by_question(app: &App, input: &mut impl BufRead, out: &mut impl Write) -> anyhow::Result<()> {
    if app.models().chosen_by() != ChosenBy::Default {
        return Ok(());
    }
    let offers = Offer::list(app.models().look().await);
    match ask(&offers, input, out)? {
        Some(offer) => choose(app, offer).await,
        None => Ok(()),
    }
}

async fn choose(app: &App, offer: &Offer) -> anyhow::Result<()> {
    app.models().select(&Operator::of_this_machine(), Some(offer.selected.clone())).await?;
    eprintln!("{} answers from now on. To undo it: segue chat --choose {OFFLINE}", offer.line());
    Ok(())
}

/// An empty answer, "n" and the end of the input choose nothing.
fn ask<'o>(offers: &'o [Offer], input: &mut impl BufRead, out: &mut impl Write) -> std::io::Result<Option<&'o Offer>> {
    if offers.is_empty() {
        return Ok(None);
    }
    writeln!(out, "Models on this machine:")?;
    for (n, offer) in offers.iter().enumerate() {
        writeln!(out, "{:>3}  {}", n + 1, offer.line())?;
    }
    write!(out, "Which one may answer? It then gets your messages. Number, or Enter for the built-in model: ")?;
    loop {
        out.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let answer = line.trim();
        if matches!(answer.to_lowercase().as_str(), "" | "n" | "no") {
            return Ok(None);
        }
        let number = answer.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        let named = || offers.iter().find(|offer| offer.selected.model == answer);
        if let Some(offer) = number.and_then(|n| offers.get(n)).or_else(named) {
            return Ok(Some(offer));
        }
        write!(out, "A number from 1 to {}, or Enter: ", offers.len())?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_or_a_name_of_the_list_chooses_a_model() {
        let offer = |model: &str| Offer {
            family: "Ollama".into(),
            selected: Selected { server: "http://127.0.0.1:11434/v1".into(), model: model.into() },
        };
        let offers = [offer("qwen2.5:7b"), offer("llama3.2")];
        let cases = [
            ("\n", None),
            ("n\n", None),
            ("", None),
            ("2\n", Some("llama3.2")),
            ("qwen2.5:7b\n", Some("qwen2.5:7b")),
            ("0\n3\nyes\n1\n", Some("qwen2.5:7b")),
        ];
        for (typed, expected) in cases {
            let mut out = Vec::new();
            let chosen = ask(&offers, &mut typed.as_bytes(), &mut out).unwrap();
            assert_eq!(chosen.map(|offer| offer.selected.model.as_str()), expected, "{typed:?}");
            let said = String::from_utf8(out).unwrap();
            assert_eq!(said.contains("A number from 1 to 2"), typed.starts_with('0'), "asked once more: {said}");
            assert!(said.contains("  2  llama3.2 (Ollama, http://127.0.0.1:11434/v1)\n"), "{said}");
        }
        let mut out = Vec::new();
        assert_eq!(ask(&[], &mut "1\n".as_bytes(), &mut out).unwrap(), None);
        assert!(out.is_empty(), "nothing is asked where nothing is found");
    }
}
