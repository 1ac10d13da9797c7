use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind};

/// Formats 128 bits as a UUID in lower case.
fn write_uuid(bits: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        bits >> 96,
        (bits >> 80) & 0xffff,
        (bits >> 64) & 0xffff,
        (bits >> 48) & 0xffff,
        bits & 0xffff_ffff_ffff
    )
}

fn parse_uuid(text: &str) -> Option<u128> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 {
        return None;
    }
    let mut bits = 0_u128;
    for (idx, byte) in bytes.iter().enumerate() {
        if matches!(idx, 8 | 13 | 18 | 23) {
            if *byte != b'-' {
                return None;
            }
            continue;
        }
        bits = (bits << 4) | u128::from(char::from(*byte).to_digit(16)?);
    }
    Some(bits)
}

macro_rules! uuid_newtype {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(into = "String", try_from = "String")]
        #[schemars(with = "String")]
        pub struct $name(pub u128);

        impl $name {
            /// Returns the 16 bytes, most significant first; their order is the order of the ids.
            pub fn to_bytes(self) -> [u8; 16] {
                self.0.to_be_bytes()
            }

            /// Reads the 16 bytes, most significant first.
            pub fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(u128::from_be_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_uuid(self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_uuid(self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                parse_uuid(text).map(Self).ok_or_else(|| {
                    Error::new(ErrorKind::InvalidInput, format!("`{text}` is not {}", $what))
                        .with_hint("an id has the form 01234567-89ab-cdef-0123-456789abcdef")
                })
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }

        impl TryFrom<String> for $name {
            type Error = Error;

            fn try_from(text: String) -> Result<Self, Error> {
                text.parse()
            }
        }
    };
}

uuid_newtype! {
    /// Names an entry for as long as its text stays the same at the same place.
    ///
    /// The engine derives it from namespace, source, path, heading path, content hash and the ordinal among equals, never from
    /// line numbers: text moved by an edit above it keeps its id and its vector. Shown as a UUID.
    EntryId, "an entry id"
}

uuid_newtype! {
    /// Names one store of record. A projection that carries another store's id has to be rebuilt.
    StoreId, "a store id"
}

/// The position of a change in the store of record; starts at 1 and only grows.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The SHA-256 of an entry's or a document's content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What, if it changed, makes a plugin's earlier output stale: a version and the settings that matter, as readable text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub String);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The supertrait of all six plugin traits.
pub trait Identity {
    /// Returns what, if it changed, makes earlier output of this plugin stale.
    ///
    /// # Contract
    ///
    /// 1. Two plugins with equal fingerprints give the same output for the same input. \[`describe::fingerprint_is_stable`\]
    /// 2. A setting that changes no output does not change the fingerprint.
    fn fingerprint(&self) -> Fingerprint;
}
