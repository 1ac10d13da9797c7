//! The one SQLite of the memory engine.
