//! The migrations of both databases, in order. A new one is a file in each folder; the build script lists them.

use std::borrow::Cow;

use sqlx::{
    SqlStr,
    migrate::{Migration, MigrationType, Migrator},
};

/// File name and statements of each.
type Files = &'static [(&'static str, &'static str)];

include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

/// All migrations of SQLite.
pub(crate) fn sqlite() -> Migrator {
    migrator(SQLITE)
}

/// All migrations of PostgreSQL.
pub(crate) fn postgres() -> Migrator {
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
    fn both_databases_have_the_same_migrations() {
        let names = |files: Files| files.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        assert_eq!(names(SQLITE), names(POSTGRES));
        assert_eq!(newest(), sqlite().migrations.last().map(|migration| migration.version));
    }
}
