-- A turn that a usage limit refused goes on by itself at its reset: which, and when (wall clock, seconds).
ALTER TABLE topics ADD COLUMN parked_turn TEXT NOT NULL DEFAULT '';
ALTER TABLE topics ADD COLUMN parked_until REAL NOT NULL DEFAULT 0;
