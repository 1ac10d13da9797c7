use std::collections::HashMap;
use std::fs;
use std::path::Path;

use memory_api::{Error, ErrorKind, Result};
use serde_json::json;
use tokenizers::normalizers::Precompiled;
use tokenizers::{NormalizedString, Normalizer, PostProcessor, TruncationParams};

use crate::gguf::{Metadata, Value};
use crate::tensors::{corrupt, read_error, unsupported};
use crate::unigram::{CharMap, Unigram, mark_spaces};

/// Turns a text into the numbers of its tokens, the special ones included, cut to the model's length.
#[derive(Debug)]
pub(crate) enum Tokenizer {
    /// As described by a `tokenizer.json`.
    Hub(Box<tokenizers::Tokenizer>),
    /// A sentencepiece vocabulary from a GGUF file.
    Sentence(Sentence),
}

/// The parts of a sentencepiece tokenizer.
#[derive(Debug)]
pub(crate) struct Sentence {
    normalizer: Characters,
    unigram: Unigram,
    first: u32,
    last: u32,
    max_tokens: usize,
}

/// What is done to characters before a text is cut.
#[derive(Debug)]
enum Characters {
    Map(CharMap),
    Precompiled(Box<Precompiled>),
}

impl Tokenizer {
    /// Reads a `tokenizer.json`.
    pub(crate) fn from_json(path: &Path, max_tokens: usize) -> Result<Self> {
        let bytes = fs::read(path).map_err(|err| read_error(path, err))?;
        Self::hub(path, &bytes, max_tokens)
    }

    fn hub(path: &Path, json: &[u8], max_tokens: usize) -> Result<Self> {
        let wrong = |err: tokenizers::Error| {
            corrupt(path, format!("its tokenizer cannot be understood: {err}")).with_source(err)
        };
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(json).map_err(wrong)?;
        let special = tokenizer.get_post_processor();
        let special = special.map_or(0, |special| special.added_tokens(false));
        if special >= max_tokens {
            let message = format!("{special} special tokens leave no room for a text");
            return Err(corrupt(path, message));
        }
        // The file may pad or cut for another use.
        tokenizer.with_padding(None);
        let truncation = TruncationParams {
            max_length: max_tokens,
            ..TruncationParams::default()
        };
        tokenizer.with_truncation(Some(truncation)).map_err(wrong)?;
        Ok(Self::Hub(Box::new(tokenizer)))
    }

    /// Reads the tokenizer in a GGUF file, whose vocabulary is taken out.
    pub(crate) fn from_gguf(
        metadata: &mut Metadata,
        vocabulary: usize,
        max_tokens: usize,
    ) -> Result<Self> {
        let path = metadata.path().to_owned();
        let Some(Value::Texts(tokens)) = metadata.take("tokenizer.ggml.tokens") else {
            return Err(corrupt(&path, "it holds no vocabulary"));
        };
        let special = |key: &str| match metadata.int(&format!("tokenizer.ggml.{key}_token_id")) {
            Some(number) if number < vocabulary => u32::try_from(number).ok(),
            _ => None,
        };
        let need = |key: &str| {
            let message = format!("`tokenizer.ggml.{key}_token_id` is missing or no token");
            special(key).ok_or_else(|| corrupt(&path, message))
        };
        match metadata.text("tokenizer.ggml.model") {
            Some("t5") => {
                let (first, last, unknown) = (need("bos")?, need("eos")?, need("unknown")?);
                let padding = special("padding").unwrap_or(unknown);
                let Some(Value::Floats(scores)) = metadata.take("tokenizer.ggml.scores") else {
                    return Err(corrupt(&path, "its vocabulary has no scores"));
                };
                let normalizer = Characters::from_gguf(&path, metadata)?;
                let special = [first, last, unknown, padding];
                let unigram = Unigram::new(&path, tokens, scores, unknown, &special)?;
                Ok(Self::Sentence(Sentence {
                    normalizer,
                    unigram,
                    first,
                    last,
                    max_tokens,
                }))
            }
            Some("bert") => {
                // Older files name the two ends by other keys.
                let first = special("cls").or_else(|| special("bos"));
                let last = special("seperator").or_else(|| special("separator"));
                let last = last.or_else(|| special("eos"));
                let json = word_pieces(&path, tokens, first, last, need("unknown")?)?;
                Self::hub(&path, json.to_string().as_bytes(), max_tokens)
            }
            Some(other) => Err(unsupported(&path, format!("its tokenizer is `{other}`"))),
            None => Err(corrupt(&path, "it does not name its tokenizer")),
        }
    }

