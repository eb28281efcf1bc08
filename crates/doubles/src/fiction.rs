//! A small fictional catalogue that contains every special case.

use crate::world::{Album, Artist, Id, Item, Piece, World};

pub const MARLOW: Id = 1001;
pub const VEY: Id = 1002;
/// Credited, but never included with the tracks that reference it.
pub const GHOST: Id = 1003;
pub const VARIOUS: Id = 1004;
pub const KITE: Id = 1005;

/// Ten tracks on one volume, available in every country.
pub const LOW_TIDE: Id = 2001;
/// 46 tracks on two volumes: three pages.
pub const LEDGER: Id = 2002;
/// Ten tracks, of which numbers 2 and 5 are missing in the US.
pub const ATLAS: Id = 2003;
/// Ten tracks and two videos.
pub const GLASS: Id = 2004;
/// Not available in the US at all.
pub const NORTH: Id = 2005;
/// The artist of its second track is never included; its third track is not included itself.
pub const GHOSTS: Id = 2006;
/// Sixty tracks on three volumes.
pub const ANTHOLOGY: Id = 2007;

/// One recording on 23 releases: its album, its single and 21 compilations.
pub const HARBOUR_LIGHTS: &str = "XTDBL2600001";

/// The whole catalogue. Deterministic.
pub fn world() -> World {
    let mut press = Press::default();
    for (id, name) in [(MARLOW, "Ivy Marlow"), (VEY, "Tomas Vey"), (VARIOUS, "Various Artists"), (KITE, "Кайт и Ветер")]
    {
        press.artist(id, name, false);
    }
    press.artist(GHOST, "Ghost Choir", true);
    press.studio_albums();
    press.region_gaps();
    press.videos();
    press.omissions();
    press.harbour_lights_everywhere();
    press.world
}

#[derive(Default)]
struct Press {
    world: World,
    n_pieces: u32,
}

impl Press {
    fn artist(&mut self, id: Id, name: &str, withheld: bool) {
        self.world.artists.insert(id, Artist { id, name: name.into(), withheld });
    }

    fn album(&mut self, id: Id, title: &str, artist: Id, kind: &'static str) {
        let release_date = format!("{}-0{}-1{}", 1990 + id % 35, 1 + id % 9, id % 9);
        let album = Album {
            id,
            title: title.into(),
            artists: vec![artist],
            kind,
            release_date,
            absent_in: vec![],
            items: vec![],
        };
        self.world.albums.insert(id, album);
    }

    /// Adds a piece with its own ISRC at the end of an album's volume.
    fn piece(&mut self, album: Id, volume: u32, title: &str) -> &mut Piece {
        self.n_pieces += 1;
        let n = self.n_pieces;
        let album = self.world.albums.get_mut(&album).expect("albums are made before their tracks");
        let id = 75_000_000 + u64::from(n) * 17;
        let number = 1 + album.items.iter().filter(|item| item.volume == volume).count() as u32;
        album.items.push(Item { piece: id, volume, number });
        let piece = Piece {
            id,
            is_video: false,
            isrc: format!("XTDBL26{n:05}"),
            title: title.into(),
            version: None,
            artists: album.artists.clone(),
            album: album.id,
            seconds: 120 + n * 37 % 200,
            explicit: n.is_multiple_of(9),
            popularity: f64::from(1000 - n) / 1000.0,
            absent_in: vec![],
            withheld: false,
        };
        self.world.pieces.entry(id).or_insert(piece)
    }

    fn studio_albums(&mut self) {
        self.album(LOW_TIDE, "Low Tide", MARLOW, "ALBUM");
        let titles = ["Harbour Lights", "Paper Lanterns", "Low Tide", "Salt & Rope", "Don't Wake the Pilot"];
        for title in titles {
            self.piece(LOW_TIDE, 1, title);
        }
        self.piece(LOW_TIDE, 1, "Low Tide").version = Some("Live at the Quay".into());
        self.piece(LOW_TIDE, 1, "Three Minutes Exactly").seconds = 180;
        self.piece(LOW_TIDE, 1, "The Long Way Round").seconds = 3723;
        self.piece(LOW_TIDE, 1, "Café Nord").artists = vec![MARLOW, VEY];
        self.piece(LOW_TIDE, 1, "Últimas Luces");

        self.album(LEDGER, "The Long Ledger", MARLOW, "ALBUM");
        for n in 1..=46 {
            self.piece(LEDGER, if n <= 26 { 1 } else { 2 }, &format!("Page {n}"));
        }
        self.album(ANTHOLOGY, "Anthology of Small Hours", MARLOW, "MIXTAPE");
        for n in 1..=60_u32 {
            self.piece(ANTHOLOGY, n.div_ceil(20), &format!("Small Hour {n}"));
        }
    }

    fn region_gaps(&mut self) {
        self.album(ATLAS, "Paper Atlas", VEY, "ALBUM");
        for n in 1..=10 {
            let piece = self.piece(ATLAS, 1, &format!("Map {n}"));
            if matches!(n, 2 | 5) {
                piece.absent_in = vec!["US"];
            }
        }
        self.album(NORTH, "Only North", VEY, "EP");
        self.piece(NORTH, 1, "Polar Night");
        let north = self.world.albums.get_mut(&NORTH).expect("just made");
        north.absent_in = vec!["US"];
    }

    fn videos(&mut self) {
        self.album(GLASS, "Стеклянная погода", KITE, "ALBUM");
        for n in 1..=12 {
            self.piece(GLASS, 1, &format!("Погода {n}")).is_video = matches!(n, 4 | 12);
        }
    }

    fn omissions(&mut self) {
        self.album(GHOSTS, "House of Ghosts", VEY, "EP");
        self.piece(GHOSTS, 1, "Attic");
        self.piece(GHOSTS, 1, "Cellar").artists = vec![GHOST];
        self.piece(GHOSTS, 1, "Stairwell").withheld = true;
    }

    /// The same code on many releases, as with singles and compilations.
    fn harbour_lights_everywhere(&mut self) {
        self.album(3000, "Harbour Lights", MARLOW, "SINGLE");
        for n in 1..=21 {
            self.album(3000 + n, &format!("Harbour Hits, Vol. {n}"), VARIOUS, "ALBUM");
        }
        for album in 3000..=3021 {
            let piece = self.piece(album, 1, "Harbour Lights");
            piece.isrc = HARBOUR_LIGHTS.into();
            piece.artists = vec![MARLOW];
            piece.seconds = 157;
            // More popular than the original: popularity alone would choose a compilation.
            piece.popularity = 0.9995;
        }
    }
}
