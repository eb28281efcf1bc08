//! The files someone gave us: one, a folder, or those inside a ZIP archive, each gathered by itself.

use std::{
    cell::Cell,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    rc::Rc,
};

use zip::{ZipArchive, read::ZipFile};

use super::{Gathered, ImportError, Kind, Unrecognised, folder_import, gather_upload};

/// One file and everything it said.
#[derive(Clone, Debug, PartialEq)]
pub struct GatheredFile {
    /// Its name; inside an archive, its place there.
    pub name: String,
    pub kind: Kind,
    pub gathered: Gathered,
}

/// A music collection has some thousands of files, a history of many years some thirty.
const MOST_MEMBERS: usize = 5000;
/// What the members may have together when they are unpacked.
const MOST_BYTES: u64 = 1 << 30;
/// Text shrinks to a tenth, rarely to a fiftieth; what shrinks to less is made to fill disks.
const LARGEST_RATIO: u64 = 200;
/// Below this size a ratio says nothing.
const RATIO_FROM: u64 = 1 << 20;
/// What may be read to find and read the table of contents: 46 bytes and a name for each member.
const LARGEST_DIRECTORY: u64 = 4 << 20;

const NESTED: &str = "an archive inside an archive, which is not read";

/// Everything a path holds. Members of archives are unpacked one at a time into `scratch`.
///
/// A broken member refuses its whole archive, so that nothing is half imported; in a folder, files stand for themselves.
pub fn gather_files(path: &Path, scratch: &Path) -> Result<Vec<GatheredFile>, ImportError> {
    if path.is_dir() {
        return Ok(folder_import::gather_folder(path, scratch));
    }
    if let Some((kind, gathered)) = folder_import::gather_audio_path(path)? {
        return Ok(vec![GatheredFile { name: file_name(path), kind, gathered }]);
    }
    gather_uploaded(File::open(path)?, &file_name(path), scratch)
}

pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The same for an upload.
pub fn gather_uploaded(mut file: File, name: &str, scratch: &Path) -> Result<Vec<GatheredFile>, ImportError> {
    match gather_upload(file.try_clone()?, name) {
        Ok((kind, gathered)) => Ok(vec![GatheredFile { name: name.into(), kind, gathered }]),
        Err(ImportError::Unrecognised(Unrecognised::Archive)) => {
            file.rewind()?;
            in_archive(file, name, scratch)
        }
        Err(error) => Err(error),
    }
}

/// Files that are none of ours (a read-me, an address book) are passed over; an archive of nothing else is refused.
fn in_archive(file: File, archive_name: &str, scratch: &Path) -> Result<Vec<GatheredFile>, ImportError> {
    let budget = Rc::new(Cell::new(LARGEST_DIRECTORY));
    let mut archive =
        ZipArchive::new(Metered { file, left: Rc::clone(&budget) }).map_err(|error| broken(archive_name, error))?;
    if archive.len() > MOST_MEMBERS {
        return Err(broken(archive_name, format!("it has more than {MOST_MEMBERS} files")));
    }
    // The limit was for the table of contents; members have limits of their own.
    budget.set(u64::MAX);
    let (mut files, mut left, mut n_nested) = (vec![], MOST_BYTES, 0_u64);
    for n in 0..archive.len() {
        let mut member = archive.by_index(n).map_err(|error| broken(archive_name, error))?;
        let name = member.name().to_owned();
        let short = name.rsplit('/').next().unwrap_or_default().to_owned();
        if member.is_dir() || short.starts_with('.') || name.starts_with("__MACOSX/") {
            continue;
        }
        let unpacked = unpack(&mut member, archive_name, scratch, &mut left)?;
        match gather_upload(unpacked, &short) {
            Ok((kind, gathered)) => files.push(GatheredFile { name, kind, gathered }),
            Err(ImportError::Unrecognised(Unrecognised::Archive)) => n_nested += 1,
            Err(ImportError::Unrecognised(_)) => {}
            Err(ImportError::Broken(error)) => return Err(broken(&name, error)),
            Err(error @ (ImportError::Unreadable(_) | ImportError::Archive { .. })) => return Err(error),
        }
    }
    match files.first_mut() {
        Some(first) if n_nested > 0 => _ = first.gathered.left_out.insert(NESTED, n_nested),
        Some(_) => {}
        None => return Err(Unrecognised::Archive.into()),
    }
    Ok(files)
}

/// Parsers keep their source, and an archive cannot be read in two places at once: the member goes to disk, into a file
/// without a name that is gone when it is dropped.
fn unpack<R: Read>(
    member: &mut ZipFile<'_, R>,
    archive_name: &str,
    scratch: &Path,
    left: &mut u64,
) -> Result<File, ImportError> {
    let mut unpacked = tempfile::tempfile_in(scratch)?;
    let by_ratio = member.compressed_size().saturating_mul(LARGEST_RATIO).max(RATIO_FROM);
    let most = by_ratio.min(*left);
    let n_bytes =
        io::copy(&mut member.by_ref().take(most + 1), &mut unpacked).map_err(|error| broken(member.name(), error))?;
    if n_bytes > by_ratio {
        let why = format!("{} unpacks to more than {LARGEST_RATIO} times its size", member.name());
        return Err(broken(archive_name, why));
    }
    *left = left.checked_sub(n_bytes).ok_or_else(|| broken(archive_name, "it unpacks to more than 1 GB"))?;
    unpacked.rewind()?;
    Ok(unpacked)
}

/// A file of which only so much may be read. The reader of archives reads the whole table of contents into memory, however
/// long it claims to be.
struct Metered {
    file: File,
    left: Rc<Cell<u64>>,
}

impl Read for Metered {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(out)?;
        let too_large = || io::Error::other("its table of contents is too large");
        self.left.set(self.left.get().checked_sub(n as u64).ok_or_else(too_large)?);
        Ok(n)
    }
}

impl Seek for Metered {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

fn broken(name: &str, why: impl std::fmt::Display) -> ImportError {
    ImportError::Archive { file: name.to_owned(), why: why.to_string() }
}
