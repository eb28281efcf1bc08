//! Connections to other services that an operator created on the settings page. The caller encrypts their content.

use chrono::{DateTime, Utc};

use super::{Store, StoreError};

/// A stored connection. The content is encrypted.
#[derive(Clone)]
pub struct SealedConnection {
    pub service: String,
    pub sealed: Vec<u8>,
    pub updated_at: DateTime<Utc>,
}

impl Store {
    pub async fn connections(&self) -> Result<Vec<SealedConnection>, StoreError> {
        const SQL: &str = "SELECT service, sealed, updated_at FROM connections ORDER BY service";
        let rows: Vec<(String, Vec<u8>, DateTime<Utc>)> = self.read(SQL).fetch_all().await?;
        let connection = |(service, sealed, updated_at)| SealedConnection { service, sealed, updated_at };
        Ok(rows.into_iter().map(connection).collect())
    }

    /// Stores the connection of a service and replaces an earlier one. Returns the time.
    pub async fn put_connection(&self, service: &str, sealed: &[u8]) -> Result<DateTime<Utc>, StoreError> {
        const SQL: &str = "INSERT INTO connections (service, sealed, updated_at) VALUES ($1, $2, $3)
            ON CONFLICT (service) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at";
        let at = self.clock.now();
        self.write(SQL).bind(service).bind(sealed).bind(at).execute().await?;
        Ok(at)
    }

    pub async fn remove_connection(&self, service: &str) -> Result<(), StoreError> {
        const SQL: &str = "DELETE FROM connections WHERE service = $1";
        let n_removed = self.write(SQL).bind(service).execute().await?;
        if n_removed == 0 { Err(StoreError::NotFound) } else { Ok(()) }
    }
}
