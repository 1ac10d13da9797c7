//! Cuts Markdown notes into entries.
