//! The top-level blocks of a Markdown text.
//!
//! The scanner follows CommonMark 0.31 and GFM's tables for what stands at the top level, and looks into quotes and list items
//! only as far as it takes to know where they end. It reads every line once and keeps no stack of containers, so that time is
//! linear for any text.

use std::ops::Range;

use memory_text::line::{Line, lines, slice};

use crate::syntax::{
    COMMENT_END, Fence, HtmlEnd, atx_heading, delimiter_row, html_start, indent, is_rule,
    list_marker, setext_title, setext_underline, table_columns,
};

/// What a block is, as far as cutting asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Heading {
        level: usize,
        title: String,
    },
    Paragraph,
    /// A list item with all that is nested in it; items with the same mark in a row form one list.
    Item {
        mark: u8,
    },
    Quote,
    Table,
    /// A code fence, indented code or HTML: text without sentences.
    Verbatim,
    /// HTML comments and nothing else.
    Comment,
    Rule,
}

/// A block and its bytes, from the beginning of its first line to the end of its last one that is not blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
}

/// Returns the top-level blocks of `text[from..]`.
pub(crate) fn blocks(text: &str, from: usize) -> Vec<Block> {
    let mut scanner = Scanner {
        text,
        blocks: Vec::new(),
        open: None,
    };
    for line in lines(text, from) {
        scanner.feed(line);
    }
    scanner.close();
    scanner.blocks
}

/// A block whose end is not known yet.
#[derive(Debug)]
struct Open<'a> {
    state: State<'a>,
    span: Range<usize>,
}

#[derive(Debug)]
enum State<'a> {
    Paragraph {
        last: Line<'a>,
    },
    Fence(Fence),
    Indented,
    Html {
        end: HtmlEnd,
        comment: bool,
    },
    Table,
    Quote(Inner),
    Item {
        mark: u8,
        width: usize,
        empty: bool,
        after_blank: bool,
        inner: Inner,
    },
}

/// What is known of the inside of a quote or list item: whether its last line may go on without the container's prefix.
#[derive(Debug, Default)]
struct Inner {
    fence: Option<Fence>,
    in_paragraph: bool,
}

impl Inner {
    fn feed(&mut self, content: &str) {
        self.in_paragraph = false;
        let mut rest = content.trim_start();
        if let Some(fence) = self.fence {
            if fence.is_closed_by(rest) {
                self.fence = None;
            }
            return;
        }
        if is_rule(rest) {
            return;
        }
        loop {
            if let Some(quoted) = rest.strip_prefix('>') {
                rest = quoted.trim_start();
            } else if let Some(marker) = list_marker(rest, 0) {
                rest = marker.content.trim_start();
            } else {
                break;
            }
        }
        self.fence = Fence::open(rest);
        self.in_paragraph = self.fence.is_none() && !rest.is_empty() && atx_heading(rest).is_none();
    }
}

struct Scanner<'a> {
    text: &'a str,
    blocks: Vec<Block>,
    open: Option<Open<'a>>,
}

impl<'a> Scanner<'a> {
    fn feed(&mut self, line: Line<'a>) {
        if !self.continues(line) {
            self.close();
            self.begin(line);
        }
    }

    /// Gives the line to the open block; returns whether it belongs there.
    fn continues(&mut self, line: Line<'a>) -> bool {
        let Some(mut open) = self.open.take() else {
            return line.is_blank();
        };
        let (columns, content) = indent(line.text, 0);
        let (keep_open, belongs) = match &mut open.state {
            State::Paragraph { last } => {
                let last = std::mem::replace(last, line);
                return self.continue_paragraph(open.span, last, line);
            }
            State::Fence(fence) => {
                let closed = columns < 4 && fence.is_closed_by(content);
                (!closed, true)
            }
            State::Indented => {
                let belongs = columns >= 4 || line.is_blank();
                (belongs, belongs)
            }
            State::Html { end, comment } => {
                let last = end.is_in(content);
                *comment &= !last || ends_comment(content);
                (!last, !(last && *end == HtmlEnd::Blank))
            }
            State::Table => {
                let belongs = !line.is_blank() && columns < 4 && !begins_block(content);
                (belongs, belongs)
            }
            State::Quote(inner) => {
                let belongs =
                    if let Some(quoted) = content.strip_prefix('>').filter(|_| columns < 4) {
                        inner.feed(quoted);
                        true
                    } else {
                        is_lazy(inner, line)
                    };
                (belongs, belongs)
            }
            State::Item {
                width,
                empty,
                after_blank,
                inner,
                ..
            } => {
                let belongs = if line.is_blank() {
                    *after_blank = true;
                    inner.in_paragraph = false;
                    // An item that begins with a blank line ends at the next one.
                    !*empty
                } else if columns >= *width {
                    *empty = false;
                    *after_blank = false;
                    inner.feed(content);
                    true
                } else {
                    !*after_blank && is_lazy(inner, line)
                };
                (belongs, belongs)
            }
        };
        if belongs && !line.is_blank() {
            open.span.end = line.end();
        }
        self.open = Some(open);
        if !keep_open {
            self.close();
        }
        belongs || line.is_blank()
    }

