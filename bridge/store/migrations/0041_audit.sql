-- Who decided what, when and by which way; refused and late tries as well. Kept for a time the settings name.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,                          -- wall clock, seconds
    event TEXT NOT NULL,                       -- allowed, denied, answered, expired, withdrawn, void, refused, late, ...
    way TEXT NOT NULL,
    by_id INTEGER,
    by_name TEXT NOT NULL,
    chat_id INTEGER,
    topic_id INTEGER,
    agent TEXT NOT NULL,
    token TEXT NOT NULL,
    tool TEXT NOT NULL,
    class TEXT NOT NULL,
    subject TEXT NOT NULL,
    reason TEXT NOT NULL,
    is_decision INTEGER NOT NULL,              -- 1: this line is what the agent is to be told
    delivered INTEGER                          -- 1, 0, or NULL: not known
);
CREATE INDEX audit_by_time ON audit (at);
CREATE INDEX audit_by_ask ON audit (token);
