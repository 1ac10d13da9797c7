//! The suite that proves a memory plugin.