    /// Returns the tokens of a text.
    pub(crate) fn encode(&self, text: &str) -> Result<Vec<u32>> {
        match self {
            Self::Hub(tokenizer) => {
                let encoding = tokenizer.encode_fast(text, true).map_err(|err| {
                    Error::new(
                        ErrorKind::InvalidInput,
                        format!("the tokenizer failed: {err}"),
                    )
                    .with_source(err)
                })?;
                Ok(encoding.get_ids().to_vec())
            }
            Self::Sentence(sentence) => Ok(sentence.encode(text)),
        }
    }
}

impl Sentence {
    fn encode(&self, text: &str) -> Vec<u32> {
        let normalized = mark_spaces(&self.normalizer.apply(text));
        let mut tokens = self.unigram.encode(&normalized);
        // The two ends stay, whatever is cut.
        tokens.truncate(self.max_tokens.saturating_sub(2));
        tokens.insert(0, self.first);
        tokens.push(self.last);
        tokens
    }
}

impl Characters {
    fn from_gguf(path: &Path, metadata: &Metadata) -> Result<Self> {
        match metadata.get("memory.tokenizer.normalizer") {
            Some(Value::Ints(numbers)) => return CharMap::new(path, numbers).map(Self::Map),
            Some(_) => return Err(corrupt(path, "its table of characters is no table")),
            None => {}
        }
        match metadata.get("tokenizer.ggml.precompiled_charsmap") {
            Some(Value::Bytes(bytes)) => Precompiled::from(bytes)
                .map(|precompiled| Self::Precompiled(Box::new(precompiled)))
                .map_err(|err| {
                    corrupt(path, "its table of characters is damaged").with_source(err)
                }),
            Some(_) => Err(corrupt(path, "its table of characters is no table")),
            None => CharMap::new(path, &[]).map(Self::Map),
        }
    }

    fn apply(&self, text: &str) -> String {
        match self {
            Self::Map(map) => map.apply(text),
            Self::Precompiled(precompiled) => {
                let mut normalized = NormalizedString::from(text);
                match precompiled.normalize(&mut normalized) {
                    Ok(()) => normalized.get().to_owned(),
                    // A character it cannot place is one it does not change.
                    Err(_) => text.to_owned(),
                }
            }
        }
    }
}

/// Describes a vocabulary of word pieces as a `tokenizer.json`. llama.cpp marks the pieces that begin a word, the tokenizer those that
/// do not.
fn word_pieces(
    path: &Path,
    tokens: Vec<String>,
    first: Option<u32>,
    last: Option<u32>,
    unknown: u32,
) -> Result<serde_json::Value> {
    let name = |number: Option<u32>, usual: &str| {
        let number = number.and_then(|number| usize::try_from(number).ok());
        let token = number.and_then(|number| tokens.get(number));
        token.map_or_else(|| usual.to_owned(), Clone::clone)
    };
    let (first, last) = (name(first, "[CLS]"), name(last, "[SEP]"));
    let unknown = name(Some(unknown), "[UNK]");
    // A vocabulary without capitals was made of text without them.
    let lowercase = !tokens.iter().any(|token| {
        let word = token.strip_prefix('▁');
        word.is_some_and(|word| word.chars().any(char::is_uppercase))
    });
    let mut vocabulary = HashMap::new();
    for (number, token) in (0_u32..).zip(tokens) {
        let bracketed = token.starts_with('[') && token.ends_with(']') && token.len() > 2;
        let piece = match token.strip_prefix('▁') {
            Some(word) => word.to_owned(),
            None if bracketed => token,
            None => format!("##{token}"),
        };
        if let Some(other) = vocabulary.insert(piece, number) {
            return Err(corrupt(
                path,
                format!("its tokens {other} and {number} are the same"),
            ));
        }
    }
    let number = |name: &str| {
        let number = vocabulary.get(name).copied();
        number.ok_or_else(|| corrupt(path, format!("its vocabulary has no `{name}`")))
    };
    let (first_number, last_number) = (number(&first)?, number(&last)?);
    number(&unknown)?;
    Ok(json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": true,
            "handle_chinese_chars": true,
            "strip_accents": null,
            "lowercase": lowercase,
        },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                { "SpecialToken": { "id": first, "type_id": 0 } },
                { "Sequence": { "id": "A", "type_id": 0 } },
                { "SpecialToken": { "id": last, "type_id": 0 } },
            ],
            "pair": [
                { "Sequence": { "id": "A", "type_id": 0 } },
                { "Sequence": { "id": "B", "type_id": 1 } },
            ],
            "special_tokens": {
                first.as_str(): { "id": first, "ids": [first_number], "tokens": [first] },
                last.as_str(): { "id": last, "ids": [last_number], "tokens": [last] },
            },
        },
        "decoder": null,
        "model": {
            "type": "WordPiece",
            "unk_token": unknown,
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocabulary,
        },
    }))
}
