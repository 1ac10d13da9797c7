//! What is said, as it may stand in a Markdown file below what is there.

use memory_api::{Error, ErrorKind, LineRange, Result};
use memory_text::redact::find_secrets;

/// Tags whose content is taken literally up to the closing tag.
const RAW_TAGS: [&str; 4] = ["pre", "script", "style", "textarea"];
/// The deepest heading.
const MAX_LEVEL: usize = 6;

/// A text that may be added, with the line above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passage {
    /// Empty for none.
    heading: String,
    /// Lines without their ends; the first and the last are not blank.
    lines: Vec<String>,
}

/// What comes behind the content of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    pub(crate) bytes: Vec<u8>,
    /// The lines of heading and text in the new file.
    pub(crate) lines: LineRange,
}

impl Passage {
    /// Makes a text fit to stand below a heading: its own headings go below it, and what it leaves open (a code fence, a comment)
    /// is closed, so that neither takes in what is added later.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a blank text, one that holds a secret, one of more than `max_chars` characters, or one with control characters.
    pub(crate) fn new(text: &str, heading: &str, max_chars: usize) -> Result<Self> {
        let refused = |message: &str| Error::new(ErrorKind::InvalidInput, message);
        let n_chars = text.chars().count();
        if n_chars > max_chars {
            let message = format!("the text has {n_chars} characters, more than {max_chars}");
            return Err(refused(&message).with_hint(
                "add it in parts, raise `write.max_chars`, or put it into a file of its own",
            ));
        }
        let text = text.trim_start_matches('\u{feff}');
        // A lone carriage return is a line end, too: of the systems of long ago, and of progress bars.
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let is_text = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
        if let Some(c) = text.chars().find(|c| !is_text(*c)) {
            let message = format!("the text has a control character, `{}`", c.escape_unicode());
            return Err(refused(&message)
                .with_hint("leave out what only a terminal understands, such as colours"));
        }
        let text = text.trim_end();
        let mut lines: Vec<&str> = text.split('\n').collect();
        let n_blank = lines.iter().take_while(|line| is_blank(line)).count();
        lines.drain(..n_blank);
        if lines.is_empty() {
            return Err(refused("the text is blank").with_hint("say what is to be remembered"));
        }
        // The kind alone: an error is shown, logged and given to models.
        if let Some(secret) = find_secrets(text).first() {
            let kind = secret.kind.as_str();
            return Err(refused(&format!("the text holds a secret ({kind})"))
                .with_context("refused", "secret")
                .with_context("secret", kind)
                .with_hint("leave it out, and say where it is kept instead"));
        }
        let heading = heading.trim();
        let level = atx_heading(heading).map_or(0, |(level, _)| level);
        Ok(Self {
            heading: heading.to_owned(),
            lines: fit(&lines, level),
        })
    }

    /// Returns what to write behind the content of a file.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a file that is no UTF-8 text.
    pub(crate) fn tail(&self, path: &str, content: &[u8]) -> Result<Tail> {
        if content.starts_with(&[0xff, 0xfe]) || content.starts_with(&[0xfe, 0xff]) {
            let message = format!("`{path}` is UTF-16, and text is added in UTF-8");
            return Err(Error::new(ErrorKind::InvalidInput, message)
                .with_context("path", path)
                .with_hint("save the file as UTF-8"));
        }
        if content.contains(&0) {
            let message = format!("`{path}` has zero bytes, so that it is no text");
            return Err(Error::new(ErrorKind::InvalidInput, message)
                .with_context("path", path)
                .with_hint("save the file as UTF-8, or name another one"));
        }
        let n_ends = count(content, b"\n");
        let end = if n_ends > 0 && count(content, b"\r\n") * 2 > n_ends {
            "\r\n"
        } else {
            "\n"
        };
        let body = content.strip_prefix("\u{feff}".as_bytes());
        let body = body.unwrap_or(content);
        let mut tail = String::new();
        let mut n_lines = n_ends;
        let mut break_line = |tail: &mut String| {
            tail.push_str(end);
            n_lines += 1;
        };
        let last = body.rsplit(|byte| *byte == b'\n').next();
        if last.is_some_and(|last| !last.is_empty()) {
            break_line(&mut tail);
        }
        // A blank line, unless there is one: what is above must not run on into the text. At the top of a file, a rule would be
        // taken for the beginning of front matter.
        let is_rule = || {
            self.heading.is_empty()
                && self
                    .lines
                    .first()
                    .is_some_and(|line| line.starts_with("---"))
        };
        if (body.is_empty() && is_rule()) || (!body.is_empty() && !ends_blank(body)) {
            break_line(&mut tail);
        }
        let first = n_lines + 1;
        let mut lines: Vec<&str> = Vec::new();
        if !self.heading.is_empty() {
            lines.extend([self.heading.as_str(), ""]);
        }
        lines.extend(self.lines.iter().map(String::as_str));
        for line in &lines {
            tail.push_str(line);
            tail.push_str(end);
        }
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Ok(Tail {
            bytes: tail.into_bytes(),
            lines: LineRange {
                start: number(first),
                end: number(first + lines.len() - 1),
            },
        })
    }

