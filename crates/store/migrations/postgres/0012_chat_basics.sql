-- Pinned conversations come first in lists.
ALTER TABLE conversations ADD COLUMN pinned BOOLEAN NOT NULL DEFAULT FALSE;
DROP INDEX conversations_by_user;
CREATE INDEX conversations_by_user ON conversations (user_id, pinned, updated_at);
-- Where the title is from: 'question' (its first words), 'found' (what a tool found), 'model' or 'user'. A title of an
-- earlier version may be the user's own, so it counts as theirs and is never replaced.
ALTER TABLE conversations ADD COLUMN title_by TEXT NOT NULL DEFAULT 'user';
