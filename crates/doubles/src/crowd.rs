//! A generated world of any size, for measurements. Every recording has a unique title.

use crate::world::{Album, Artist, Id, Item, Piece, World};

const FIRST: [&str; 20] = [
    "Amber", "Broken", "Copper", "Distant", "Early", "Fading", "Golden", "Hollow", "Iron", "Jagged", "Kindled",
    "Lonely", "Mirrored", "Northern", "Open", "Paper", "Quiet", "Restless", "Silver", "Tender",
];
const SECOND: [&str; 20] = [
    "Anchor", "Bridge", "Cinder", "Door", "Engine", "Field", "Garden", "Harbour", "Island", "Junction", "Key",
    "Lantern", "Meadow", "Needle", "Orchard", "Pier", "Quarry", "River", "Station", "Tower",
];

/// `n` recordings, ten per album, two albums per artist. Deterministic.
pub fn crowd(n: u32) -> World {
    let mut world = World::default();
    for n in 0..n {
        let (album_id, artist_id) = (Id::from(5_000_000 + n / 10), Id::from(6_000_000 + n / 20));
        let word = |words: [&'static str; 20], n: u32| words[(n % 20) as usize];
        world.artists.entry(artist_id).or_insert_with(|| {
            let name = format!("{} {} Trio {}", word(SECOND, n / 20), word(FIRST, n / 400), n / 20);
            Artist { id: artist_id, name, withheld: false }
        });
        let album = world.albums.entry(album_id).or_insert_with(|| Album {
            id: album_id,
            title: format!("The {} {}", word(FIRST, n / 10), word(SECOND, n / 200)),
            artists: vec![artist_id],
            kind: "ALBUM",
            release_date: format!("{}-03-14", 1970 + n / 10 % 50),
            absent_in: vec![],
            items: vec![],
        });
        let id = Id::from(80_000_000 + n);
        album.items.push(Item { piece: id, volume: 1, number: n % 10 + 1 });
        world.pieces.insert(
            id,
            Piece {
                id,
                is_video: false,
                isrc: format!("XTCRD{:02}{:05}", n / 100_000, n % 100_000),
                title: format!("{} {} {n}", word(FIRST, n), word(SECOND, n / 20)),
                version: None,
                artists: vec![artist_id],
                album: album_id,
                seconds: 120 + n % 240,
                explicit: false,
                popularity: f64::from(n % 100) / 100.0,
                absent_in: vec![],
                withheld: false,
            },
        );
    }
    world
}

/// Every track of a world as a table: title, artist, album, seconds, code.
pub fn table(world: &World) -> String {
    let mut table = "Title,Artist,Album,Duration,ISRC\n".to_owned();
    for piece in world.pieces.values().filter(|piece| !piece.is_video) {
        let artist = piece.artists.first().and_then(|id| world.artists.get(id)).map_or("", |artist| &artist.name);
        let album = world.albums.get(&piece.album).map_or("", |album| &album.title);
        let title = crate::state::title_of(piece);
        table += &format!("\"{title}\",\"{artist}\",\"{album}\",{},{}\n", piece.seconds, piece.isrc);
    }
    table
}
