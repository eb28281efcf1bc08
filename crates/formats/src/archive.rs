//! The imported files: one file, a folder, or the members of a ZIP archive. Each file is gathered separately.

use std::{
    cell::Cell,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    rc::Rc,
};

use zip::{ZipArchive, read::ZipFile};

use super::{FormatKind, Gathered, ImportError, Unrecognised, folder_import, gather_upload};

/// One file and everything that was read from it.
#[derive(Clone, Debug, PartialEq)]
pub struct GatheredFile {
    /// The file name; inside an archive, the path in the archive.
    pub name: String,
    pub kind: FormatKind,
    pub gathered: Gathered,
}

/// Limits for archives. An archive that exceeds them is treated as an attack.
pub(crate) struct Limits {
    n_members: usize,
    /// The total unpacked size of all members.
    n_bytes: u64,
    /// The maximum compression ratio of a member.
    ratio: u64,
    /// Members smaller than this are not checked for their ratio.
    ratio_from: u64,
    /// How much may be read to find and read the central directory: 46 bytes and a name per member.
    directory: u64,
}

/// A music collection has some thousands of files, a history of many years about thirty. Text shrinks to a tenth,
/// rarely to a fiftieth.
pub(crate) const LIMITS: Limits =
    Limits { n_members: 5000, n_bytes: 1 << 30, ratio: 200, ratio_from: 1 << 20, directory: 4 << 20 };

const NESTED: &str = "an archive inside an archive; nested archives are not read";

/// Everything at a path. Members of archives are unpacked one at a time into `scratch`.
///
/// A broken member rejects its whole archive, so that no archive is imported in part. Files of a folder are
/// independent of each other.
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
            in_archive(file, name, scratch, &LIMITS)
        }
        Err(error) => Err(error),
    }
}

/// Other files (a read-me, an address book) are skipped. An archive without any importable file is rejected.
fn in_archive(
    file: File,
    archive_name: &str,
    scratch: &Path,
    limits: &Limits,
) -> Result<Vec<GatheredFile>, ImportError> {
    let (mut files, mut n_nested) = (vec![], 0_u64);
    each_member(file, archive_name, scratch, limits, &mut |name, short, unpacked| {
        match gather_upload(unpacked, short) {
            Ok((kind, gathered)) => files.push(GatheredFile { name: name.to_owned(), kind, gathered }),
            Err(ImportError::Unrecognised(Unrecognised::Archive)) => n_nested += 1,
            Err(ImportError::Unrecognised(_)) => {}
            Err(ImportError::Broken(error)) => return Err(broken(name, error)),
            Err(error @ (ImportError::Unreadable(_) | ImportError::Archive { .. })) => return Err(error),
        }
        Ok(true)
    })?;
    match files.first_mut() {
        Some(first) if n_nested > 0 => _ = first.gathered.left_out.insert(NESTED, n_nested),
        Some(_) => {}
        None => return Err(Unrecognised::Archive.into()),
    }
    Ok(files)
}

/// Gets the path in the archive, the file name and the unpacked member, and returns whether the next one is wanted.
pub(crate) type TakeMember<'a> = dyn FnMut(&str, &str, File) -> Result<bool, ImportError> + 'a;

pub(crate) fn each_member(
    file: File,
    archive_name: &str,
    scratch: &Path,
    limits: &Limits,
    take: &mut TakeMember<'_>,
) -> Result<(), ImportError> {
    let budget = Rc::new(Cell::new(limits.directory));
    let mut archive =
        ZipArchive::new(Metered { file, left: Rc::clone(&budget) }).map_err(|error| broken(archive_name, error))?;
    if archive.len() > limits.n_members {
        return Err(broken(archive_name, format!("it has more than {} files", limits.n_members)));
    }
    // The budget limits only the central directory; members have their own limits.
    budget.set(u64::MAX);
    let mut left = limits.n_bytes;
    for n in 0..archive.len() {
        let mut member = archive.by_index(n).map_err(|error| broken(archive_name, error))?;
        let name = member.name().to_owned();
        let short = name.rsplit('/').next().unwrap_or_default().to_owned();
        if member.is_dir() || short.starts_with('.') || name.starts_with("__MACOSX/") {
            continue;
        }
        let unpacked = unpack(&mut member, scratch, &mut left, limits).map_err(|error| error.in_file(archive_name))?;
        if !take(&name, &short, unpacked)? {
            break;
        }
    }
    Ok(())
}

/// Parsers own their source, and an archive cannot be read at two positions at once. The member is therefore copied
/// to an unnamed temporary file, which is deleted when it is dropped.
fn unpack<R: Read>(
    member: &mut ZipFile<'_, R>,
    scratch: &Path,
    left: &mut u64,
    limits: &Limits,
) -> Result<File, Unpacking> {
    let mut unpacked = tempfile::tempfile_in(scratch).map_err(Unpacking::NoRoom)?;
    let by_ratio = member.compressed_size().saturating_mul(limits.ratio).max(limits.ratio_from);
    let most = by_ratio.min(*left);
    let copied = io::copy(&mut member.by_ref().take(most + 1), &mut unpacked);
    let n_bytes = copied.map_err(|error| Unpacking::Refused(format!("{}: {error}", member.name())))?;
    if n_bytes > by_ratio {
        let why = format!("{} unpacks to more than {} times its size", member.name(), limits.ratio);
        return Err(Unpacking::Refused(why));
    }
    let too_much = || Unpacking::Refused(format!("it unpacks to more than {} MB", limits.n_bytes >> 20));
    *left = left.checked_sub(n_bytes).ok_or_else(too_much)?;
    unpacked.rewind().map_err(Unpacking::NoRoom)?;
    Ok(unpacked)
}

/// Why a member was not unpacked.
enum Unpacking {
    Refused(String),
    NoRoom(io::Error),
}

impl Unpacking {
    fn in_file(self, archive_name: &str) -> ImportError {
        match self {
            Self::Refused(why) => broken(archive_name, why),
            Self::NoRoom(error) => error.into(),
        }
    }
}

/// A file with a limit on the bytes that may be read. The ZIP reader loads the whole central directory into memory,
/// with the length that the archive claims.
struct Metered {
    file: File,
    left: Rc<Cell<u64>>,
}

impl Read for Metered {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(out)?;
        let too_large = || io::Error::other("its central directory is too large");
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    #[test]
    fn members_have_a_limit_together() {
        let mut zip = ZipWriter::new(tempfile::tempfile().unwrap());
        for n in 0..4 {
            zip.start_file(format!("{n}.csv"), SimpleFileOptions::default()).unwrap();
            zip.write_all(b"title,artist\nRain,Ivy Marlow\n").unwrap();
            zip.write_all(&vec![b' '; 900 << 10]).unwrap();
        }
        let file = zip.finish().unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let import =
            |n_bytes| in_archive(file.try_clone().unwrap(), "a.zip", scratch.path(), &Limits { n_bytes, ..LIMITS });
        assert_eq!(import(4 << 20).unwrap().len(), 4);
        assert_eq!(import(3 << 20).unwrap_err().to_string(), "a.zip: it unpacks to more than 3 MB");
    }
}
