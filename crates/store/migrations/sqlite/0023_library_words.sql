-- An index of the words of a user's tracks: `q` of a listing reads the entries of its words in place of all titles, artists and
-- albums of the user. `library_tracks.searchable` has the words of a track from now on, folded and sorted, each after a space;
-- `stored_words.rs` converts the rows of older versions. The words are made by Segue, so that the tokenizer only splits them.
CREATE VIRTUAL TABLE library_words USING fts5 (owner, words, content = '', contentless_delete = 1, detail = 'column',
    prefix = '1 2 3', tokenize = 'ascii');

-- The rows of the index have numbers. Those of `library_tracks` are no good: VACUUM and a backup change them.
CREATE TABLE library_word_rows (
    id           INTEGER PRIMARY KEY,
    user_id      TEXT NOT NULL,
    recording_id TEXT NOT NULL,
    UNIQUE (user_id, recording_id)
);

-- The owner is a word too, so that only the owner's entries are counted. Any id is one word in hexadecimal.
CREATE TRIGGER library_words_add AFTER INSERT ON library_tracks WHEN NEW.removed_at IS NULL
BEGIN
    INSERT INTO library_word_rows (user_id, recording_id) VALUES (NEW.user_id, NEW.recording_id);
    INSERT INTO library_words (rowid, owner, words) SELECT id, HEX(user_id), NEW.searchable FROM library_word_rows
    WHERE user_id = NEW.user_id AND recording_id = NEW.recording_id;
END;
CREATE TRIGGER library_words_take AFTER DELETE ON library_tracks WHEN OLD.removed_at IS NULL
BEGIN
    DELETE FROM library_words WHERE rowid = (SELECT id FROM library_word_rows
        WHERE user_id = OLD.user_id AND recording_id = OLD.recording_id);
    DELETE FROM library_word_rows WHERE user_id = OLD.user_id AND recording_id = OLD.recording_id;
END;
CREATE TRIGGER library_words_change AFTER UPDATE OF user_id, recording_id, searchable, removed_at ON library_tracks
WHEN (OLD.removed_at IS NULL) <> (NEW.removed_at IS NULL) OR OLD.searchable <> NEW.searchable
    OR OLD.recording_id <> NEW.recording_id OR OLD.user_id <> NEW.user_id
BEGIN
    DELETE FROM library_words WHERE rowid = (SELECT id FROM library_word_rows
        WHERE user_id = OLD.user_id AND recording_id = OLD.recording_id);
    DELETE FROM library_word_rows WHERE user_id = OLD.user_id AND recording_id = OLD.recording_id;
    INSERT INTO library_word_rows (user_id, recording_id)
    SELECT NEW.user_id, NEW.recording_id WHERE NEW.removed_at IS NULL;
    INSERT INTO library_words (rowid, owner, words) SELECT id, HEX(user_id), NEW.searchable FROM library_word_rows
    WHERE user_id = NEW.user_id AND recording_id = NEW.recording_id;
END;

DROP INDEX library_tracks_by_words;
-- Rows of older versions; none once they are converted.
CREATE INDEX library_tracks_old_words ON library_tracks (user_id, recording_id) WHERE searchable NOT LIKE ' %';
