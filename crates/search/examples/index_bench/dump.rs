//! What the index was given, for the measurement of others.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use search::embed::StaticTable;

/// `None` where nothing is asked for.
pub(crate) struct Dump(Option<(BufWriter<File>, BufWriter<File>)>);

impl Dump {
    pub(crate) fn asked(table: &StaticTable, queries: &[String]) -> anyhow::Result<Self> {
        let Some(folder) = std::env::var_os("BENCH_DUMP").map(PathBuf::from) else { return Ok(Self(None)) };
        let mut asked = Self::open(&folder, "queries")?;
        for query in queries {
            asked.add(query, &table.vector(query))?;
        }
        Self::open(&folder, "tracks")
    }

    fn open(folder: &Path, name: &str) -> anyhow::Result<Self> {
        let create = |ending: &str| {
            Ok::<_, std::io::Error>(BufWriter::new(File::create(folder.join(name).with_extension(ending))?))
        };
        Ok(Self(Some((create("txt")?, create("f32")?))))
    }

    pub(crate) fn add(&mut self, text: &str, vector: &[f32]) -> anyhow::Result<()> {
        let Some((texts, vectors)) = &mut self.0 else { return Ok(()) };
        writeln!(texts, "{}", text.replace('\n', " "))?;
        for number in vector {
            vectors.write_all(&number.to_le_bytes())?;
        }
        Ok(())
    }
}
