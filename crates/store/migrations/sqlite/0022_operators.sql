-- Accounts that may change the settings of the installation, beside those of SEGUE_OPERATORS.
ALTER TABLE accounts ADD COLUMN is_operator BOOLEAN NOT NULL DEFAULT FALSE;