    fn continue_paragraph(&mut self, span: Range<usize>, last: Line<'a>, line: Line<'a>) -> bool {
        let (columns, content) = indent(line.text, 0);
        let shallow = columns < 4;
        if let Some(level) = setext_underline(content).filter(|_| shallow)
            && let Some(title) = setext_title(slice(self.text, span.clone()))
        {
            self.push(Kind::Heading { level, title }, span.start..line.end());
            return true;
        }
        if let Some(n_columns) = delimiter_row(content).filter(|_| shallow)
            && n_columns == table_columns(last.text)
        {
            if span.start < last.start {
                let above = slice(self.text, span.start..last.start).trim_end().len();
                self.push(Kind::Paragraph, span.start..span.start + above);
            }
            self.open = Some(Open {
                state: State::Table,
                span: last.start..line.end(),
            });
            return true;
        }
        let ends = line.is_blank() || (shallow && interrupts_paragraph(content));
        let end = if ends { span.end } else { line.end() };
        self.open = Some(Open {
            state: State::Paragraph { last: line },
            span: span.start..end,
        });
        !ends
    }

    fn begin(&mut self, line: Line<'a>) {
        if line.is_blank() {
            return;
        }
        let (columns, content) = indent(line.text, 0);
        let span = line.start..line.end();
        let state = if columns >= 4 {
            State::Indented
        } else if let Some((level, title)) = atx_heading(content) {
            let title = title.to_owned();
            return self.push(Kind::Heading { level, title }, span);
        } else if let Some(fence) = Fence::open(content) {
            State::Fence(fence)
        } else if let Some(quoted) = content.strip_prefix('>') {
            let mut inner = Inner::default();
            inner.feed(quoted);
            State::Quote(inner)
        } else if is_rule(content) {
            return self.push(Kind::Rule, span);
        } else if let Some(marker) = list_marker(content, columns) {
            let mut inner = Inner::default();
            inner.feed(marker.content);
            State::Item {
                mark: marker.mark,
                width: columns + marker.width,
                empty: marker.content.trim_start().is_empty(),
                after_blank: false,
                inner,
            }
        } else if let Some(end) = html_start(content, false) {
            let comment = end == COMMENT_END;
            if end.is_in(content) {
                let kind = if comment && ends_comment(content) {
                    Kind::Comment
                } else {
                    Kind::Verbatim
                };
                return self.push(kind, span);
            }
            State::Html { end, comment }
        } else {
            State::Paragraph { last: line }
        };
        self.open = Some(Open { state, span });
    }

    fn close(&mut self) {
        let Some(Open { state, span }) = self.open.take() else {
            return;
        };
        let kind = match state {
            State::Paragraph { .. } => Kind::Paragraph,
            State::Html { comment: true, .. } => Kind::Comment,
            State::Fence(_) | State::Indented | State::Html { .. } => Kind::Verbatim,
            State::Table => Kind::Table,
            State::Quote(_) => Kind::Quote,
            State::Item { mark, .. } => Kind::Item { mark },
        };
        self.push(kind, span);
    }

    fn push(&mut self, kind: Kind, span: Range<usize>) {
        self.blocks.push(Block { kind, span });
    }
}

/// Returns whether a line without its container's prefix goes on with the paragraph inside ("laziness" in CommonMark).
fn is_lazy(inner: &Inner, line: Line<'_>) -> bool {
    let (columns, content) = indent(line.text, 0);
    inner.in_paragraph && !line.is_blank() && (columns >= 4 || !begins_block(content))
}

/// Returns whether the line, outside of a paragraph of its own, begins another block than a paragraph.
fn begins_block(content: &str) -> bool {
    begins_leaf(content) || list_marker(content, 0).is_some()
}

fn interrupts_paragraph(content: &str) -> bool {
    begins_leaf(content) || list_marker(content, 0).is_some_and(|marker| marker.interrupts)
}

fn begins_leaf(content: &str) -> bool {
    // Most lines begin with a letter, and none of the blocks does.
    content
        .bytes()
        .next()
        .is_some_and(|first| first.is_ascii_punctuation())
        && (content.starts_with('>')
            || atx_heading(content).is_some()
            || Fence::open(content).is_some()
            || is_rule(content)
            || html_start(content, true).is_some())
}

/// Returns whether nothing but comments stands on the line that ends a comment.
fn ends_comment(content: &str) -> bool {
    content
        .rsplit_once("-->")
        .is_some_and(|(_, after)| after.trim().is_empty())
}
