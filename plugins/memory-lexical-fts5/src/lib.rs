//! Finds entries by words with SQLite FTS5.
