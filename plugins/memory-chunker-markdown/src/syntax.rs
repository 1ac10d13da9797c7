//! What a single line can be in CommonMark and GFM, without knowing its neighbours.
//!
//! Every function looks at its line once, so that a line of a megabyte costs no more than a megabyte of lines.

/// Longer headings are text: somebody forgot a blank line, and every entry below would carry it in its heading path.
const MAX_HEADING_BYTES: usize = 512;

/// A speaker's name is not longer.
const MAX_NAME_BYTES: usize = 128;

/// Tags that begin an HTML block which ends at a blank line (CommonMark 0.31, HTML block start condition 6).
const BLOCK_TAGS: &[&str] = &[
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

/// Tags whose content is taken literally up to the closing tag (start condition 1).
const RAW_TAGS: &[&str] = &["pre", "script", "style", "textarea"];

/// An opening code fence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fence {
    mark: char,
    len: usize,
}

impl Fence {
    /// Reads an opening fence from a line without its indentation.
    pub(crate) fn open(text: &str) -> Option<Self> {
        let mark = text
            .chars()
            .next()
            .filter(|mark| matches!(mark, '`' | '~'))?;
        let info = text.trim_start_matches(mark);
        let len = text.len() - info.len();
        // A backtick in the info string makes it a code span.
        (len >= 3 && (mark == '~' || !info.contains('`'))).then_some(Self { mark, len })
    }

    /// Returns whether the line, without its indentation, closes this fence.
    pub(crate) fn is_closed_by(self, text: &str) -> bool {
        let rest = text.trim_start_matches(self.mark);
        text.len() - rest.len() >= self.len && rest.trim_start().is_empty()
    }
}

/// Returns the columns up to the first character that is no space or tab, counted from `column`, and what follows.
pub(crate) fn indent(text: &str, column: usize) -> (usize, &str) {
    let mut end = column;
    for (idx, byte) in text.bytes().enumerate() {
        match byte {
            b' ' => end += 1,
            b'\t' => end += 4 - end % 4,
            _ => return (end - column, text.get(idx..).unwrap_or_default()),
        }
    }
    (end - column, "")
}

/// Reads `## Heading ##` into its level and text.
pub(crate) fn atx_heading(text: &str) -> Option<(usize, &str)> {
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    let closed = title.trim_end_matches('#');
    let title = if closed.is_empty() || closed.ends_with([' ', '\t']) {
        closed.trim_end()
    } else {
        title
    };
    (title.len() <= MAX_HEADING_BYTES).then_some((level, title))
}

/// Reads the line below a setext heading into the heading's level.
pub(crate) fn setext_underline(text: &str) -> Option<usize> {
    let text = text.trim_end();
    let mark = text.chars().next()?;
    let level = match mark {
        '=' => 1,
        '-' => 2,
        _ => return None,
    };
    text.trim_start_matches(mark).is_empty().then_some(level)
}

/// Returns the text of a setext heading, or nothing where a paragraph is too long to be one.
pub(crate) fn setext_title(paragraph: &str) -> Option<String> {
    let paragraph = paragraph.trim();
    (paragraph.len() <= MAX_HEADING_BYTES)
        .then(|| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns whether the line is a thematic break: three or more `-`, `_` or `*` and nothing else.
pub(crate) fn is_rule(text: &str) -> bool {
    let Some(mark) = text
        .bytes()
        .next()
        .filter(|mark| matches!(mark, b'-' | b'_' | b'*'))
    else {
        return false;
    };
    let mut n_marks = 0;
    for byte in text.bytes() {
        match byte {
            b' ' | b'\t' => {}
            _ if byte == mark => n_marks += 1,
            _ => return false,
        }
    }
    n_marks >= 3
}

/// The beginning of a list item.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marker<'a> {
    /// `-`, `+` or `*`; `.` or `)` after a number. Items with the same mark form one list.
    pub(crate) mark: u8,
    /// How far the item's other lines have to be indented, in columns from the marker.
    pub(crate) width: usize,
    /// The item's first line.
    pub(crate) content: &'a str,
    /// Whether it may stand directly below a paragraph's text.
    pub(crate) interrupts: bool,
}

/// Reads the marker of a list item that begins in `column`.
pub(crate) fn list_marker(text: &str, column: usize) -> Option<Marker<'_>> {
    let n_digits = text.bytes().take(10).take_while(u8::is_ascii_digit).count();
    let mark = *text.as_bytes().get(n_digits)?;
    let fits = match n_digits {
        0 => matches!(mark, b'-' | b'+' | b'*'),
        1..=9 => matches!(mark, b'.' | b')'),
        _ => false,
    };
    let number = text.get(..n_digits)?;
    let rest = text.get(n_digits + 1..).filter(|_| fits)?;
    if !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let (space, content) = indent(rest, column + n_digits + 1);
    let is_empty = content.trim_start().is_empty();
    let space = if is_empty || space > 4 { 1 } else { space };
    Some(Marker {
        mark,
        width: n_digits + 1 + space,
        content,
        interrupts: !is_empty && matches!(number, "" | "1"),
    })
}

