CREATE TABLE spend (
    id INTEGER PRIMARY KEY,
    day TEXT NOT NULL,
    agent TEXT NOT NULL,
    session_id TEXT NOT NULL,
    cost REAL NOT NULL,
    tokens INTEGER NOT NULL,
    ended REAL NOT NULL
);
CREATE INDEX spend_by_day ON spend (day);
CREATE INDEX spend_by_session ON spend (agent, session_id);
