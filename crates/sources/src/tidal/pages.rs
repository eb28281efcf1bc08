//! Paged lists. Pages are fetched until the list ends, enough items are there, or the deadline passes.

use std::{collections::HashSet, sync::Arc};

use tokio::time::Instant;

use super::{
    BATCH,
    connection::Connection,
    document::{Document, Included, Resource},
    error::TidalError,
};

/// A longer list is an error: the longest albums have a few hundred tracks, twenty per page.
const MAX_PAGES: usize = 60;

/// The documents of one request, under one deadline.
pub(super) struct Pages<'a> {
    pub(super) connection: &'a Connection,
    pub(super) deadline: Instant,
}

/// The listed resources in order, and the documents that contain their attributes.
#[derive(Default)]
pub(super) struct List {
    pub(super) identifiers: Vec<Resource>,
    documents: Vec<Arc<Document>>,
    /// Why the list may be incomplete.
    pub(super) broken: Option<TidalError>,
}

impl Pages<'_> {
    pub(super) async fn get(&self, path: &[&str], parameters: &[(&str, &str)]) -> Result<Arc<Document>, TidalError> {
        self.connection.get(self.connection.url(path, parameters), self.deadline).await
    }

    /// Follows a relationship of a document's first resource.
    pub(super) async fn follow(&self, first: &Arc<Document>, name: &str, include: &str, enough: usize) -> List {
        let mut list = List { documents: vec![first.clone()], ..List::default() };
        if let Some(relationship) = first.data.first().and_then(|resource| resource.relationships.get(name)) {
            list.add(&relationship.data);
            self.extend(&mut list, relationship.links.next.clone(), include, enough).await;
        }
        list.identifiers.truncate(enough);
        list
    }

    /// Follows the data of the document itself.
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

    /// Fetches by id the tracks that were listed but not included. A track that is still missing is not available.
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
    /// The parsed resources in Tidal's order, not in the order of `included`.
    pub(super) fn read<T>(&self, read: impl Fn(&Resource, &Included) -> Option<T>) -> Vec<T> {
        let included = self.included();
        self.identifiers.iter().filter_map(|it| read(it, &included)).collect()
    }

    /// The reason if the list is incomplete.
    pub(super) fn whole(self) -> Result<(), TidalError> {
        self.broken.map_or(Ok(()), Err)
    }

    /// Pages may overlap if the catalogue changes between two requests.
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
