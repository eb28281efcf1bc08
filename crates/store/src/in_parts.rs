//! A statement about any number of rows, in short transactions.

use super::{Store, StoreError, db::Query};

impl Store {
    /// Repeats a statement that changes a limited number of rows until it changes none, in a short transaction each. Returns how
    /// many rows it changed.
    pub(crate) async fn in_parts(
        &self,
        sql: &'static str,
        bind: impl for<'c> Fn(Query<'c>) -> Query<'c>,
    ) -> Result<u64, StoreError> {
        let mut n_all = 0;
        loop {
            let mut tx = self.begin_short().await?;
            let part = async {
                let n_rows = bind(tx.query(sql)).execute().await?;
                tx.commit().await?;
                Ok::<u64, StoreError>(n_rows)
            };
            match self.undisturbed(part).await? {
                0 => return Ok(n_all),
                n_rows => n_all += n_rows,
            }
        }
    }
}
