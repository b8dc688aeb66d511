-- One row per topic: which agent works there, where, and by which session it is resumed.
CREATE TABLE topics (
    chat_id INTEGER NOT NULL,
    topic_id INTEGER NOT NULL,
    topic_key TEXT NOT NULL UNIQUE,            -- [a-z0-9]+, stable for the topic's life
    agent TEXT NOT NULL,
    cwd TEXT NOT NULL,
    session_id TEXT,                           -- NULL: nothing to resume, the next text begins afresh
    model TEXT,                                -- NULL: the agent's own default
    mode TEXT,
    effort TEXT,
    verbosity TEXT,                            -- NULL: as set for the hub
    title TEXT NOT NULL DEFAULT '',
    is_named_by_hand INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed', 'lost')),
    held_notice TEXT NOT NULL DEFAULT '',      -- key of the message that offers texts which were not run
    touched REAL NOT NULL,                     -- wall clock, seconds
    PRIMARY KEY (chat_id, topic_id)
) WITHOUT ROWID;

-- Every turn that was begun; one without an end was cut off by a crash of the hub.
CREATE TABLE turns (
    id TEXT PRIMARY KEY,
    chat_id INTEGER NOT NULL,
    topic_id INTEGER NOT NULL,
    agent TEXT NOT NULL,
    prompt TEXT NOT NULL,
    updates TEXT NOT NULL DEFAULT '[]',        -- the updates that were given to the agent, as JSON
    started REAL NOT NULL,
    ended REAL,
    outcome TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX turns_of_topic ON turns (chat_id, topic_id, started);
CREATE INDEX turns_open ON turns (started) WHERE ended IS NULL;

-- What a button of the hub's own means; its data carries the id only.
CREATE TABLE buttons (
    id TEXT PRIMARY KEY,
    chat_id INTEGER NOT NULL,
    topic_id INTEGER NOT NULL,
    verb TEXT NOT NULL,
    payload TEXT NOT NULL,                     -- JSON list of strings, one per answer
    made REAL NOT NULL
) WITHOUT ROWID;

-- Groups that became supergroups: an allowed chat stays allowed.
CREATE TABLE moved_chats (
    old_chat_id INTEGER PRIMARY KEY,
    new_chat_id INTEGER NOT NULL
);

-- The slash commands of each kind of agent as it last told them.
CREATE TABLE agent_commands (
    agent TEXT PRIMARY KEY,
    names TEXT NOT NULL                        -- JSON list of [name, description]
) WITHOUT ROWID;
