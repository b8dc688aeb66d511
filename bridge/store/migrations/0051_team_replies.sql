CREATE TABLE team_replies (
    key TEXT PRIMARY KEY,
    seen REAL NOT NULL
);
