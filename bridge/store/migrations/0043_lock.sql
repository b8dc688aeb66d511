-- The second factor: which codes are used up, and wrong tries; both outlive a restart.
CREATE TABLE lock_codes (
    step INTEGER PRIMARY KEY,                  -- the 30-second step of a code that opened the hub
    used REAL NOT NULL
);
CREATE TABLE lock_attempts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,                          -- wall clock, seconds
    by_id INTEGER
);
CREATE INDEX lock_attempts_by_time ON lock_attempts (at);
