use std::borrow::Cow;
use std::ops::Range;

use memory_api::{Chunked, Chunker, Document, Fingerprint, Identity, Result, Warning};
use memory_text::line::{BYTE_ORDER_MARK, slice};
use memory_text::redact::{self, redact};

use crate::config::Config;
use crate::exchange::Exchange;
use crate::row::{self, Message, Row, Session};
use crate::words::Host;

/// Raised whenever a transcript may be cut in another way than before, which includes a change of the token estimate.
const CUT_VERSION: u32 = 1;

/// How many broken rows are named; the others are counted.
const MAX_NAMED: usize = 3;

/// Ids of sessions are not longer; a longer one is cut.
const MAX_SESSION_CHARS: usize = 128;

/// Cuts chat transcripts into exchanges.
#[derive(Debug, Clone)]
pub struct TranscriptChunker {
    config: Config,
}

impl TranscriptChunker {
    /// Creates a chunker.
    ///
    /// # Errors
    ///
    /// `Config` for a size that is out of range.
    pub fn new(config: Config) -> Result<Self> {
        config.validate()?;
        Ok(Self { config })
    }
}

impl Identity for TranscriptChunker {
    fn fingerprint(&self) -> Fingerprint {
        let Config { max_tokens, redact } = self.config;
        let redact = if redact { redact::VERSION } else { 0 };
        Fingerprint(format!(
            "{}/{CUT_VERSION} max_tokens={max_tokens} redact={redact}",
            crate::NAME
        ))
    }
}

impl Chunker for TranscriptChunker {
    fn accepts(&self, document: &Document<'_>) -> bool {
        let name = file_name(document.path).to_ascii_lowercase();
        let is_archive = |end: &str| {
            [".reset.", ".deleted."]
                .iter()
                .any(|mark| end.len() > mark.len() && end.starts_with(mark))
        };
        let is_transcript = name
            .rsplit_once(".jsonl")
            .is_some_and(|(_, end)| end.is_empty() || is_archive(end));
        let is_other = [".bak.", ".checkpoint."]
            .iter()
            .any(|mark| name.contains(mark))
            || [".zst", ".gz", ".lock", ".tmp"]
                .iter()
                .any(|end| name.ends_with(end));
        is_transcript && !is_other
    }

    fn chunk(&self, document: &Document<'_>) -> Result<Chunked> {
        let mut builder = Builder {
            config: self.config,
            is_sidechain: file_name(document.path).starts_with("agent-"),
            session: Session {
                id: Some(stem(document.path).to_owned()),
                ..Session::default()
            },
            chunked: Chunked::default(),
            open: None,
            line: 0,
        };
        builder.find_session(document.beginning());
        let mut broken = Vec::new();
        let mut n_rows = 0_usize;
        let mut n_unknown = 0_usize;
        let mut resume = None;
        for (idx, row) in rows(document.text).enumerate() {
            builder.line = row.start;
            if !row.is_terminated {
                // Whatever comes of it: it is read again once its line has an end.
                resume = Some(builder.resume(row.start));
            }
            if row.span.is_empty() {
                continue;
            }
            n_rows += 1;
            match row::read(json(document.text, &row)) {
                Row::Broken => {
                    if row.is_terminated {
                        broken.push(idx);
                    }
                    builder.leave_out(row.span);
                }
                Row::Unknown => {
                    n_unknown += 1;
                    builder.leave_out(row.span);
                }
                other => builder.add(row.span, other),
            }
        }
        let resume = resume.unwrap_or_else(|| builder.resume(document.text.len()));
        builder.close();
        let mut chunked = builder.chunked;
        chunked.resume = Some(resume);
        chunked.warnings = warnings(&broken);
        if document.head.is_none() && n_rows > broken.len() && n_rows == n_unknown + broken.len() {
            let message = "no row is one of a chat: none has a `role` or a `type`";
            chunked.warnings.push(Warning::new(None, message));
        }
        Ok(chunked)
    }
}

/// A row of the file, without its line end and what stands around it.
#[derive(Debug)]
struct Line {
    /// Where the line begins.
    start: usize,
    span: Range<usize>,
    is_terminated: bool,
}

/// Iterates over the rows: `\n` alone ends one, since JSON may hold any other line end.
fn rows(text: &str) -> impl Iterator<Item = Line> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let row = line.trim_start_matches(|ch: char| ch.is_whitespace() || ch == BYTE_ORDER_MARK);
        let from = start + line.len() - row.len();
        let len = row.trim_end().len();
        let begin = start;
        start += line.len();
        Line {
            start: begin,
            span: from..from + len,
            is_terminated: line.ends_with('\n'),
        }
    })
}

