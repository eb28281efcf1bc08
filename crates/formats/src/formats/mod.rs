//! The list of formats: one file each, and one line each in the list.

mod amazon;
mod apple_daily;
mod apple_library;
mod apple_tracks;
mod audio;
mod beets;
pub(crate) mod cue;
mod deezer;
mod discogs;
mod exportify;
mod exportify_net;
mod foobar;
mod isrc_list;
mod jspf;
mod last_fm;
mod last_fm_headerless;
mod listen_brainz;
mod m3u;
mod plain_text;
mod pls;
mod rekordbox;
mod shazam;
mod soundiiz;
mod spotify_extended;
mod spotify_history;
mod spotify_library;
mod spotify_playlists;
mod table;
mod tidal;
mod traktor;
mod tune_my_music;
mod wpl;
mod xspf;
mod youtube_history;
mod youtube_library;

use super::format::Format;

/// In the order of recognition: a specific format comes before a format that also matches its files.
pub(crate) const FORMATS: &[Format] = &[
    audio::FORMAT,
    // XML
    apple_library::FORMAT,
    rekordbox::FORMAT,
    traktor::FORMAT,
    wpl::FORMAT,
    xspf::FORMAT,
    // JSON, each recognised by members that no earlier format has
    listen_brainz::FORMAT,
    spotify_extended::FORMAT,
    spotify_history::FORMAT,
    youtube_history::FORMAT,
    spotify_playlists::FORMAT,
    jspf::FORMAT,
    apple_tracks::FORMAT,
    beets::FORMAT,
    spotify_library::FORMAT,
    // Playlists and sheets, line by line
    m3u::FORMAT,
    pls::FORMAT,
    cue::FORMAT,
    // Tables: those of one service first, then any table
    shazam::FORMAT,
    exportify::FORMAT,
    exportify_net::FORMAT,
    last_fm::FORMAT,
    apple_daily::FORMAT,
    deezer::FORMAT,
    tidal::FORMAT,
    tune_my_music::FORMAT,
    soundiiz::FORMAT,
    youtube_library::FORMAT,
    amazon::FORMAT,
    discogs::FORMAT,
    table::FORMAT,
    last_fm_headerless::FORMAT,
    // Lines that people type or copy
    foobar::FORMAT,
    isrc_list::FORMAT,
    plain_text::FORMAT,
];
