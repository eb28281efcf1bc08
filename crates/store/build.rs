//! Writes the list of migrations: every file of `migrations/sqlite` and `migrations/postgres`, in order of their names.

use std::{env, fs, io, path::Path};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=migrations");
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("migrations");
    let lists = [("SQLITE", "sqlite"), ("POSTGRES", "postgres")].map(|(name, database)| {
        let mut files =
            fs::read_dir(folder.join(database))?.map(|file| Ok(file?.path())).collect::<io::Result<Vec<_>>>()?;
        files.sort();
        let lines = files.iter().map(|file| {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            format!("({name:?}, include_str!({file:?})),")
        });
        Ok::<_, io::Error>(format!("const {name}: Files = &[{}];\n", lines.collect::<String>()))
    });
    let [sqlite, postgres] = lists;
    fs::write(Path::new(&env::var("OUT_DIR").map_err(io::Error::other)?).join("migrations.rs"), sqlite? + &postgres?)
}
