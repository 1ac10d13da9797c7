use std::fmt;
use std::time::Duration;

use memory_api::Timestamp;

/// Where time and randomness come from.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the time of day.
    fn now(&self) -> Timestamp;

    /// Returns the time since some fixed moment; never goes back.
    fn monotonic(&self) -> Duration;

    /// Returns 128 bits that no other call returns.
    fn random(&self) -> u128;
}