    /// Returns where a file has the same text already: as a section, an entry, paragraphs or list items of its own. White space at
    /// the ends of lines and the depth of headings do not matter.
    pub(crate) fn find_in(&self, content: &str) -> Option<LineRange> {
        let content = content.strip_prefix('\u{feff}').unwrap_or(content);
        let there: Vec<&str> = content.lines().map(str::trim_end).collect();
        let wanted: Vec<&str> = self.lines.iter().map(|line| line.trim_end()).collect();
        let is_list = wanted.first().is_some_and(|line| is_list_item(line));
        let is_border = |line: Option<&&str>| {
            line.is_none_or(|line| {
                is_blank(line)
                    || atx_heading(line.trim_start()).is_some()
                    || is_underline(line)
                    || (is_list && is_list_item(line))
            })
        };
        let mut windows = there.windows(wanted.len()).enumerate();
        windows.find_map(|(start, window)| {
            // An indented first line is a matter of taste.
            let (first, rest) = (window.first(), wanted.first());
            let is_same = || {
                first
                    .zip(rest)
                    .is_some_and(|(a, b)| same_line(a.trim_start(), b.trim_start()))
                    && window
                        .iter()
                        .zip(&wanted)
                        .skip(1)
                        .all(|(a, b)| same_line(a, b))
            };
            let before = start.checked_sub(1).and_then(|idx| there.get(idx));
            let after = there.get(start + wanted.len());
            (is_same() && is_border(before) && is_border(after)).then(|| LineRange {
                start: u32::try_from(start + 1).unwrap_or(u32::MAX),
                end: u32::try_from(start + wanted.len()).unwrap_or(u32::MAX),
            })
        })
    }
}

/// Puts the headings of a text below one of `level`, and closes what it leaves open.
fn fit(lines: &[&str], level: usize) -> Vec<String> {
    let mut levels = Vec::new();
    scan(lines, |_, kind| {
        if let Kind::Heading(found) | Kind::Underline(found) = kind {
            levels.push(found);
        }
    });
    let highest = levels.into_iter().min().unwrap_or(MAX_LEVEL);
    let deeper = if level == 0 {
        0
    } else {
        (level + 1).saturating_sub(highest)
    };
    let mut fitted: Vec<String> = Vec::new();
    // How many lines the paragraph above the current line has.
    let mut n_paragraph = 0;
    let left_open = scan(lines, |line, kind| {
        match kind {
            Kind::Heading(found) if deeper > 0 => {
                let (space, rest) = line.split_at(line.len() - line.trim_start().len());
                let title = rest.trim_start_matches('#');
                let marks = "#".repeat((found + deeper).min(MAX_LEVEL));
                fitted.push(format!("{space}{marks}{title}"));
            }
            Kind::Underline(found) if deeper > 0 && n_paragraph == 1 => {
                let marks = "#".repeat((found + deeper).min(MAX_LEVEL));
                if let Some(title) = fitted.last_mut() {
                    *title = format!("{marks} {}", title.trim());
                }
            }
            // A paragraph of several lines cannot be a heading of the other form; a blank line makes the underline a rule.
            Kind::Underline(_) if deeper > 0 => fitted.extend([String::new(), line.to_owned()]),
            _ => fitted.push(line.to_owned()),
        }
        n_paragraph = if kind == Kind::Paragraph {
            n_paragraph + 1
        } else {
            0
        };
    });
    fitted.extend(left_open);
    fitted
}

/// What a line is, as far as the structure of the file depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `## Heading`, of this level.
    Heading(usize),
    /// Makes the paragraph above it a heading of this level.
    Underline(usize),
    /// Text that a line below it may make a heading.
    Paragraph,
    Other,
}

/// What lines are within, and what ends it.
#[derive(Debug, Clone)]
enum Open {
    Fence { mark: char, len: usize },
    Html(String),
}

