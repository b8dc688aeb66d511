-- Standing permissions that the hub gives by itself; an undone one stays for the audit.
CREATE TABLE rules (
    id TEXT PRIMARY KEY,
    scope TEXT NOT NULL CHECK (scope IN ('session', 'project')),
    chat_id INTEGER,                           -- session rules: the topic and the life of its agent's process
    topic_id INTEGER,
    epoch TEXT NOT NULL DEFAULT '',
    project TEXT NOT NULL DEFAULT '',          -- project rules: the folder
    agent TEXT NOT NULL DEFAULT '',            -- '' = any agent
    tool TEXT NOT NULL,
    match TEXT NOT NULL CHECK (match IN ('exact', 'folder', 'tool')),
    value TEXT NOT NULL,                       -- the exact command, or the folder
    by_id INTEGER,
    by_name TEXT NOT NULL,
    created REAL NOT NULL,
    undone REAL
);
CREATE INDEX rules_standing ON rules (created) WHERE undone IS NULL;
