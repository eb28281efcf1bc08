-- The table has the name of what it describes: this installation.
ALTER TABLE house RENAME TO installation;
