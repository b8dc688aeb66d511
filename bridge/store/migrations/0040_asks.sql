-- Every request and question that was shown to a person, and what became of it. Closed ones are kept as long as the audit.
CREATE TABLE asks (
    token TEXT PRIMARY KEY,                    -- random; the id inside callback_data and the card's key
    ask_id TEXT NOT NULL,                      -- the adapter's name of the request
    life TEXT NOT NULL,                        -- which run of the hub opened it
    chat_id INTEGER NOT NULL,
    topic_id INTEGER,
    agent TEXT NOT NULL,
    agent_title TEXT NOT NULL,
    epoch TEXT NOT NULL,                       -- which life of the agent's process
    cwd TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('permission', 'plan', 'question')),
    tool TEXT NOT NULL,
    tool_kind TEXT NOT NULL,
    sub_agent TEXT NOT NULL,
    class TEXT NOT NULL,
    title TEXT NOT NULL,
    subject TEXT NOT NULL,
    showings INTEGER NOT NULL DEFAULT 1,       -- how many cards show it
    state TEXT NOT NULL CHECK (state IN
        ('open', 'decided', 'delivered', 'undelivered', 'unknown', 'expired', 'withdrawn', 'void')),
    verdict TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    by_id INTEGER,
    by_name TEXT NOT NULL DEFAULT '',
    way TEXT NOT NULL DEFAULT '',
    opened REAL NOT NULL,                      -- wall clock, seconds, like all times here
    expires REAL NOT NULL,
    decided REAL,
    told INTEGER                               -- 1: the agent's process took the answer, 0: it could not, NULL: not known
);
CREATE INDEX asks_unsettled ON asks (token) WHERE state IN ('open', 'decided');
CREATE INDEX asks_by_time ON asks (opened);
