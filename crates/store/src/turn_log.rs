//! The log of a turn: saved with a compare-and-set of its length, read in order, deleted one hour after the turn has
//! ended.
//!
//! A turn stores the number of events in its log. The statement that checks the lease also increases this number. So a
//! save whose reply was lost is recognised by its number, and a node without the lease saves nothing.

use chrono::TimeDelta;
use engine::{
    TurnId,
    mutants::{Mutant, statement},
};
use sqlx::Postgres;
use uuid::Uuid;

use super::{
    Store, StoreError,
    db::Db,
    lender::Lender,
    writer::{Durability, Writer, in_one_transaction},
};

/// Events of an ended turn can be replayed for this long. After that, only the stored conversation remains.
pub(super) const KEEP_EVENTS: TimeDelta = TimeDelta::hours(1);

/// The next events of one turn, as one row of its log: a JSON array.
#[derive(Clone, Debug)]
pub struct Save {
    pub turn: TurnId,
    /// The token of the lease under which the turn runs here.
    pub token: i64,
    /// The number of events that the log already contains.
    pub first: i64,
    pub n_events: i64,
    pub events: String,
}

/// The result of a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    Done,
    /// The log contains this many events: the reply to an earlier save was lost, or the database lost its last commits.
    Holds(i64),
    /// The turn has ended, or another node holds its lease.
    Lost,
}

pub(super) const INSERT_EVENTS: &str = "INSERT INTO turn_log (turn_id, position, events) VALUES ($1, $2, $3)";
const STATE: &str = "SELECT lease_token, n_events, status FROM turns WHERE id = $1";
/// One turn. The turn advances last: the condition holds for both statements or for none.
const ADVANCE_SQLITE: &str = "INSERT INTO turn_log (turn_id, position, events) SELECT id, $3, $5 FROM turns
        WHERE id = $1 AND lease_token = $2 AND n_events = $3 AND status = 'running';
    UPDATE turns SET n_events = $4
        WHERE id = $1 AND lease_token = $2 AND n_events = $3 AND status = 'running' RETURNING id";
/// All turns in one statement. No other transaction locks several running turns and waits: leases are renewed with `SKIP
/// LOCKED`. Two nodes that save the same turns lock them in the order of the arrays, which is that of the ids.
const ADVANCE_ALL: &str = "WITH advanced AS (
        UPDATE turns SET n_events = n_after
        FROM UNNEST($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[])
            AS saves (turn_id, token, first, n_after, events)
        WHERE turns.id = turn_id AND lease_token = token AND n_events = first AND status = 'running'
        RETURNING turn_id, first, events
    )
    INSERT INTO turn_log (turn_id, position, events) SELECT turn_id, first, events FROM advanced RETURNING turn_id";

impl Store {
    /// Saves events of several turns in one commit. The answer has one result for each save, in the same order. A save
    /// that is not possible does not prevent the others. After an error it is unknown whether they are saved; the next
    /// save finds out.
    pub async fn save_events(&self, saves: &[Save], durability: Durability) -> Result<Vec<Saved>, StoreError> {
        #[cfg(debug_assertions)]
        crate::failpoint::reached();
        let saved = match &self.db {
            Db::Sqlite { write, .. } => {
                self.paces.turn_wrote();
                save_on_sqlite(write, saves, durability).await?
            }
            Db::Postgres { pool, log } => {
                let pool = if durability == Durability::Process { log } else { pool };
                save_on_postgres(pool, saves).await?
            }
        };
        #[cfg(debug_assertions)]
        crate::failpoint::reached();
        let mut outcomes = Vec::with_capacity(saves.len());
        for save in saves {
            if saved.contains(&save.turn.0) {
                self.notices.notify_events(save.turn);
                outcomes.push(Saved::Done);
            } else {
                outcomes.push(self.look_at_log(save).await?);
            }
        }
        Ok(outcomes)
    }

    pub(super) async fn look_at_log(&self, save: &Save) -> Result<Saved, StoreError> {
        let row: Option<(i64, i64, String)> = self.read(STATE).bind(save.turn.0).fetch_optional().await?;
        Ok(match row {
            Some((token, n_events, status)) if token == save.token && status == "running" => Saved::Holds(n_events),
            Some(_) | None => Saved::Lost,
        })
    }

    /// The saved events from `position` on, in at most `n_rows` rows.
    pub async fn events_from(&self, turn: TurnId, position: i64, n_rows: i64) -> Result<Vec<String>, StoreError> {
        const SQL: &str =
            "SELECT events FROM turn_log WHERE turn_id = $1 AND position >= $2 ORDER BY position LIMIT $3";
        let rows: Vec<(String,)> = self.read(SQL).bind(turn.0).bind(position).bind(n_rows).fetch_all().await?;
        Ok(rows.into_iter().map(|(events,)| events).collect())
    }

    /// Deletes the events of turns that ended long ago.
    pub async fn forget_old_events(&self) -> Result<u64, StoreError> {
        // A few turns in one transaction: the log of a day is long, and SQLite has one writer.
        const SQL: &str = "DELETE FROM turn_log WHERE turn_id IN (SELECT id FROM turns WHERE ended_at < $1
            AND EXISTS (SELECT 1 FROM turn_log WHERE turn_id = turns.id) LIMIT 10)";
        let before = self.clock.now() - KEEP_EVENTS;
        self.in_parts(SQL, |query| query.bind(before)).await
    }
}

/// One wait for SQLite's thread for each turn. One statement for all turns would need their events inside another JSON text,
/// which SQLite parses again for each value that it takes out: seven times the instructions.
async fn save_on_sqlite(writer: &Writer, saves: &[Save], durability: Durability) -> Result<Vec<Uuid>, StoreError> {
    let advance = statement(ADVANCE_SQLITE, Mutant::SaveUnfenced, "lease_token = $2", "lease_token >= $2");
    let mut lent = writer.lend().await?.closes_unless_given_back();
    let mut saved = Vec::new();
    for (at, save) in saves.iter().enumerate() {
        let advanced: Vec<(Uuid,)> = sqlx::query_as(in_one_transaction(advance, at, saves.len()))
            .bind(save.turn.0)
            .bind(save.token)
            .bind(save.first)
            .bind(save.first + save.n_events)
            .bind(&save.events)
            .fetch_all(&mut *lent)
            .await?;
        saved.extend(advanced.into_iter().map(|(id,)| id));
    }
    lent.give_back();
    if durability == Durability::Power {
        writer.flush().await?;
    }
    Ok(saved)
}

async fn save_on_postgres(pool: &Lender<Postgres>, saves: &[Save]) -> Result<Vec<Uuid>, StoreError> {
    let advance = statement(ADVANCE_ALL, Mutant::SaveUnfenced, "lease_token = token", "lease_token >= token");
    let mut lent = pool.lend().await?;
    let saved: Vec<(Uuid,)> = sqlx::query_as(advance)
        .bind(saves.iter().map(|save| save.turn.0).collect::<Vec<_>>())
        .bind(saves.iter().map(|save| save.token).collect::<Vec<_>>())
        .bind(saves.iter().map(|save| save.first).collect::<Vec<_>>())
        .bind(saves.iter().map(|save| save.first + save.n_events).collect::<Vec<_>>())
        .bind(saves.iter().map(|save| save.events.as_str()).collect::<Vec<_>>())
        .fetch_all(&mut *lent)
        .await?;
    lent.give_back();
    Ok(saved.into_iter().map(|(id,)| id).collect())
}
