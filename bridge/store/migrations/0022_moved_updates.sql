-- Texts that wait and went with their session into another topic: where they belong now.
CREATE TABLE moved_updates (
    update_id INTEGER PRIMARY KEY,
    chat_id INTEGER NOT NULL,
    topic_id INTEGER                           -- NULL: General
);
