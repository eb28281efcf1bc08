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
pub(crate) const FORMATS: &[&dyn Format] = &[
    &audio::Audio,
    // XML
    &apple_library::AppleLibrary,
    &rekordbox::Rekordbox,
    &traktor::Traktor,
    &wpl::Wpl,
    &xspf::Xspf,
    // JSON, each recognised by members that no earlier format has
    &listen_brainz::ListenBrainz,
    &spotify_extended::SpotifyExtendedHistory,
    &spotify_history::SpotifyHistory,
    &youtube_history::YouTubeHistory,
    &spotify_playlists::SpotifyPlaylists,
    &jspf::Jspf,
    &apple_tracks::AppleTracks,
    &beets::Beets,
    &spotify_library::SpotifyLibrary,
    // Playlists and sheets, line by line
    &m3u::M3u,
    &pls::Pls,
    &cue::Cue,
    // Tables: those of one service first, then any table
    &shazam::Shazam,
    &exportify::Exportify,
    &exportify_net::ExportifyNet,
    &last_fm::LastFm,
    &apple_daily::AppleDaily,
    &deezer::Deezer,
    &tidal::Tidal,
    &tune_my_music::TuneMyMusic,
    &soundiiz::Soundiiz,
    &youtube_library::YouTubeLibrary,
    &amazon::Amazon,
    &discogs::Discogs,
    &table::Table,
    &last_fm_headerless::LastFmWithoutHeader,
    // Lines that people type or copy
    &foobar::Foobar,
    &isrc_list::IsrcList,
    &plain_text::PlainText,
];
