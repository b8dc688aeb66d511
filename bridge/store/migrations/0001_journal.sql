-- Every update as it came, so that a crash loses nothing and a redelivery does nothing.
CREATE TABLE journal (
    update_id INTEGER PRIMARY KEY,
    received REAL NOT NULL,           -- wall clock, seconds
    body TEXT NOT NULL,               -- the update's JSON; emptied when finished
    state TEXT NOT NULL DEFAULT 'received' CHECK (state IN ('received', 'handed', 'finished')),
    changed REAL NOT NULL             -- when the state was set
);
CREATE INDEX journal_unfinished ON journal (update_id) WHERE state != 'finished';
