/// "MEMS" in ASCII: marks a file as a store of record.
pub(crate) const APPLICATION_ID: i32 = 0x4d45_4d53;

/// One step per format version; a step is never changed once it was released.
pub(crate) const MIGRATIONS: &[&str] = &["
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE documents (
    doc       INTEGER PRIMARY KEY,
    namespace TEXT    NOT NULL,
    source    TEXT    NOT NULL,
    path      TEXT    NOT NULL,
    hash      BLOB    NOT NULL,
    -- What cut it: a hash of the chunkers' fingerprints.
    cut_by    BLOB    NOT NULL,
    size      INTEGER NOT NULL,
    mtime_ns  INTEGER NOT NULL,
    inode     INTEGER NOT NULL,
    created   INTEGER,
    time      INTEGER NOT NULL,
    UNIQUE (namespace, source, path)
);

-- text_seq numbers the entry's text, seq its latest change of any kind.
CREATE TABLE entries (
    entry        INTEGER PRIMARY KEY,
    id           BLOB    NOT NULL UNIQUE,
    doc          INTEGER NOT NULL REFERENCES documents (doc),
    position     INTEGER NOT NULL,
    line_start   INTEGER NOT NULL,
    line_end     INTEGER NOT NULL,
    heading_path TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    time         INTEGER,
    tags         TEXT    NOT NULL,
    text         TEXT    NOT NULL,
    text_seq     INTEGER NOT NULL,
    seq          INTEGER NOT NULL UNIQUE
);
CREATE INDEX entries_of_document ON entries (doc, position);

-- An entry that came back has a seq above its tombstone's, so that both may stand.
CREATE TABLE tombstones (
    seq INTEGER PRIMARY KEY,
    id  BLOB NOT NULL UNIQUE
);
", "
-- vector_seq numbers the arrival of the entry's vector; until then the vector is pending, for the reason if one is known.
ALTER TABLE entries ADD COLUMN vector_seq INTEGER;
-- The name of the vector in vectors.db.
ALTER TABLE entries ADD COLUMN vector_key BLOB;
ALTER TABLE entries ADD COLUMN pending TEXT;
CREATE INDEX entries_without_vector ON entries (entry) WHERE vector_seq IS NULL;
CREATE INDEX entries_by_vector_change ON entries (max(seq, vector_seq)) WHERE vector_seq IS NOT NULL;
", "
-- How far a transcript was read, and from where it has to be cut again once it has grown: bytes and lines before that place, and
-- a hash of what stands at the beginning and right before it.
ALTER TABLE documents ADD COLUMN read_bytes   INTEGER;
ALTER TABLE documents ADD COLUMN resume_bytes INTEGER;
ALTER TABLE documents ADD COLUMN resume_lines INTEGER;
ALTER TABLE documents ADD COLUMN resume_mark  BLOB;
"];
