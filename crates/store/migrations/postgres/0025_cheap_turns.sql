-- A running turn is updated with every group of its events and with every renewal of its lease. Without an index on what these
-- change, and with room in its page, an update adds no entry to any index. Running turns are few: `turns_running` finds those
-- whose lease has expired.
DROP INDEX turns_by_lease;
ALTER TABLE turns SET (fillfactor = 50);

-- A row of the log is inserted only by a statement that has locked its turn, so that looking for the turn again is needless.
-- The log still goes with its turn.
ALTER TABLE turn_log DROP CONSTRAINT turn_events_turn_id_fkey;
CREATE FUNCTION delete_turn_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM turn_log WHERE turn_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER turn_log_with_turn AFTER DELETE ON turns FOR EACH ROW EXECUTE FUNCTION delete_turn_log();
