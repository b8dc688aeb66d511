-- A person's words with a denial follow as a text where the agent's protocol can't carry them; 1: the agent has them not yet.
ALTER TABLE asks ADD COLUMN words_due INTEGER NOT NULL DEFAULT 0;
CREATE INDEX asks_words_due ON asks (decided) WHERE words_due = 1;