impl Open {
    fn begin(line: &str) -> Option<Self> {
        let text = unindented(line)?;
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'));
        if let Some(mark) = mark {
            let info = text.trim_start_matches(mark);
            let len = text.len() - info.len();
            // A backtick behind it makes it a code span.
            let is_fence = len >= 3 && (mark == '~' || !info.contains('`'));
            return is_fence.then_some(Self::Fence { mark, len });
        }
        let rest = text.strip_prefix('<')?;
        let is_declaration = || {
            rest.strip_prefix('!')
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
        };
        let end = if rest.starts_with("!--") {
            "-->".to_owned()
        } else if rest.starts_with('?') {
            "?>".to_owned()
        } else if rest.starts_with("![CDATA[") {
            "]]>".to_owned()
        } else if is_declaration() {
            ">".to_owned()
        } else {
            let name = rest.split([' ', '\t', '>']).next()?.to_ascii_lowercase();
            format!("</{}>", RAW_TAGS.iter().find(|tag| **tag == name)?)
        };
        // It may end where it began.
        let html = Self::Html(end);
        (!html.ends_in(line)).then_some(html)
    }

    fn ends_in(&self, line: &str) -> bool {
        match self {
            Self::Fence { mark, len } => unindented(line).is_some_and(|text| {
                let rest = text.trim_start_matches(*mark);
                text.len() - rest.len() >= *len && is_blank(rest)
            }),
            Self::Html(end) => line.to_ascii_lowercase().contains(end.as_str()),
        }
    }

    fn end(&self) -> String {
        match self {
            Self::Fence { mark, len } => mark.to_string().repeat(*len),
            Self::Html(end) => end.clone(),
        }
    }
}

/// Says of each line what it is; returns the line that closes what is left open at the end.
fn scan<'a>(lines: &[&'a str], mut each: impl FnMut(&'a str, Kind)) -> Option<String> {
    let mut open: Option<Open> = None;
    // Whether the lines above, up to a blank one, are a plain paragraph; `None` after a blank line.
    let mut is_paragraph: Option<bool> = None;
    for line in lines {
        if let Some(within) = &open {
            if within.ends_in(line) {
                open = None;
            }
            each(line, Kind::Other);
            continue;
        }
        let begun = Open::begin(line);
        let kind = match unindented(line).map(|text| (text, atx_heading(text))) {
            _ if begun.is_some() => Kind::Other,
            Some((_, Some((level, _)))) => Kind::Heading(level),
            Some((text, None)) if is_paragraph == Some(true) && is_underline(text) => {
                Kind::Underline(if text.starts_with('=') { 1 } else { 2 })
            }
            // An indented line goes on with a paragraph, and begins none.
            _ if is_paragraph == Some(true) && !is_blank(line) && !is_list_item(line) => {
                Kind::Paragraph
            }
            Some((text, None)) if is_paragraph.is_none() && is_plain(text) => Kind::Paragraph,
            _ => Kind::Other,
        };
        is_paragraph = match kind {
            _ if is_blank(line) => None,
            Kind::Heading(_) | Kind::Underline(_) => None,
            Kind::Paragraph => Some(true),
            Kind::Other => Some(false),
        };
        if begun.is_some() {
            is_paragraph = None;
            open = begun;
        }
        each(line, kind);
    }
    open.map(|open| open.end())
}

/// Returns a line without its indentation, unless that makes it code.
fn unindented(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len() - text.len() < 4 && !text.starts_with('\t')).then_some(text)
}

/// Reads `## Heading` into its level and the rest.
fn atx_heading(text: &str) -> Option<(usize, &str)> {
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    let is_heading =
        (1..=MAX_LEVEL).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_heading.then(|| (level, rest.trim()))
}

/// Returns whether a line is `===` or `---` of any length.
fn is_underline(line: &str) -> bool {
    let text = line.trim();
    ['=', '-']
        .iter()
        .any(|mark| text.starts_with(*mark) && text.trim_start_matches(*mark).is_empty())
}

fn is_list_item(line: &str) -> bool {
    let text = line.trim_start();
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if rest.len() == text.len() {
        rest.strip_prefix(['-', '*', '+'])
    } else {
        rest.strip_prefix(['.', ')'])
    };
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Returns whether a line begins a paragraph, and nothing that only looks like one.
fn is_plain(text: &str) -> bool {
    !is_blank(text) && !is_list_item(text) && !text.starts_with(['>', '|', '<'])
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// The depth of headings is a matter of place.
fn same_line(a: &str, b: &str) -> bool {
    a == b
        || match (atx_heading(a.trim_start()), atx_heading(b.trim_start())) {
            (Some((_, a)), Some((_, b))) => a == b,
            _ => false,
        }
}

fn count(content: &[u8], part: &[u8]) -> usize {
    content
        .windows(part.len())
        .filter(|window| *window == part)
        .count()
}

/// Returns whether the last line, which may lack its end, is blank.
fn ends_blank(body: &[u8]) -> bool {
    let body = body.strip_suffix(b"\n").unwrap_or(body);
    let last = body.rsplit(|byte| *byte == b'\n').next().unwrap_or(body);
    last.iter().all(u8::is_ascii_whitespace)
}
