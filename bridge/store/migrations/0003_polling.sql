-- When Telegram last answered a poll (wall clock, seconds); tells how long the hub was away.
CREATE TABLE polling (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    answered REAL NOT NULL
);
