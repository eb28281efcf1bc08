//! The system prompt of an agent: its instructions, without tools that cannot work in this installation.

use super::Agent;

/// The parts of the installation that instructions depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstances {
    pub(crate) has_catalogue: bool,
    pub(crate) has_tracks: bool,
}

/// Tools that need the catalogue.
const CATALOGUE_TOOLS: [&str; 2] = ["tidalSearch", "albumTracks"];

const EMPTY: &str = "\nNothing is indexed yet. Say so, and that the listener can import a library (drop a file on the page, or \
    segue import FILE) or load the sample library.";

impl Agent {
    /// The tools that can work.
    pub fn usable_tools(&self, has_catalogue: bool) -> impl Iterator<Item = &'static str> {
        self.tools.iter().copied().filter(move |tool| has_catalogue || !CATALOGUE_TOOLS.contains(tool))
    }

    /// The text is the same for every turn while the circumstances are the same, so that providers can cache it.
    pub(crate) fn told(&self, circumstances: Circumstances) -> String {
        let mut told: String = self.instructions.to_owned();
        if self.tools.contains(&CATALOGUE_TOOLS[0]) {
            if circumstances.has_catalogue {
                told.push_str(self.with_catalogue);
            }
            if !circumstances.has_tracks {
                told.push_str(EMPTY);
            }
        }
        told
    }
}