/// What ends an HTML block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HtmlEnd {
    Blank,
    Text(&'static str),
    RawTag,
}

impl HtmlEnd {
    /// Returns whether the line is the block's last one.
    pub(crate) fn is_in(self, text: &str) -> bool {
        match self {
            Self::Blank => text.trim_start().is_empty(),
            Self::Text(end) => text.contains(end),
            Self::RawTag => text
                .split('<')
                .skip(1)
                .filter_map(|tag| tag.strip_prefix('/')?.split_once('>'))
                .any(|(tag, _)| is_one_of(tag, RAW_TAGS)),
        }
    }
}

/// The end of a comment.
pub(crate) const COMMENT_END: HtmlEnd = HtmlEnd::Text("-->");

/// Reads the beginning of an HTML block and says what ends it; `interrupting` a paragraph fewer lines begin one.
pub(crate) fn html_start(text: &str, interrupting: bool) -> Option<HtmlEnd> {
    let rest = text.strip_prefix('<')?;
    if rest.starts_with("!--") {
        return Some(COMMENT_END);
    }
    if rest.starts_with('?') {
        return Some(HtmlEnd::Text("?>"));
    }
    if rest.starts_with("![CDATA[") {
        return Some(HtmlEnd::Text("]]>"));
    }
    if let Some(declaration) = rest.strip_prefix('!') {
        return declaration
            .starts_with(|first: char| first.is_ascii_alphabetic())
            .then_some(HtmlEnd::Text(">"));
    }
    let (name, after, closing) = match rest.strip_prefix('/') {
        Some(rest) => tag_name(rest).map(|(name, after)| (name, after, true))?,
        None => tag_name(rest).map(|(name, after)| (name, after, false))?,
    };
    let bounded = after.is_empty() || after.starts_with([' ', '\t', '>']);
    if !closing && bounded && is_one_of(name, RAW_TAGS) {
        return Some(HtmlEnd::RawTag);
    }
    if (bounded || after.starts_with("/>")) && is_one_of(name, BLOCK_TAGS) {
        return Some(HtmlEnd::Blank);
    }
    // Start condition 7: a complete tag alone on its line. An attribute value with `>` in it is not looked into.
    let complete = after.trim_end().strip_suffix('>').is_some_and(|inner| {
        !inner.contains(['<', '>']) && (inner.is_empty() || inner.starts_with([' ', '\t', '/']))
    });
    (!interrupting && complete).then_some(HtmlEnd::Blank)
}

fn tag_name(text: &str) -> Option<(&str, &str)> {
    let len = text
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        .count();
    text.split_at_checked(len)
        .filter(|(name, _)| name.starts_with(|first: char| first.is_ascii_alphabetic()))
}

fn is_one_of(name: &str, tags: &[&str]) -> bool {
    tags.iter().any(|tag| tag.eq_ignore_ascii_case(name))
}

/// Returns the number of columns of a table's delimiter row, such as `| --- | :-: |`.
pub(crate) fn delimiter_row(text: &str) -> Option<usize> {
    let is_delimiter = text
        .bytes()
        .all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'));
    if !is_delimiter || !text.contains('|') {
        return None;
    }
    let mut n_columns = 0;
    for cell in inner_row(text).split('|') {
        let cell = cell.trim();
        let cell = cell.strip_prefix(':').unwrap_or(cell);
        let cell = cell.strip_suffix(':').unwrap_or(cell);
        if cell.is_empty() || cell.bytes().any(|byte| byte != b'-') {
            return None;
        }
        n_columns += 1;
    }
    Some(n_columns)
}

/// Returns the number of columns of a table's row; 0 where nothing divides it.
pub(crate) fn table_columns(text: &str) -> usize {
    if !text.contains('|') {
        return 0;
    }
    let mut escaped = false;
    let mut n_columns = 1;
    for byte in inner_row(text).bytes() {
        match byte {
            b'\\' => escaped = !escaped,
            b'|' if !escaped => n_columns += 1,
            _ => escaped = false,
        }
    }
    n_columns
}

fn inner_row(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix('|').unwrap_or(text);
    match text.strip_suffix('|') {
        Some(inner) if !inner.ends_with('\\') => inner,
        _ => text,
    }
}

/// Returns whether the line begins a turn of a chat: `**Name**: …` or `**Name:** …`, with a colon of either width.
pub(crate) fn is_speaker(text: &str) -> bool {
    let Some((name, said)) = text
        .trim_start()
        .strip_prefix("**")
        .and_then(|rest| rest.split_once("**"))
    else {
        return false;
    };
    let colon = [':', '：'];
    let outside = said.trim_start().starts_with(colon);
    let inside = name.ends_with(colon);
    let name = name.trim_end_matches(colon).trim();
    (outside || inside) && !name.is_empty() && name.len() <= MAX_NAME_BYTES && !name.contains('*')
}
