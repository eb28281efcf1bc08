//! ZIP archives: valid, broken and malicious ones.

use std::{
    fs::File,
    io::{Seek, Write},
};

use formats::{GatheredFile, ImportError};
use zip::{ZipWriter, write::SimpleFileOptions};

const CSV: &[u8] = b"title,artist\nRain,Ivy Marlow\n";

/// An archive in a folder. Its members are unpacked into the same folder.
struct Archive {
    folder: tempfile::TempDir,
    zip: ZipWriter<File>,
}

impl Archive {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), zip: ZipWriter::new(tempfile::tempfile().unwrap()) }
    }

    fn add(mut self, name: &str, write: impl FnOnce(&mut dyn Write)) -> Self {
        self.zip.start_file(name, SimpleFileOptions::default()).unwrap();
        write(&mut self.zip);
        self
    }

    fn import(self) -> Result<Vec<GatheredFile>, ImportError> {
        let mut file = self.zip.finish().unwrap();
        file.rewind().unwrap();
        let gathered = formats::gather_uploaded(file, "data.zip", self.folder.path());
        assert_eq!(self.folder.path().read_dir().unwrap().count(), 0, "unpacked members are removed");
        gathered
    }

    fn refusal(self) -> String {
        self.import().unwrap_err().to_string()
    }
}

fn zeros(out: &mut dyn Write, n_mebibytes: usize) {
    let piece = vec![b' '; 1 << 20];
    (0..n_mebibytes).for_each(|_| out.write_all(&piece).unwrap());
}

#[test]
fn each_member_is_imported_separately_and_other_files_are_skipped() {
    let files = Archive::new()
        .add("MyData/all.csv", |out| out.write_all(CSV).unwrap())
        .add("MyData/Read me first.pdf", |out| out.write_all(b"%PDF\0").unwrap())
        .add("__MACOSX/._all.csv", |out| out.write_all(CSV).unwrap())
        .add("inner.zip", |out| out.write_all(b"PK\x03\x04....").unwrap())
        .import()
        .unwrap();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    assert_eq!((file.name.as_str(), file.kind.id(), file.gathered.tracks.len()), ("MyData/all.csv", "table", 1));
    assert_eq!(file.gathered.left_out["an archive inside an archive; nested archives are not read"], 1);
}

#[test]
fn a_small_archive_that_unpacks_to_a_large_size_is_refused_early() {
    let refusal = Archive::new().add("a.csv", |out| zeros(out, 30)).refusal();
    assert_eq!(refusal, "data.zip: a.csv unpacks to more than 200 times its size");
}

#[test]
fn an_archive_of_many_members_is_refused_before_any_is_read() {
    let many = (0..5001).fold(Archive::new(), |archive, n| archive.add(&format!("{n}.csv"), |_| {}));
    assert_eq!(many.refusal(), "data.zip: it has more than 5000 files");
    // 60 bytes and a long name for each member in the central directory.
    let name = "x".repeat(60_000);
    let long = (0..80).fold(Archive::new(), |archive, n| archive.add(&format!("{n}{name}.csv"), |_| {}));
    let refusal = long.refusal();
    assert!(refusal.contains("its central directory is too large"), "{refusal}");
}

#[test]
fn a_broken_archive_or_member_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.zip");
    std::fs::write(&path, b"PK\x03\x04 and nothing more").unwrap();
    assert!(formats::gather_files(&path, folder.path()).unwrap_err().to_string().starts_with("cut.zip: "));
    let refusal = Archive::new().add("x/history.json", |out| {
        out.write_all(br#"[{"msPlayed": 1, "trackName""#).unwrap();
    });
    assert!(refusal.refusal().starts_with("x/history.json: line 1: this is not JSON"));
}
