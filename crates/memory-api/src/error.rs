use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

/// The result of every fallible call in this workspace's libraries.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, for code that branches on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A configuration value is wrong. The context pair `key` holds its dotted path.
    Config,
    /// The caller's argument is wrong.
    InvalidInput,
    /// The plugin does not do this, and did not declare that it does.
    Unsupported,
    /// The named thing does not exist.
    NotFound,
    /// A resource is not there now: a file, a lock, a server, a model.
    Unavailable,
    /// The remote side asks for fewer calls.
    RateLimited,
    /// The account has no credit left; waiting does not help.
    QuotaExhausted,
    /// The time allowed for the call is over.
    Timeout,
    /// Stored data is damaged or of an unknown format.
    Corrupt,
    /// The handle was closed or its worker died.
    Closed,
    /// A bug in this program.
    Internal,
}

impl ErrorKind {
    /// Returns the name used in logs and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::InvalidInput => "invalid_input",
            Self::Unsupported => "unsupported",
            Self::NotFound => "not_found",
            Self::Unavailable => "unavailable",
            Self::RateLimited => "rate_limited",
            Self::QuotaExhausted => "quota_exhausted",
            Self::Timeout => "timeout",
            Self::Corrupt => "corrupt",
            Self::Closed => "closed",
            Self::Internal => "internal",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether the same call may succeed later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Retry {
    /// It will fail again.
    #[default]
    Never,
    /// It may succeed, after this time if one is known.
    After(Option<Duration>),
    /// It was retried and still failed; an outer layer should not retry once more.
    GaveUp,
}

/// One error type for every plugin and for the engine: a kind to branch on, and words for people.
///
/// [`Display`](fmt::Display) is one line without a final period: `fts5: failed to open: message`. The hint is printed apart
/// from it, and the source chain is kept.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    retry: Retry,
    plugin: Option<String>,
    operation: Option<String>,
    context: Vec<(&'static str, String)>,
    hint: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// Creates an error with a lowercase message fragment.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            retry: Retry::Never,
            plugin: None,
            operation: None,
            context: Vec::new(),
            hint: None,
            source: None,
        }))
    }

    /// Adds advice on trying again.
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.0.retry = retry;
        self
    }

    /// Names the plugin, unless an inner layer already did.
    pub fn with_plugin(mut self, plugin: impl Into<String>) -> Self {
        self.0.plugin.get_or_insert(plugin.into());
        self
    }

    /// Names the operation as a verb (`open`, `search`), unless an inner layer already did.
    pub fn with_operation(mut self, operation: impl Into<String>) -> Self {
        self.0.operation.get_or_insert(operation.into());
        self
    }

    /// Adds a key and a value where the value is known.
    pub fn with_context(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.0.context.push((key, value.into()));
        self
    }

    /// Says what to do next.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Keeps the error that caused this one.
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the message alone, without plugin and operation.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the advice on trying again.
    pub fn retry(&self) -> Retry {
        self.0.retry
    }

    /// Returns the plugin the error came from.
    pub fn plugin(&self) -> Option<&str> {
        self.0.plugin.as_deref()
    }

    /// Returns the operation that failed.
    pub fn operation(&self) -> Option<&str> {
        self.0.operation.as_deref()
    }

    /// Returns the first context value under `key`.
    pub fn context(&self, key: &str) -> Option<&str> {
        self.0
            .context
            .iter()
            .find(|(k, _)| *k == key)
            .map(|(_, v)| v.as_str())
    }

    /// Returns the whole message, with the file it is about (the context pair `path`) where it does not name it.
    pub fn located(&self) -> String {
        match self.context("path") {
            Some(path) if !self.message().contains(path) => format!("{self} (`{path}`)"),
            _ => self.to_string(),
        }
    }

    /// Returns what to do next.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(plugin) = &self.0.plugin {
            write!(f, "{plugin}: ")?;
        }
        if let Some(operation) = &self.0.operation {
            write!(f, "failed to {operation}: ")?;
        }
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} [{}]", self.0.kind)?;
        for (key, value) in &self.0.context {
            write!(f, "\n  {key}: {value}")?;
        }
        if let Some(hint) = &self.0.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        let mut source = self.source();
        while let Some(cause) = source {
            write!(f, "\n  caused by: {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
