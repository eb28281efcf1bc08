//! Lists that come in pages: followed to their end, to what is enough, or to where the time runs out.

use std::{collections::HashSet, sync::Arc};

use tokio::time::Instant;

use super::{
    BATCH,
    connection::Connection,
    document::{Document, Included, Resource},
    error::TidalError,
};

/// A list that never ends is a mistake somewhere: the longest albums have a few hundred tracks, in pages of twenty.
const MAX_PAGES: usize = 60;

/// The documents of one question, all of them under one deadline.
pub(super) struct Pages<'a> {
    pub(super) connection: &'a Connection,
    pub(super) deadline: Instant,
}

/// What was listed, in order, and the documents that tell about it.
#[derive(Default)]
pub(super) struct List {
    pub(super) identifiers: Vec<Resource>,
    documents: Vec<Arc<Document>>,
    /// Why there may be more than this.
    pub(super) broken: Option<TidalError>,
}

impl Pages<'_> {
    pub(super) async fn get(&self, path: &[&str], parameters: &[(&str, &str)]) -> Result<Arc<Document>, TidalError> {
        self.connection.get(self.connection.url(path, parameters), self.deadline).await
    }

    /// A relationship of a document's first resource.
    pub(super) async fn follow(&self, first: &Arc<Document>, name: &str, include: &str, enough: usize) -> List {
        let mut list = List { documents: vec![first.clone()], ..List::default() };
        if let Some(relationship) = first.data.first().and_then(|resource| resource.relationships.get(name)) {
            list.add(&relationship.data);
            self.extend(&mut list, relationship.links.next.clone(), include, enough).await;
        }
        list.identifiers.truncate(enough);
        list
    }

    /// The data of a document itself.
    pub(super) async fn follow_collection(&self, first: Arc<Document>, include: &str) -> List {
        let mut list = List { documents: vec![first.clone()], ..List::default() };
        list.add(&first.data);
        self.extend(&mut list, first.links.next.clone(), include, usize::MAX).await;
        list
    }

    async fn extend(&self, list: &mut List, mut next: Option<String>, include: &str, enough: usize) {
        let mut seen = HashSet::new();
        while let Some(link) = next.take().filter(|_| list.identifiers.len() < enough) {
            if seen.len() == MAX_PAGES || !seen.insert(link.clone()) {
                list.broken = Some(TidalError::Broken("a list that never ends".into()));
                return;
            }
            match self.next_page(&link, include).await {
                Ok(page) => {
                    list.add(&page.data);
                    next.clone_from(&page.links.next);
                    list.documents.push(page);
                }
                Err(error) => list.broken = Some(error),
            }
        }
    }

    async fn next_page(&self, link: &str, include: &str) -> Result<Arc<Document>, TidalError> {
        self.connection.get(self.connection.next_url(link, include)?, self.deadline).await
    }

    /// Asks by id for tracks that were listed but not delivered. What is missing even then is not available.
    pub(super) async fn fetch_missing(&self, list: &mut List, include: &str) {
        for batch in list.missing().chunks(BATCH) {
            match self.get(&["tracks"], &[("filter[id]", &batch.join(",")), ("include", include)]).await {
                Ok(document) => list.documents.push(document),
                Err(error) => list.broken = Some(error),
            }
        }
    }
}

impl List {
    /// Everything that was read, as Tidal orders it: never in the order of `included`.
    pub(super) fn read<T>(&self, read: impl Fn(&Resource, &Included) -> Option<T>) -> Vec<T> {
        let included = self.included();
        self.identifiers.iter().filter_map(|it| read(it, &included)).collect()
    }

    /// Nothing is missing, or the reason why.
    pub(super) fn whole(self) -> Result<(), TidalError> {
        self.broken.map_or(Ok(()), Err)
    }

    /// Pages may overlap when the catalogue changes between them.
    fn add(&mut self, page: &[Resource]) {
        for it in page {
            if !self.identifiers.iter().any(|known| known.is_same_as(it)) {
                self.identifiers.push(it.clone());
            }
        }
    }

    fn missing(&self) -> Vec<String> {
        let included = self.included();
        let missing = self.identifiers.iter().filter(|it| included.attributes(it).is_none());
        missing.map(|it| it.id.clone()).collect()
    }

    fn included(&self) -> Included<'_> {
        Included::of(self.documents.iter().map(Arc::as_ref))
    }
}
