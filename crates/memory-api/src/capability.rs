use std::fmt;

/// Something a plugin may be able to do. A name states a fact about the backend, never a user's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Capability {
    /// Lexical: words in quotes have to stand next to each other, in order.
    PhraseQuery,
    /// Lexical: a word with a trailing `*` matches every word that begins with it.
    PrefixQuery,
    /// Lexical: a word with a leading `-` removes the entries that hold it.
    ExcludeQuery,
    /// Index: a batch is visible as a whole or not at all, also after a crash.
    AtomicApply,
    /// Index: content survives close and open.
    Persistent,
    /// Index: filter fields are pushed down to the backend.
    NativeFilter,
    /// Vector index: search is exact, not approximate.
    ExactSearch,
    /// Same input, same output, bit by bit, on one machine.
    Deterministic,
}

impl Capability {
    /// Every capability, in declaration order.
    pub const ALL: &'static [Self] = &[
        Self::PhraseQuery,
        Self::PrefixQuery,
        Self::ExcludeQuery,
        Self::AtomicApply,
        Self::Persistent,
        Self::NativeFilter,
        Self::ExactSearch,
        Self::Deterministic,
    ];

    /// Returns the name used in manifests, reports and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PhraseQuery => "phrase_query",
            Self::PrefixQuery => "prefix_query",
            Self::ExcludeQuery => "exclude_query",
            Self::AtomicApply => "atomic_apply",
            Self::Persistent => "persistent",
            Self::NativeFilter => "native_filter",
            Self::ExactSearch => "exact_search",
            Self::Deterministic => "deterministic",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of capabilities.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Capabilities(u64);

impl Capabilities {
    /// No capability.
    pub const NONE: Self = Self(0);

    /// Returns the set of the given capabilities.
    pub const fn of(capabilities: &[Capability]) -> Self {
        let mut bits = 0;
        let mut rest = capabilities;
        while let [first, tail @ ..] = rest {
            bits |= 1 << *first as u8;
            rest = tail;
        }
        Self(bits)
    }

    /// Returns whether the capability is in the set.
    pub const fn has(self, capability: Capability) -> bool {
        self.0 & (1 << capability as u8) != 0
    }

    /// Returns whether every capability of `self` is in `other`.
    pub const fn is_subset_of(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Returns the capabilities in declaration order.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL
            .iter()
            .copied()
            .filter(move |capability| self.has(*capability))
    }
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(Capability::as_str))
            .finish()
    }
}
