use memory_api::Timestamp;

/// Restricts a search to some entries; empty lists and `None` restrict nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Any of these sources.
    pub sources: Vec<String>,
    /// Any of these kinds.
    pub kinds: Vec<String>,
    /// All of these tags.
    pub tags: Vec<String>,
    /// Any of these paths, or below them; by whole path components.
    pub paths: Vec<String>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Not at or after.
    pub until: Option<Timestamp>,
}

impl Filter {
    /// Returns whether it lets every entry through.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
