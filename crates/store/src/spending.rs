//! Model tokens of users: reserved before a call and settled after it, atomically on all nodes.

use engine::UserId;
use music::DocumentId;

use super::{
    Limited, Store, StoreError,
    limits::{day_of, seconds_to_midnight},
};

/// The purpose of a model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// An answer in a conversation.
    Answer,
    /// A description of a track, or a rewording of a search. It has its own limit within the daily limit.
    Background,
}

/// Tokens a user may spend per day. 0 = no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenLimits {
    pub per_day: u64,
    pub background_per_day: u64,
}

impl TokenLimits {
    /// Whether calls for this purpose are counted.
    pub fn count(self, purpose: Purpose) -> bool {
        self.per_day > 0 || (purpose == Purpose::Background && self.background_per_day > 0)
    }
}

/// The tokens that were reserved for one call.
#[derive(Clone, Debug)]
pub struct Reservation {
    owner: UserId,
    purpose: Purpose,
    day: i64,
    n_tokens: i64,
}

/// One statement, so that two concurrent calls cannot both be the last one allowed.
const RESERVE: &str = "INSERT INTO token_days (user_id, day, tokens, background) VALUES ($1, $2, $3, $4)
    ON CONFLICT (user_id, day) DO UPDATE SET
        tokens = token_days.tokens + excluded.tokens, background = token_days.background + excluded.background
    WHERE (token_days.tokens < $5 OR $5 = 0) AND (token_days.background < $6 OR $6 = 0)
    RETURNING tokens";
const SETTLE: &str = "UPDATE token_days SET tokens = tokens + $3, background = background + $4
    WHERE user_id = $1 AND day = $2";

impl Store {
    /// Reserves tokens for a call, or returns why it must wait. The last call of a day may exceed the limit, because
    /// the cost of an answer is known only when it is complete.
    pub async fn reserve_tokens(
        &self,
        owner: &UserId,
        purpose: Purpose,
        n_tokens: u64,
        limits: TokenLimits,
    ) -> Result<Result<Reservation, Limited>, StoreError> {
        let at = self.clock.now();
        let n_tokens = whole(n_tokens);
        let reservation = Reservation { owner: owner.clone(), purpose, day: day_of(at), n_tokens };
        let cap = if purpose == Purpose::Background { limits.background_per_day } else { 0 };
        let row: Option<(i64,)> = self
            .write(RESERVE)
            .bind(owner.as_str())
            .bind(reservation.day)
            .bind(n_tokens)
            .bind(reservation.background(n_tokens))
            .bind(whole(limits.per_day))
            .bind(whole(cap))
            .fetch_optional()
            .await?;
        Ok(row.map(|_| reservation).ok_or_else(|| {
            let message = match purpose {
                Purpose::Answer => used_up(limits.per_day),
                Purpose::Background => "Today's model tokens for descriptions and rewording are used up.".into(),
            };
            Limited { message, retry_after_seconds: seconds_to_midnight(at) }
        }))
    }

    /// Replaces the reserved tokens by the used ones.
    pub async fn settle_tokens(&self, reservation: &Reservation, n_used: u64) -> Result<(), StoreError> {
        let difference = whole(n_used).saturating_sub(reservation.n_tokens);
        self.write(SETTLE)
            .bind(reservation.owner.as_str())
            .bind(reservation.day)
            .bind(difference)
            .bind(reservation.background(difference))
            .execute()
            .await?;
        Ok(())
    }
}

impl Store {
    /// The user who pays for the description of a track: the one who has had it longest. The description of a track
    /// without owners is paid from a separate budget.
    pub async fn payer_of(&self, document: DocumentId) -> Result<UserId, StoreError> {
        const SQL: &str = "SELECT owner FROM (
                SELECT i.owner, 0 AS place, '' AS since FROM ingested_tracks i WHERE i.id = $1 AND i.owner <> ''
                UNION ALL SELECT l.user_id, 1, CAST(l.added_at AS TEXT) FROM library_tracks l
                    JOIN ingested_tracks i ON i.recording_id = l.recording_id WHERE i.id = $1
            ) AS payers ORDER BY place, since, owner LIMIT 1";
        let row: Option<(String,)> = self.read(SQL).bind(document.to_string()).fetch_optional().await?;
        Ok(row.map_or_else(|| UserId::new(""), |(owner,)| UserId::new(owner)))
    }
}

impl Reservation {
    fn background(&self, n_tokens: i64) -> i64 {
        if self.purpose == Purpose::Background { n_tokens } else { 0 }
    }
}

pub(crate) fn used_up(per_day: u64) -> String {
    format!("Today's {per_day} model tokens are used up. New ones come at midnight UTC.")
}

fn whole(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tokens_are_reserved_until_the_limit_and_settled_by_what_was_used() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("t.db").display()), 2).await.unwrap();
        let (ann, bob) = (UserId::new("ann"), UserId::new("bob"));
        let limits = TokenLimits { per_day: 100, background_per_day: 30 };
        let reserve = async |owner, purpose, n| store.reserve_tokens(owner, purpose, n, limits).await.unwrap();
        let first = reserve(&ann, Purpose::Answer, 60).await.unwrap();
        store.settle_tokens(&first, 20).await.unwrap();
        assert!(reserve(&ann, Purpose::Background, 30).await.is_ok(), "20 of 100 are used");
        assert!(reserve(&ann, Purpose::Background, 1).await.is_err(), "30 of 30 are used");
        assert!(reserve(&ann, Purpose::Answer, 60).await.is_ok(), "50 of 100 are used");
        let refused = reserve(&ann, Purpose::Answer, 1).await.unwrap_err();
        assert!(refused.message.contains("100") && refused.retry_after_seconds > 0);
        assert!(reserve(&bob, Purpose::Answer, 1).await.is_ok());
    }
}
