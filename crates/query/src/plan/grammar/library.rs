//! Phrases that limit by the library, and phrases that count results.

use super::{Phrases, Rule};

pub(super) const LIBRARY: Phrases = &[
    (
        Rule::New,
        &[
            "not in|from my library|collection",
            "outside of? my library|collection",
            "that|which? i don t own|have yet?",
            "that|which? i do not own|have yet?",
            "new to me",
            "nicht in|aus meiner sammlung|bibliothek|mediathek",
            "die ich noch? nicht habe|besitze|kenne",
            "que je n ai pas encore?",
            "pas dans ma bibliotheque|collection",
            "que aun|todavia? no tengo",
            "que no estan|esten en mi biblioteca|coleccion",
            "fuera de mi biblioteca|coleccion",
        ],
    ),
    (
        Rule::Owned,
        &[
            "only? in|from|of|within my own? library|collection",
            "that|which|songs|tracks i already? own|have",
            "among my songs|tracks",
            "aus|in meiner sammlung|bibliothek|mediathek",
            "die ich schon? habe|besitze",
            "dans|de ma bibliotheque|collection",
            "que j ai deja?",
            "de|en mi biblioteca|coleccion",
            "que ya? tengo",
        ],
    ),
    (
        Rule::OnePerArtist,
        &[
            "only? one song|track|title? per|by|from each? artist|singer|band",
            "no artist twice",
            "each|all by|from a? different artist|artists",
            "by different artists",
            "nur? ein|einen|eins lied|song|titel? pro|je kunstler|kunstlerin|band",
            "un|une seule|seul? chanson|titre|morceau? par artiste",
            "una|uno|un sola|solo? cancion|tema? por artista",
        ],
    ),
];

/// The phrases before a count.
pub(crate) const COUNTING: &[&str] = &[
    "",
    "at most",
    "max|maximum",
    "up to",
    "no|not more than",
    "only|just",
    "the top|best|first",
    "hochstens|maximal|nur",
    "bis zu",
    "au plus",
    "pas plus de",
    "seulement",
    "como maximo",
    "a lo sumo",
    "maximo|solo",
    "no mas de",
];

/// Nouns that make a number a count of results. Without one, a number is a count only after a phrase of [`COUNTING`].
pub(crate) const COUNTED: &str = "songs|song|tracks|track|tunes|pieces|titles|results|suggestions|lieder|titel|stucke|chansons|titres|morceaux|canciones|temas|pistas";

/// The phrases that make a count a count per artist.
pub(crate) const PER_ARTIST: &[&str] = &[
    "per artist|singer|band|musician",
    "by|from each|every artist|singer|band",
    "by|from the same artist|singer|band",
    "by|from any one? artist",
    "pro|je kunstler|kunstlerin|interpret|band",
    "par artiste|chanteur|groupe",
    "por artista|cantante|grupo",
];
