//! The files someone gave us: one, or those inside a ZIP archive, each gathered by itself.

use std::{
    fs::File,
    io::{self, Read, Seek},
    path::Path,
};

use zip::ZipArchive;

use super::{Gathered, ImportError, Kind, Unrecognised, gather_path, gather_upload};

/// One file and everything it said.
#[derive(Clone, Debug, PartialEq)]
pub struct GatheredFile {
    /// Its name; inside an archive, its place there.
    pub name: String,
    pub kind: Kind,
    pub gathered: Gathered,
}

/// A history of many years has some thirty files.
const MOST_FILES: usize = 500;
/// What the files of an archive may have together: more is not a listener's data but an attack.
const MOST_BYTES: u64 = 4 << 30;

/// Everything a path holds. A broken file refuses the whole archive, so that nothing is half imported.
pub fn gather_files(path: &Path) -> Result<Vec<GatheredFile>, ImportError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match gather_path(path) {
        Ok((kind, gathered)) => Ok(vec![GatheredFile { name, kind, gathered }]),
        Err(ImportError::Unrecognised(Unrecognised::Archive)) => in_archive(File::open(path)?, &name),
        Err(error) => Err(error),
    }
}

/// The same for an upload.
pub fn gather_uploaded(mut file: File, name: &str) -> Result<Vec<GatheredFile>, ImportError> {
    match gather_upload(file.try_clone()?, name) {
        Ok((kind, gathered)) => Ok(vec![GatheredFile { name: name.into(), kind, gathered }]),
        Err(ImportError::Unrecognised(Unrecognised::Archive)) => {
            file.rewind()?;
            in_archive(file, name)
        }
        Err(error) => Err(error),
    }
}

/// Files that are none of ours (a read-me, an address book) are passed over; an archive of nothing else is refused.
fn in_archive(file: File, archive_name: &str) -> Result<Vec<GatheredFile>, ImportError> {
    let mut archive = ZipArchive::new(file).map_err(|error| broken(archive_name, error))?;
    if archive.len() > MOST_FILES {
        return Err(broken(archive_name, format!("it has more than {MOST_FILES} files")));
    }
    let (mut files, mut left) = (vec![], MOST_BYTES);
    for n in 0..archive.len() {
        let mut member = archive.by_index(n).map_err(|error| broken(archive_name, error))?;
        let name = member.name().to_owned();
        let short = name.rsplit('/').next().unwrap_or_default().to_owned();
        if member.is_dir() || short.starts_with('.') || name.starts_with("__MACOSX/") {
            continue;
        }
        // Parsers keep their source, and an archive cannot be read in two places at once: the file goes to disk.
        let mut unpacked = tempfile::tempfile()?;
        let n_bytes = io::copy(&mut member.by_ref().take(left + 1), &mut unpacked)?;
        left = left.checked_sub(n_bytes).ok_or_else(|| broken(archive_name, "it unpacks to more than 4 GB"))?;
        unpacked.rewind()?;
        match gather_upload(unpacked, &short) {
            Ok((kind, gathered)) => files.push(GatheredFile { name, kind, gathered }),
            Err(ImportError::Unrecognised(_)) => {}
            Err(ImportError::Broken(error)) => return Err(broken(&name, error)),
            Err(error @ (ImportError::Unreadable(_) | ImportError::Archive { .. })) => return Err(error),
        }
    }
    if files.is_empty() {
        return Err(Unrecognised::Archive.into());
    }
    Ok(files)
}

fn broken(name: &str, why: impl std::fmt::Display) -> ImportError {
    ImportError::Archive { file: name.to_owned(), why: why.to_string() }
}
