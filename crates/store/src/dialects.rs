//! Texts of statements, made once.

use std::sync::LazyLock;

/// A statement that is made of parts, once: the text must stay the same, because statements are cached by their text.
pub(crate) type Sql = LazyLock<String>;

/// A statement in the SQL of each database.
pub(crate) struct Dialects {
    pub(crate) sqlite: String,
    pub(crate) postgres: String,
}

impl Dialects {
    /// A statement that locks rows. SQLite has one writer, so it needs no such locks and does not know them.
    pub(crate) fn locking(sql: &str) -> Self {
        const LOCKS: [&str; 3] = [" FOR UPDATE SKIP LOCKED", " FOR NO KEY UPDATE", " FOR UPDATE"];
        let sqlite = LOCKS.iter().fold(sql.to_owned(), |sql, lock| sql.replace(lock, ""));
        Self { sqlite, postgres: sql.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_gets_a_statement_without_its_row_locks() {
        for (lock, rest) in
            [(" FOR UPDATE", ""), (" FOR NO KEY UPDATE", ""), (" FOR UPDATE SKIP LOCKED", ") RETURNING id")]
        {
            let sql = format!("SELECT id FROM turns WHERE id = $1{lock}{rest}");
            let Dialects { sqlite, postgres } = Dialects::locking(&sql);
            assert_eq!((sqlite, postgres), (format!("SELECT id FROM turns WHERE id = $1{rest}"), sql));
        }
    }
}
