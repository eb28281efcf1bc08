//! The import service: reads files, adds their tracks to the library and returns a report.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use engine::UserId;
use serde_json::json;
use tokio::time::Instant;
use tracing::instrument;
use uuid::Uuid;

use super::imports::Imports;
use crate::{
    Error,
    enrich::Pipeline,
    import::{
        Catalogue, FileCounts, Given, Import, ImportFailure, ImportReport, Imported, ImportedAll, Match, Matches,
        OpenLine, OwnTracks, Until, add_codes, kind_id, kind_of, match_all, new_track,
    },
    library::LibraryEntry,
};
use formats::{GatheredFile, ImportedTrack, gather_files, gather_uploaded};
use music::{Isrc, TrackId, TrackRef};
use store::{NewLibraryTrack, Resolution, StoreError};

impl Imports {
    /// Imports several files. A file that is refused does not prevent the others. External catalogues are asked for at most
    /// `patience` for all files together. `seen` gets the result of each file.
    #[instrument(name = "imports.import_all", skip_all, fields(user.id = %owner))]
    pub async fn import_all(
        &self,
        owner: &UserId,
        files: Vec<Given>,
        patience: Duration,
        mut seen: impl FnMut(&[Imported]),
    ) -> Result<ImportedAll, ImportFailure> {
        let (mut all, until) = (ImportedAll::default(), Instant::now() + patience);
        for given in files {
            let (name, again) = (given.name(), given.again()?);
            match self.import(owner, given, until.saturating_duration_since(Instant::now())).await {
                Ok(imported) => {
                    seen(&imported);
                    if imported.iter().any(|one| one.report.kind.is_audio()) {
                        all.audio.push(again);
                    }
                    all.imported.extend(imported);
                }
                Err(failure) => all.refused.push((name, failure)),
            }
        }
        Ok(all)
    }

    /// Imports everything given, file by file. External catalogues are asked for at most `patience`. Entries that are
    /// open then are searched for in the background.
    #[instrument(name = "imports.import", skip_all, fields(user.id = %owner))]
    pub async fn import(
        &self,
        owner: &UserId,
        given: Given,
        patience: Duration,
    ) -> Result<Vec<Imported>, ImportFailure> {
        // Parsing runs on a separate thread, because a large history takes seconds.
        let scratch = self.scratch.clone();
        let files = background::spawn_blocking(move || match given {
            Given::Path(path) => gather_files(&path, &scratch),
            Given::Upload { file, name } => gather_uploaded(file, &name, &scratch),
        });
        let files = files.await??;
        let until = Instant::now() + patience;
        let mut imported = vec![];
        for mut file in files {
            let matches = self.pipeline.match_within(owner, &mut file, until).await.map_err(Error::from)?;
            imported.push(self.keep(owner, file, matches, None).await?);
        }
        self.pipeline.tell();
        Ok(imported)
    }

    /// Creates tracks of files in a folder, without waiting for catalogues. Returns the track of each entry. `same` are
    /// entries that are already tracks, by their position.
    pub(crate) async fn import_gathered(
        &self,
        owner: &UserId,
        mut file: GatheredFile,
        same: HashMap<usize, TrackId>,
    ) -> Result<Vec<TrackId>, ImportFailure> {
        if file.gathered.tracks.is_empty() {
            return Ok(vec![]);
        }
        let matches = self.pipeline.match_within(owner, &mut file, Instant::now()).await.map_err(Error::from)?;
        let imported = self.keep(owner, file, matches, Some(same)).await?;
        self.pipeline.tell();
        Ok(imported.ids)
    }

