//! How a row of a query becomes a struct: each field is read from the column of its name, in both databases.
//!
//! `derive(FromRow)` of sqlx does the same, but its macro crate compiles sqlx, its drivers, SQLite and tokio a second
//! time for the build host, which costs a fresh `make run` minutes.

macro_rules! from_row {
    // Fields after the semicolon are in no column: they keep their default.
    ($type:ty { $($field:ident),* $(; $absent:ident)? }) => {
        from_row!(sqlx::sqlite::SqliteRow, $type { $($field),* $(; $absent)? });
        from_row!(sqlx::postgres::PgRow, $type { $($field),* $(; $absent)? });
    };
    ($row:ty, $type:ty { $($field:ident),* $(; $absent:ident)? }) => {
        impl sqlx::FromRow<'_, $row> for $type {
            fn from_row(row: &$row) -> Result<Self, sqlx::Error> {
                Ok(Self { $($field: sqlx::Row::try_get(row, stringify!($field))?,)* $($absent: Default::default())? })
            }
        }
    };
}
