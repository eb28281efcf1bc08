-- A message is a user's or the assistant's; a row that is neither cannot be shown to anyone.
ALTER TABLE messages ADD CONSTRAINT messages_role CHECK (role IN ('user', 'assistant'));