    /// `same`: set for a synchronised folder; the entries that are already tracks.
    async fn keep(
        &self,
        owner: &UserId,
        file: GatheredFile,
        matches: Matches,
        same: Option<HashMap<usize, TrackId>>,
    ) -> Result<Imported, ImportFailure> {
        let is_sync = same.is_some();
        let own = OwnTracks::read(&self.store, owner, &file.gathered.tracks, &matches.matches);
        let own = own.await.map_err(Error::from)?.with_same(same.unwrap_or_default());
        let (kind, name) = (file.kind, file.name.clone());
        // A large file takes a while, so this runs on a separate thread, which also frees the parsed data.
        let of = owner.clone();
        let prepared = background::spawn_blocking(move || {
            let GatheredFile { name, kind, gathered } = file;
            let import = Import { is_sync, ..Import::new(&of, &name, kind, &gathered, &matches, own) };
            (import, ImportReport::new(&name, kind, &gathered, matches))
        });
        let (import, report) = prepared.await?;
        let stored = json!(FileCounts::of(&report));
        let kept = import.keep(&self.store, owner, &stored).await.map_err(Error::from)?;
        let kind = kind_id(kind).map_err(Error::from)?;
        let ids = import.ids;
        let open = import.open.into_iter().map(|open| OpenLine {
            id: open.id(owner),
            file: name.clone(),
            kind: kind.clone(),
            track_id: Some(open.track.to_string()),
            entry: open.entry,
            found: open.found,
        });
        Ok(Imported { open: open.collect(), report, kept, ids })
    }

    /// Matches an open entry to the recording that the user chose: one of its candidates, or any known recording.
    #[instrument(name = "imports.choose", skip_all, fields(user.id = %owner, entry.id = %entry))]
    pub async fn choose(&self, owner: &UserId, entry: Uuid, name: &TrackRef) -> Result<LibraryEntry, Error> {
        let open: OpenLine = self.store.open_entry(owner, entry).await?;
        let is_chosen =
            |isrc: &Isrc| *name == TrackRef::Isrc(isrc.clone()) || *name == TrackRef::Id(TrackId::of_isrc(isrc));
        let chosen = open.found.candidates.iter().find(|scored| is_chosen(&scored.candidate.isrc));
        let new = match chosen {
            Some(scored) => {
                let isrc = scored.candidate.isrc.clone();
                let id = TrackId::of_isrc(&isrc);
                let found = Match { recording: Some(scored.candidate.clone()), isrc: Some(isrc), ..open.found.clone() };
                // The user has chosen by the catalogue's names, so they are used.
                let entry = ImportedTrack { title: String::new(), artists: vec![], ..open.entry };
                new_track(&entry, id, &found, kind_of(&open.kind)?)
            }
            None => {
                let known = self.library.find_track(owner, name).await?;
                let of_file = new_track(&open.entry, known.id, &open.found, kind_of(&open.kind)?);
                NewLibraryTrack { is_own: false, public: None, track: known, ..of_file }
            }
        };
        let id = TrackRef::Id(new.track.id);
        self.store.resolve_entry(owner, entry, &Resolution::Matched(Box::new(new))).await?;
        self.pipeline.tell();
        self.library.entry(owner, self.store.library_track(owner, &id).await?).await
    }
}

impl Pipeline {
    async fn match_within(
        &self,
        owner: &UserId,
        file: &mut GatheredFile,
        until: Instant,
    ) -> Result<Matches, StoreError> {
        let mut silent = BTreeMap::new();
        if let Some(reccobeats) = &self.sources.reccobeats {
            match tokio::time::timeout_at(until, add_codes(&mut file.gathered, reccobeats)).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => _ = silent.insert("ReccoBeats", error.to_string()),
                Err(_) => _ = silent.insert("ReccoBeats", "there was no time for everything".into()),
            }
        }
        let catalogues = self.catalogues();
        let remembering: Vec<_> = catalogues.into_iter().map(|catalogue| self.remembering(catalogue)).collect();
        let external: Vec<_> = remembering.iter().map(|catalogue| Until { catalogue, moment: until }).collect();
        let home: &dyn Catalogue = &self.home(owner).await?;
        let all: Vec<&dyn Catalogue> =
            std::iter::once(home).chain(external.iter().map(|catalogue| catalogue as &dyn Catalogue)).collect();
        let mut matches = match_all(&file.gathered, &all).await;
        matches.silent.extend(silent);
        Ok(matches)
    }
}
