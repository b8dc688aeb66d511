-- HMAC over a project rule's row; the secret is not in this file. A rule without one grants nothing.
ALTER TABLE rules ADD COLUMN seal TEXT NOT NULL DEFAULT '';
