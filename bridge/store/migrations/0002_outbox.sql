-- One row per logical message; written before it is sent, marked after.
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- the order of posting
    key TEXT NOT NULL UNIQUE,
    chat_id INTEGER NOT NULL,
    topic_id INTEGER,
    klass INTEGER NOT NULL,
    html TEXT NOT NULL,                        -- what is still to be shown; emptied when shown
    text TEXT NOT NULL,
    keyboard TEXT NOT NULL DEFAULT '[]',
    rings INTEGER NOT NULL DEFAULT 0,
    reply_to INTEGER,
    files TEXT NOT NULL DEFAULT '[]',
    rest TEXT NOT NULL DEFAULT '[]',           -- further plain slices of a text that was refused as too long
    state TEXT NOT NULL DEFAULT 'queued'
        CHECK (state IN ('queued', 'sending', 'unknown', 'sent', 'parked', 'failed')),
    repeats INTEGER NOT NULL DEFAULT 0,        -- how often it was sent again after a lost reply
    message_id INTEGER,                        -- set: the row is sent, html/text hold an edit that is to be made
    is_edit INTEGER NOT NULL DEFAULT 0,
    shown TEXT NOT NULL DEFAULT '',            -- digest of what the person sees now
    failure TEXT NOT NULL DEFAULT '',
    posted REAL NOT NULL,
    changed REAL NOT NULL
);
CREATE INDEX outbox_open ON outbox (id) WHERE state IN ('queued', 'sending', 'unknown', 'parked') OR is_edit = 1;

-- Which logical message a sent message is; several when one was shown again.
CREATE TABLE outbox_sent (
    chat_id INTEGER NOT NULL,
    message_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    sent REAL NOT NULL,
    PRIMARY KEY (chat_id, message_id)
) WITHOUT ROWID;

-- What each chat's budget has learned, and until when it must be left alone (wall clock, seconds).
CREATE TABLE floods (
    chat_id INTEGER PRIMARY KEY,
    until REAL NOT NULL,
    scale REAL NOT NULL DEFAULT 1.0
);
