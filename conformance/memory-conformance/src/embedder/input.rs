//! Texts that are odd, long or many.

use memory_api::{Embedder, ErrorKind, Role};

use super::row::{ROLES, check_same, embed, embed_at_once, quote};
use crate::failure::ensure;
use crate::{Failure, Outcome, Subject};

/// Nothing to read.
const BLANK: &[&str] = &["", " ", "\n\t\r\n", "\u{3000}", "\u{feff}", "\u{200b}"];

const SCRIPTS: &[&str] = &[
    "Łódź, Straße, Jørn, caffè, naïve",
    "港湾工事は来月。猫が鳴いた。",
    "渡轮六点出发，请不要迟到！",
    "서울에서 부산까지 기차로",
    "Привет, мир",
    "مرحبا بالعالم",
    "\u{202e}שלום עולם\u{202c}",
    "यह एक परीक्षण है",
    "ภาษาไทยไม่มีช่องว่าง",
    "🚢👩‍👩‍👧‍👦🇵🇹 ☕️",
    "🚢",
    "e\u{301}\u{327}\u{323}",
    "before\0after",
    "\0",
    "\u{1b}[31mred\u{7f}\u{85}",
    "\u{fffd}\u{e000}\u{10ffff}",
    "?! … 100%",
    "<s> [CLS] </s> [SEP] <unk> <|endoftext|> query: passage:",
    "{\"json\": [1, \"\\u0000\"]}",
    "line one\r\nline two\rline three",
];

/// Beyond this, a text or a list of texts is no reasonable test.
const MAX_WORDS: usize = 10_000;
const MAX_TEXTS: usize = 10_000;

/// Checks that every text has a row, in one call with others and by itself where that is cheap.
fn check_texts(subject: &Subject, texts: &[&str]) -> Outcome {
    subject.run(async {
        let home = subject.home()?;
        let embedder = home.open_embedder().await?;
        for role in ROLES {
            if let Err(failure) = embed(&*embedder, texts, role).await {
                return Err(narrow(&*embedder, texts, role, failure).await);
            }
        }
        Ok(())
    })
}

/// Finds the text that a call of many fails by.
async fn narrow(embedder: &dyn Embedder, texts: &[&str], role: Role, together: Failure) -> Failure {
    for text in texts {
        if let Err(failure) = embed_at_once(embedder, &[text], role).await {
            return failure.within(quote(text));
        }
    }
    together
}

pub(super) fn blank_text_has_a_row(subject: &Subject) -> Outcome {
    check_texts(subject, BLANK)
}

pub(super) fn text_of_any_script_has_a_row(subject: &Subject) -> Outcome {
    check_texts(subject, SCRIPTS)
}

pub(super) fn long_text_is_cut_or_refused(subject: &Subject) -> Outcome {
    subject.run(async {
        let home = subject.home()?;
        let embedder = home.open_embedder().await?;
        let max_tokens = embedder.limits().max_tokens;
        let n_words = max_tokens.saturating_add(max_tokens / 8 + 1).min(MAX_WORDS);
        let words = "the ferry leaves at six ".repeat(n_words / 5 + 1);
        let unbroken = "x".repeat(n_words);
        let short = "pier";
        let alone = embed(&*embedder, &[short], Role::Document).await?;
        for long in [&words, &unbroken] {
            match embedder.embed(&[long.as_str()], Role::Document).await {
                // Cut: it is a text like any other, and leaves its neighbours alone.
                Ok(_) => {
                    let rows = embed(&*embedder, &[short, long], Role::Document).await?;
                    let beside = rows.into_iter().take(1).collect();
                    check_same(&[short], &alone, &beside, "alone and beside a long text")?;
                }
                Err(err) => ensure!(
                    err.kind() == ErrorKind::InvalidInput,
                    "a text of {} bytes gives kind `{}` instead of a row or `invalid_input`: {err}",
                    long.len(),
                    err.kind()
                ),
            }
            let after = embed(&*embedder, &[short], Role::Document).await?;
            check_same(&[short], &alone, &after, "before and after a long text")?;
        }
        Ok(())
    })
}

pub(super) fn too_many_texts_are_refused(subject: &Subject) -> Outcome {
    subject.run(async {
        let home = subject.home()?;
        let embedder = home.open_embedder().await?;
        let max_texts = embedder.limits().max_texts;
        // Where the limit is a matter of memory there is nothing to refuse.
        if max_texts < MAX_TEXTS {
            let texts = vec!["pier"; max_texts + 1];
            let kind = match embedder.embed(&texts, Role::Document).await {
                Ok(_) => None,
                Err(err) => Some(err.kind()),
            };
            ensure!(
                kind == Some(ErrorKind::InvalidInput),
                "{} texts, one more than the limit, give {} instead of kind `invalid_input`",
                texts.len(),
                kind.map_or("an answer", ErrorKind::as_str)
            );
        }
        embed(&*embedder, &["pier"], Role::Document).await.map(drop)
    })
}