/// Returns what of a row is JSON: a machine that stopped while it wrote may leave zeros before it.
fn json<'a>(text: &'a str, row: &Line) -> &'a str {
    slice(text, row.span.clone()).trim_start_matches('\0')
}

fn warnings(broken: &[usize]) -> Vec<Warning> {
    let mut warnings: Vec<_> = broken
        .iter()
        .take(MAX_NAMED)
        .map(|idx| {
            let line = u32::try_from(idx + 1).ok();
            Warning::new(line, "the row is left out: it is no JSON object")
        })
        .collect();
    if broken.len() > MAX_NAMED {
        let message = format!(
            "{} more rows are left out: they are no JSON objects",
            broken.len() - MAX_NAMED
        );
        warnings.push(Warning::new(None, message));
    }
    warnings
}

/// Collects the entries of a transcript.
struct Builder {
    config: Config,
    is_sidechain: bool,
    /// What the beginning of the file says.
    session: Session,
    chunked: Chunked,
    /// The exchange that may still go on.
    open: Option<Exchange>,
    /// Where the line at hand begins.
    line: usize,
}

impl Builder {
    /// Looks for the row that names the session: it stands before the first words, so that it is known as soon as anything is
    /// cut, and stays.
    fn find_session(&mut self, head: &str) {
        for row in rows(head) {
            match row::read(json(head, &row)) {
                Row::Session(session) => {
                    let id = session.id.filter(|id| !id.trim().is_empty());
                    self.session.id = id.or_else(|| self.session.id.take());
                    self.session.is_generated = session.is_generated;
                    return;
                }
                Row::Message(_) | Row::Generated => return,
                _ => {}
            }
        }
    }

    /// Returns from where on the text has to be given again, all of it up to `end` having been read.
    fn resume(&self, end: usize) -> usize {
        self.open.as_ref().map_or(end, |open| open.start)
    }

    fn add(&mut self, span: Range<usize>, row: Row) {
        match row {
            Row::Message(message) if !self.session.is_generated => self.say(span, message),
            Row::Generated => {
                self.close();
                let session = self.session_of(None);
                let mut exchange = Exchange::new(self.line, session, true);
                exchange.left_out.push(span);
                self.open = Some(exchange);
            }
            Row::Reset => {
                self.close();
                self.leave_out(span);
            }
            _ => self.leave_out(span),
        }
    }

    fn say(&mut self, span: Range<usize>, mut message: Message) {
        let is_of_agent = self.is_sidechain && message.host == Host::ClaudeCode;
        if is_of_agent {
            self.leave_out(span);
            return;
        }
        let session = self.session_of(message.session.as_deref());
        if self.config.redact
            && let Cow::Owned(text) = redact(&message.text).text
        {
            message.text = text;
        }
        let open = self
            .open
            .take_if(|open| open.takes(message.speaker, &session));
        let mut exchange = open.unwrap_or_else(|| {
            self.close();
            Exchange::new(self.line, session, false)
        });
        exchange.add(span, message);
        self.open = Some(exchange);
    }

    /// Returns the id of the session: of the row, of the file, or the name of the file.
    fn session_of(&self, row: Option<&str>) -> String {
        let id = row
            .map(str::trim)
            .filter(|id| !id.is_empty())
            .or(self.session.id.as_deref())
            .unwrap_or_default();
        let id = if self.config.redact {
            redact(id).text
        } else {
            Cow::Borrowed(id)
        };
        id.chars()
            .filter(|ch| !ch.is_control())
            .take(MAX_SESSION_CHARS)
            .collect()
    }

    fn leave_out(&mut self, span: Range<usize>) {
        match &mut self.open {
            Some(open) => open.left_out.push(span),
            None => self.chunked.excluded.push(span),
        }
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            let (entries, left_out) = open.cut(self.config.max_tokens);
            self.chunked.entries.extend(entries);
            self.chunked.excluded.extend(left_out);
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Returns the name of the file up to `.jsonl`, which is the session's where nothing else names it.
fn stem(path: &str) -> &str {
    let name = file_name(path);
    let end = name.to_ascii_lowercase().find(".jsonl");
    end.and_then(|end| name.get(..end)).unwrap_or(name)
}
