//! Cuts any text, with settings that come from its last four bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_chunker_markdown::{Config, Split};

fuzz_target!(|data: &[u8]| {
    let (text, settings) = data.split_at(data.len().saturating_sub(4));
    let mut settings = settings.iter().copied().map(usize::from);
    let mut next = || settings.next().unwrap_or_default();
    // Small sizes cut often; now and then one that cuts nothing.
    let max_tokens = match next() {
        255 => 8192,
        size => 16 + size,
    };
    let overlap_tokens = match next() {
        255 => None,
        share => Some((max_tokens - 1) * share / 254),
    };
    let split = if next() % 2 == 0 {
        Split::Section
    } else {
        Split::Block
    };
    memory_fuzz::cut(
        &String::from_utf8_lossy(text),
        Config {
            split,
            max_tokens,
            overlap_tokens,
        },
    );
});
