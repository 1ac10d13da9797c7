use std::fmt;

/// Why a scenario failed, in words for the author of the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(String);

/// The result of a scenario.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// Creates a failure.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Says where it happened.
    pub fn within(self, place: impl fmt::Display) -> Self {
        Self(format!("{place}: {}", self.0))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

/// A plugin's error where the contract allows none.
impl From<memory_api::Error> for Failure {
    fn from(err: memory_api::Error) -> Self {
        Self(format!("unexpected error: {err:?}"))
    }
}

/// Returns a [`Failure`] with this message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {{
        // Bound first, because a negated comparison of floats reads like a mistake.
        let holds: bool = $condition;
        if !holds {
            return Err($crate::Failure::new(format!($($message)+)));
        }
    }};
}
pub(crate) use ensure;
