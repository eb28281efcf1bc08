//! Visits the audio files of an import once more, one at a time: what was uploaded, or what is at a path.

use std::{
    fs::File,
    io::{self, Seek},
    path::Path,
};

use super::{
    ImportError, Unrecognised,
    archive::{LIMITS, each_member, file_name},
    folder::{FileRole, walk},
    kind_of,
};

/// Gets the name of a file and the file, and returns whether the next one is wanted.
pub type Visit<'a> = dyn FnMut(&str, File) -> bool + 'a;

/// The upload itself, or the members of the archive, which are unpacked one at a time.
pub fn visit_audio(mut file: File, name: &str, scratch: &Path, visit: &mut Visit<'_>) -> Result<(), ImportError> {
    file.rewind()?;
    match kind_of(&mut file, name) {
        Ok(kind) if kind.is_audio() => _ = visit(name, file),
        Err(ImportError::Unrecognised(Unrecognised::Archive)) => {
            return each_member(file, name, scratch, &LIMITS, &mut |_, short, mut member| match kind_of(
                &mut member,
                short,
            ) {
                Ok(kind) if kind.is_audio() => Ok(visit(short, member)),
                _ => Ok(true),
            });
        }
        _ => {}
    }
    Ok(())
}

/// The same for a file, an archive or a folder. What cannot be read in a folder is skipped: its import has reported it.
pub fn visit_audio_at(path: &Path, scratch: &Path, visit: &mut Visit<'_>) -> io::Result<()> {
    let mut is_wanted = true;
    let mut visit_one = |path: &Path| -> io::Result<bool> {
        let visited = visit_audio(File::open(path)?, &file_name(path), scratch, &mut |name, file| {
            is_wanted = visit(name, file);
            is_wanted
        });
        visited.map_err(io::Error::other)?;
        Ok(is_wanted)
    };
    if !path.is_dir() {
        return visit_one(path).map(drop);
    }
    let audio = walk(path).filter(|found| matches!(found.what, Ok(FileRole::Audio | FileRole::Archive)));
    for found in audio {
        if visit_one(&found.path).is_ok_and(|is_next_wanted| !is_next_wanted) {
            break;
        }
    }
    Ok(())
}
