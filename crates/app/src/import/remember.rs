//! Wrappers around external catalogues: they store answers and limit the time of a search.

use chrono::TimeDelta;
use tokio::time::Instant;

use super::{
    catalogue::{Candidates, CannotAsk, Catalogue},
    matching::Candidate,
};
use music::Isrc;
use store::Store;

/// Found recordings stay valid for long; missing ones may be added soon.
const FOUND_FOR: TimeDelta = TimeDelta::days(30);
const NOTHING_FOR: TimeDelta = TimeDelta::days(3);

/// Stores answers in the database.
pub(crate) struct Remembering<'c> {
    pub(crate) catalogue: &'c dyn Catalogue,
    pub(crate) store: &'c Store,
}

impl Remembering<'_> {
    async fn recall(&self, question: &str) -> Result<Option<Vec<Candidate>>, CannotAsk> {
        Ok(self.store.catalogue_answer(self.catalogue.name(), question, FOUND_FOR, NOTHING_FOR).await?)
    }

    async fn remember(&self, question: &str, found: &[Candidate]) -> Result<(), CannotAsk> {
        Ok(self.store.remember_answer(self.catalogue.name(), question, found).await?)
    }
}

impl Catalogue for Remembering<'_> {
    fn name(&self) -> &'static str {
        self.catalogue.name()
    }

    fn by_isrc<'a>(&'a self, isrcs: &'a [Isrc]) -> Candidates<'a> {
        Box::pin(async move {
            let (mut found, mut unknown) = (vec![], vec![]);
            for isrc in isrcs {
                match self.recall(isrc.as_str()).await? {
                    Some(candidates) => found.extend(candidates),
                    None => unknown.push(isrc.clone()),
                }
            }
            if unknown.is_empty() {
                return Ok(found);
            }
            let answered = self.catalogue.by_isrc(&unknown).await?;
            for isrc in &unknown {
                let of_this: Vec<_> = answered.iter().filter(|candidate| candidate.isrc == *isrc).cloned().collect();
                self.remember(isrc.as_str(), &of_this).await?;
            }
            found.extend(answered);
            Ok(found)
        })
    }

    fn by_name<'a>(&'a self, title: &'a str, artist: &'a str) -> Candidates<'a> {
        Box::pin(async move {
            let question = format!("{artist}\n{title}").to_lowercase();
            if let Some(candidates) = self.recall(&question).await? {
                return Ok(candidates);
            }
            let found = self.catalogue.by_name(title, artist).await?;
            self.remember(&question, &found).await?;
            Ok(found)
        })
    }
}

/// Asks until a deadline. Entries that are open then are searched for in the background.
pub(crate) struct Until<'c> {
    pub(crate) catalogue: &'c dyn Catalogue,
    pub(crate) moment: Instant,
}

impl Until<'_> {
    async fn ask<'a>(&self, question: Candidates<'a>) -> Result<Vec<Candidate>, CannotAsk> {
        let out_of_time = || CannotAsk::Anything("there was no time for everything".into());
        tokio::time::timeout_at(self.moment, question).await.map_err(|_| out_of_time())?
    }
}

impl Catalogue for Until<'_> {
    fn name(&self) -> &'static str {
        self.catalogue.name()
    }

    fn by_isrc<'a>(&'a self, isrcs: &'a [Isrc]) -> Candidates<'a> {
        Box::pin(self.ask(self.catalogue.by_isrc(isrcs)))
    }

    fn by_name<'a>(&'a self, title: &'a str, artist: &'a str) -> Candidates<'a> {
        Box::pin(self.ask(self.catalogue.by_name(title, artist)))
    }
}
