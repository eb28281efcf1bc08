-- Whether the sample is there, without reading all documents.
CREATE INDEX documents_of_sample ON documents (recording_id) WHERE is_sample AND track IS NOT NULL;
-- Open entries in the order of their files and lines, page by page.
CREATE INDEX open_entries_by_line ON open_entries (user_id, file, (CAST(entry ->> 'line' AS INTEGER)), id) WHERE NOT dismissed;
