//! The journal row of a call, opened together with the events before the call: one commit in place of two.

use engine::{
    Call,
    mutants::{Mutant, statement},
};
use sqlx::types::Json;
use uuid::Uuid;

use super::{Save, Saved, Store, StoreError};

const POSTGRES: &str = "WITH advanced AS (
        UPDATE turns SET n_events = $4
        WHERE id = $1 AND lease_token = $2 AND n_events = $3 AND status = 'running' RETURNING id
    ), logged AS (
        INSERT INTO turn_log (turn_id, position, events) SELECT id, $3, $5 FROM advanced
    ), begun AS (
        INSERT INTO tool_calls
            (id, message_id, user_id, tool_name, title, parameters, status, lease_token, created_at)
        SELECT $6, $7, $8, $9, $10, $11, 'running', $2, $12 FROM advanced ON CONFLICT (id) DO NOTHING
    )
    SELECT id FROM advanced";
/// The turn advances last: the condition holds for all three statements or for none.
const SQLITE: &str = "INSERT INTO turn_log (turn_id, position, events) SELECT id, $3, $5 FROM turns
        WHERE id = $1 AND lease_token = $2 AND n_events = $3 AND status = 'running';
    INSERT INTO tool_calls (id, message_id, user_id, tool_name, title, parameters, status, lease_token, created_at)
        SELECT $6, $7, $8, $9, $10, $11, 'running', $2, $12 FROM turns
        WHERE id = $1 AND lease_token = $2 AND n_events = $3 AND status = 'running' ON CONFLICT (id) DO NOTHING;
    UPDATE turns SET n_events = $4
        WHERE id = $1 AND lease_token = $2 AND n_events = $3 AND status = 'running' RETURNING id";

impl Store {
    /// Saves the events before a call and opens its row, or does neither. A second attempt returns `Holds`.
    pub async fn begin_call_after(&self, save: &Save, call: &Call, title: &str) -> Result<Saved, StoreError> {
        self.paces.turn_wrote();
        self.call_leases.hold(call.id, save.token);
        let fenced = |sql| statement(sql, Mutant::SaveUnfenced, "lease_token = $2", "lease_token >= $2");
        let advanced: Vec<(Uuid,)> = self
            .write_together(fenced(SQLITE), fenced(POSTGRES))
            .bind(save.turn.0)
            .bind(save.token)
            .bind(save.first)
            .bind(save.first + save.n_events)
            .bind(save.events.as_str())
            .bind(call.id.0)
            .bind(call.message.map(|message| message.0))
            .bind(call.owner.as_str())
            .bind(&call.name)
            .bind(title)
            .bind(Json(&*call.input))
            .bind_now()
            .fetch_all()
            .await?;
        if advanced.is_empty() {
            return self.look_at_log(save).await;
        }
        self.notices.notify_events(save.turn);
        Ok(Saved::Done)
    }
}
