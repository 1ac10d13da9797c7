use crate::Timestamp;

/// What filters look at. The engine resolves a filter to allowed ids; a backend with native filters may use these itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Fields {
    /// One agent's memory.
    pub namespace: String,
    /// Where the document came from: `memory`, `sessions`, ….
    pub source: String,
    /// The document's path relative to its workspace, with `/`.
    pub path: String,
    /// The entry's kind; an open set of words.
    pub kind: String,
    /// The entry's tags.
    pub tags: Vec<String>,
    /// The entry's time.
    pub time: Option<Timestamp>,
}

impl Fields {
    /// Creates the fields of an entry without tags and time.
    pub fn new(
        namespace: impl Into<String>,
        source: impl Into<String>,
        path: impl Into<String>,
    ) -> Self {
        Self {
            namespace: namespace.into(),
            source: source.into(),
            path: path.into(),
            ..Self::default()
        }
    }
}
