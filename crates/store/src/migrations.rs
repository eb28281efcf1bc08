//! The migrations of both databases, in order. A new one is a file in each folder and a line here.

use std::borrow::Cow;

use sqlx::{
    SqlStr,
    migrate::{Migration, MigrationType, Migrator},
};

/// File name and statements of each.
type Files = &'static [(&'static str, &'static str)];

macro_rules! migrations {
    ($($name:literal,)*) => {
        const SQLITE: Files = &[$(($name, include_str!(concat!("../migrations/sqlite/", $name, ".sql"))),)*];
        const POSTGRES: Files = &[$(($name, include_str!(concat!("../migrations/postgres/", $name, ".sql"))),)*];
    };
}

migrations! {
    "0001_turns_and_tasks",
    "0002_music",
    "0003_accounts",
    "0004_feedback",
    "0005_import_and_ingestion",
    "0006_shared_index",
    "0007_turns",
    "0008_recordings",
    "0009_isolation",
    "0010_models",
    "0011_playlists",
    "0012_chat_basics",
    "0013_collection",
    "0014_message_roles",
    "0015_library_indexes",
    "0016_fair_queues_and_settings",
    "0017_library_groups",
    "0018_order_and_trash",
    "0019_fingerprints",
    "0020_compression",
}

/// All migrations of SQLite.
pub fn sqlite() -> Migrator {
    migrator(SQLITE)
}

/// All migrations of PostgreSQL.
pub fn postgres() -> Migrator {
    migrator(POSTGRES)
}

/// The version of the newest migration.
pub(crate) fn newest() -> Option<i64> {
    sqlite().iter().map(|migration| migration.version).max()
}

/// Version and description come from the file name, as `sqlx::migrate!` names them in databases that exist already.
fn migrator(files: Files) -> Migrator {
    let migrations = files.iter().map(|(name, sql)| {
        let (version, description) = name.split_once('_').expect("a migration is called 0001_what_it_does");
        let version = version.parse().expect("a migration begins with its number");
        let description = Cow::Owned(description.replace('_', " "));
        Migration::new(version, description, MigrationType::Simple, SqlStr::from_static(sql), false)
    });
    Migrator::with_migrations(migrations.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_in_the_list() {
        for (folder, files) in [("sqlite", SQLITE), ("postgres", POSTGRES)] {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/");
            let mut found: Vec<_> = std::fs::read_dir(format!("{path}{folder}"))
                .unwrap()
                .map(|file| file.unwrap().file_name().into_string().unwrap())
                .collect();
            found.sort();
            let listed: Vec<_> = files.iter().map(|(name, _)| format!("{name}.sql")).collect();
            assert_eq!(found, listed, "{folder}");
        }
    }
}
