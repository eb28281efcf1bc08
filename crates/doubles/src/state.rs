//! The shared state of the smaller doubles: a request log, planned faults, a rate limit, and the catalogue.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    Router,
    extract::{Request, State},
    http::header,
    middleware::{self, Next},
    response::Response,
};

use crate::{
    fault::{self, Fault, Plan},
    script::Script,
    world::{Id, Piece, World},
};

/// Clones share one state.
#[derive(Clone)]
pub struct ServiceState {
    catalogue: Arc<Catalogue>,
    state: Arc<Mutex<Log>>,
}

/// The maximum number of calls in a time window, and the response to a call over the limit.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) n_calls: usize,
    pub(crate) within: Duration,
    pub(crate) refusal: fn() -> Response,
}

#[derive(Default)]
struct Log {
    requests: Vec<String>,
    user_agents: Vec<String>,
    plan: Plan,
    recent: VecDeque<Instant>,
    limit: Option<Limit>,
}

/// The tracks of a world, with the lookups that these services need.
pub(crate) struct Catalogue {
    world: World,
    by_isrc: HashMap<String, Id>,
    by_name: HashMap<(String, String), Vec<Id>>,
    /// The searchable names, in the order of ids.
    names: Vec<(Id, String)>,
}

impl ServiceState {
    pub(crate) fn new(world: World, limit: Option<Limit>) -> Self {
        let log = Log { limit, ..Log::default() };
        Self { catalogue: Arc::new(Catalogue::new(world)), state: Arc::new(Mutex::new(log)) }
    }

    /// Plans faults for the next calls, one each; `None` means no fault.
    pub fn plan(&self, faults: impl IntoIterator<Item = Option<Fault>>) {
        self.log().plan.add(faults);
    }

    /// Plans the faults of a script for the next calls.
    pub fn play_script(&self, script: Script) {
        self.log().plan.play_script(script);
    }

    /// Path and query of every call so far, including rejected ones.
    pub fn requests(&self) -> Vec<String> {
        self.log().requests.clone()
    }

    /// The user agent of each call; empty if the call had none.
    pub fn user_agents(&self) -> Vec<String> {
        self.log().user_agents.clone()
    }

    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    pub(crate) fn guard(&self, routes: Router<Self>) -> Router {
        routes.layer(middleware::from_fn_with_state(self.clone(), stand_guard)).with_state(self.clone())
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn stand_guard(state: State<ServiceState>, request: Request, next: Next) -> Response {
    let (planned, refusal) = {
        let mut log = state.log();
        let uri = request.uri().to_string();
        log.requests.push(uri.clone());
        let name = request.headers().get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        log.user_agents.push(name.unwrap_or_default().to_owned());
        (log.plan.next(&uri), log.one_too_many())
    };
    match (fault::play(planned).await, refusal) {
        (Some(faulty), _) => faulty,
        (None, Some(refusal)) => refusal(),
        (None, None) => next.run(request).await,
    }
}

impl Log {
    /// Counts this call. Rejected calls count too, so retrying too early prolongs the block.
    fn one_too_many(&mut self) -> Option<fn() -> Response> {
        let limit = self.limit?;
        let now = Instant::now();
        while self.recent.front().is_some_and(|at| now.duration_since(*at) > limit.within) {
            self.recent.pop_front();
        }
        self.recent.push_back(now);
        (self.recent.len() > limit.n_calls).then_some(limit.refusal)
    }
}

impl Catalogue {
    fn new(world: World) -> Self {
        let (mut by_isrc, mut by_name) = (HashMap::new(), HashMap::<_, Vec<Id>>::new());
        for piece in world.pieces.values().filter(|piece| !piece.is_video) {
            by_isrc.entry(piece.isrc.clone()).or_insert(piece.id);
            let key = (normalised(&title_of(piece)), normalised(&artist_of(&world, piece)));
            by_name.entry(key).or_default().push(piece.id);
        }
        let named = |piece: &Piece| {
            let album = world.albums.get(&piece.album).map_or("", |album| album.title.as_str());
            (piece.id, normalised(&format!("{} {} {album}", title_of(piece), artist_of(&world, piece))))
        };
        let names = world.pieces.values().filter(|piece| !piece.is_video).map(named).collect();
        Self { world, by_isrc, by_name, names }
    }

    pub(crate) fn by_isrc(&self, isrc: &str) -> Option<&Piece> {
        self.world.pieces.get(self.by_isrc.get(isrc)?)
    }

    pub(crate) fn by_id(&self, id: Id) -> Option<&Piece> {
        self.world.pieces.get(&id).filter(|piece| !piece.is_video)
    }

    /// Tracks with exactly this title and artist, after normalisation.
    pub(crate) fn by_name(&self, title: &str, artist: &str) -> Vec<&Piece> {
        let ids = self.by_name.get(&(normalised(title), normalised(artist)));
        ids.into_iter().flatten().filter_map(|id| self.by_id(*id)).collect()
    }

    /// Tracks with every word in title, artist or album.
    pub(crate) fn search(&self, words: &str) -> Vec<&Piece> {
        let words = normalised(words);
        let is_it = |names: &str| !words.is_empty() && words.split(' ').all(|word| names.contains(word));
        self.names.iter().filter(|(_, names)| is_it(names)).filter_map(|(id, _)| self.by_id(*id)).collect()
    }

    pub(crate) fn artist(&self, piece: &Piece) -> String {
        artist_of(&self.world, piece)
    }

    pub(crate) fn album(&self, piece: &Piece) -> &str {
        self.world.albums.get(&piece.album).map_or("", |album| album.title.as_str())
    }

    pub(crate) fn release_date(&self, piece: &Piece) -> &str {
        self.world.albums.get(&piece.album).map_or("", |album| album.release_date.as_str())
    }
}

pub(crate) fn title_of(piece: &Piece) -> String {
    match &piece.version {
        Some(version) => format!("{} ({version})", piece.title),
        None => piece.title.clone(),
    }
}

fn artist_of(world: &World, piece: &Piece) -> String {
    let name = piece.artists.first().and_then(|id| world.artists.get(id));
    name.map_or_else(String::new, |artist| artist.name.clone())
}

/// LRCLIB's normalisation: lower case, accents folded, apostrophes removed, other symbols become spaces.
fn normalised(text: &str) -> String {
    use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
    let folded: String = text
        .nfkd()
        .filter(|c| !is_combining_mark(*c) && !matches!(c, '\'' | '’'))
        .flat_map(char::to_lowercase)
        .map(|c| if c.is_alphanumeric() { c } else { ' ' })
        .collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A deterministic number from 0 to 99 for a text. It decides which track shows which special case.
pub fn lot(text: &str) -> u64 {
    seed(text) % 100
}

pub(crate) fn seed(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
