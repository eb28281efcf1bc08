//! Imports: the list of imported files, and the entries without a match. `import_files` imports files.

use std::{path::PathBuf, sync::Arc};

use async_stream::try_stream;
use engine::UserId;
use futures::Stream;
use tracing::instrument;
use uuid::Uuid;

pub use crate::import::OpenLine;
use crate::{
    Error,
    enrich::Pipeline,
    import::{CSV_HEADING, csv_lines},
    library::Library,
};
pub use store::ImportLine;
use store::Store;

/// Lines of one piece of the CSV file.
const CSV_LINES: usize = 500;

#[derive(Clone)]
pub struct Imports {
    pub(crate) store: Store,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) library: Library,
    /// The folder in which archives are unpacked.
    pub(crate) scratch: PathBuf,
}

impl Imports {
    /// At most `limit` imported files, newest first, starting with `from`; and the first one of the next page.
    #[instrument(name = "imports.list", skip_all, fields(user.id = %owner))]
    pub async fn list(
        &self,
        owner: &UserId,
        limit: u32,
        from: Option<Uuid>,
    ) -> Result<(Vec<ImportLine>, Option<Uuid>), Error> {
        let mut lines = self.store.imports(owner, limit.saturating_add(1), from).await?;
        let next = lines.get(limit as usize).map(|line| line.id);
        lines.truncate(limit as usize);
        Ok((lines, next))
    }

    /// Open entries as a CSV file, in the order of their files, without dismissed ones. It is written in pieces: their ids are
    /// in memory, and one page of entries.
    pub fn open_csv(&self, owner: &UserId) -> impl Stream<Item = Result<String, Error>> + Send + 'static {
        let (store, owner) = (self.store.clone(), owner.clone());
        try_stream! {
            yield CSV_HEADING.to_owned();
            let ids = store.open_entry_ids(&owner).await?;
            for page in ids.chunks(CSV_LINES) {
                let entries: Vec<OpenLine> = store.open_entries_of(&owner, page).await?;
                yield csv_lines(&entries);
            }
        }
    }

    /// All open entries, for the command line.
    #[instrument(name = "imports.open_entries", skip_all, fields(user.id = %owner))]
    pub async fn open_entries(&self, owner: &UserId) -> Result<Vec<OpenLine>, Error> {
        Ok(self.store.open_entries(owner, (0, u32::MAX)).await?)
    }

    /// A page of them, and the start of the next one.
    #[instrument(name = "imports.open_page", skip_all, fields(user.id = %owner))]
    pub async fn open_page(
        &self,
        owner: &UserId,
        limit: u32,
        offset: u32,
    ) -> Result<(Vec<OpenLine>, Option<u32>), Error> {
        let mut lines: Vec<OpenLine> = self.store.open_entries(owner, (offset, limit.saturating_add(1))).await?;
        let next = (lines.len() > limit as usize).then_some(offset.saturating_add(limit));
        lines.truncate(limit as usize);
        Ok((lines, next))
    }

    /// Searches for every open entry again. Returns how many.
    #[instrument(name = "imports.retry", skip_all, fields(user.id = %owner))]
    pub async fn retry(&self, owner: &UserId) -> Result<u64, Error> {
        let n_entries = self.store.retry_entries(owner).await?;
        self.pipeline.tell();
        Ok(n_entries)
    }

    #[instrument(name = "imports.dismiss", skip_all, fields(user.id = %owner, entry.id = %entry))]
    pub async fn dismiss(&self, owner: &UserId, entry: Uuid) -> Result<(), Error> {
        Ok(self.store.dismiss_entry(owner, entry, true).await?)
    }

    #[instrument(name = "imports.restore", skip_all, fields(user.id = %owner, entry.id = %entry))]
    pub async fn restore(&self, owner: &UserId, entry: Uuid) -> Result<(), Error> {
        Ok(self.store.dismiss_entry(owner, entry, false).await?)
    }
}
