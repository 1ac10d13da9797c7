use std::ops::Range;

use memory_api::{Chunked, Chunker, Document, DraftEntry, Fingerprint, Identity, Result};
use memory_text::cut::{Cutter, Piece};
use memory_text::line::{BYTE_ORDER_MARK, is_visible, lines, slice};

use crate::block::{Block, Kind, blocks};
use crate::config::{Config, Split};
use crate::front_matter::FrontMatter;
use crate::syntax::is_speaker;

/// Raised whenever a document may be cut in another way than before, which includes a change of the token estimate. Not for what
/// nobody finds: an entry that was a lone byte order mark and is none any more is not worth a new index.
const CUT_VERSION: u32 = 1;

/// Cuts Markdown and plain text at headings, blocks and sentences.
#[derive(Debug, Clone)]
pub struct MarkdownChunker {
    config: Config,
}

impl MarkdownChunker {
    /// Creates a chunker.
    ///
    /// # Errors
    ///
    /// `Config` for sizes that are out of range or contradict each other.
    pub fn new(config: Config) -> Result<Self> {
        config.validate()?;
        Ok(Self { config })
    }
}

impl Identity for MarkdownChunker {
    fn fingerprint(&self) -> Fingerprint {
        let Config {
            split, max_tokens, ..
        } = self.config;
        Fingerprint(format!(
            "{}/{CUT_VERSION} split={} max_tokens={max_tokens} overlap_tokens={}",
            crate::NAME,
            split.as_str(),
            self.config.overlap_tokens()
        ))
    }
}

impl Chunker for MarkdownChunker {
    fn accepts(&self, document: &Document<'_>) -> bool {
        let name = document.path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').is_some_and(|(_, extension)| {
            ["md", "markdown", "mdx", "txt"]
                .iter()
                .any(|known| known.eq_ignore_ascii_case(extension))
        })
    }

    fn chunk(&self, document: &Document<'_>) -> Result<Chunked> {
        let text = document.text;
        let start = if text.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len_utf8()
        } else {
            0
        };
        let front_matter = FrontMatter::read(text, start);

        let mut chunked = Chunked::default();
        chunked.meta = front_matter.meta;
        chunked.warnings = front_matter.warnings;
        if start > 0 {
            chunked.excluded.push(0..start);
        }
        chunked.excluded.extend(front_matter.excluded);

        let mut builder = Builder {
            cutter: Cutter {
                text,
                max_tokens: self.config.max_tokens,
                overlap_tokens: self.config.overlap_tokens(),
            },
            split: self.config.split,
            chunked,
            headings: Vec::new(),
        };
        let broken = front_matter.text.map(|span| Block {
            kind: Kind::Paragraph,
            span,
        });
        let mut heading = None;
        let mut body = Vec::new();
        let mut titles = Vec::new();
        // How many headings stand above the turns of a chat. A deeper heading belongs to its turn: it is formatting of what was
        // said, ends with the turn, and does not tear a section.
        let mut chat_depth = None;
        for block in broken.into_iter().chain(blocks(text, front_matter.body)) {
            if let Kind::Heading { level, title } = &block.kind {
                let n_above = builder.headings.partition_point(|(above, _)| above < level);
                chat_depth = chat_depth.filter(|depth| n_above >= *depth);
                if chat_depth.is_some() && self.config.split == Split::Section {
                    body.push(block);
                    continue;
                }
                titles.push(Piece::verbatim(block.span.clone()));
                builder.section(
                    heading.replace(block.span.clone()),
                    &std::mem::take(&mut body),
                );
                builder.headings.truncate(n_above);
                builder.headings.push((*level, title.clone()));
                continue;
            }
            if builder.begins_turn(&block) {
                let depth = chat_depth.unwrap_or(builder.headings.len());
                if builder.headings.len() > depth {
                    builder.section(heading.take(), &std::mem::take(&mut body));
                    builder.headings.truncate(depth);
                }
                chat_depth = Some(depth);
            }
            body.push(block);
        }
        builder.section(heading, &body);
        if builder.chunked.entries.is_empty() {
            builder.titles_alone(&titles);
        }
        builder
            .chunked
            .excluded
            .sort_unstable_by_key(|span| span.start);
        Ok(builder.chunked)
    }
}

/// Collects the entries of a document.
struct Builder<'a> {
    cutter: Cutter<'a>,
    split: Split,
    chunked: Chunked,
    /// The headings above the current place and its own, with their levels.
    headings: Vec<(usize, String)>,
}

impl Builder<'_> {
    fn begins_turn(&self, block: &Block) -> bool {
        let first_line = || lines(self.cutter.text, block.span.start).next();
        block.kind == Kind::Paragraph && first_line().is_some_and(|line| is_speaker(line.text))
    }

    /// Adds the entries of a heading and the blocks below it.
    fn section(&mut self, heading: Option<Range<usize>>, body: &[Block]) {
        match self.split {
            Split::Section => {
                let pieces = self.section_pieces(heading.is_some(), body);
                if pieces.iter().any(|piece| self.is_visible(piece)) {
                    self.add(heading, &pieces);
                } else {
                    self.exclude(heading);
                    self.exclude(pieces.into_iter().map(|piece| piece.span));
                }
            }
            Split::Block => {
                self.exclude(heading);
                for piece in self.block_pieces(body) {
                    if self.is_visible(&piece) {
                        self.add(None, &[piece]);
                    } else {
                        self.exclude([piece.span]);
                    }
                }
            }
        }
    }

    /// A note that is nothing but headings, such as `# Call the plumber`, says what it says in them.
    fn titles_alone(&mut self, titles: &[Piece]) {
        let titles: Vec<Piece> = titles
            .iter()
            .filter(|title| {
                self.is_visible(title)
                    && slice(self.cutter.text, title.span.clone()).contains(char::is_alphanumeric)
            })
            .cloned()
            .collect();
        let spans = self.cutter.cut(None, &titles).entries;
        self.chunked.excluded.retain(|left_out| {
            let idx = spans.partition_point(|span| span.end <= left_out.start);
            spans.get(idx).is_none_or(|span| left_out.end <= span.start)
        });
        for span in spans {
            self.chunked
                .entries
                .push(DraftEntry::new(slice(self.cutter.text, span.clone()), span));
        }
    }

    /// Returns a piece per block, a list being one. Rules at the borders of a section say nothing and are left out.
    fn section_pieces(&mut self, has_heading: bool, mut body: &[Block]) -> Vec<Piece> {
        while let Some((last, rest)) = body
            .split_last()
            .filter(|(last, _)| last.kind == Kind::Rule)
        {
            self.exclude([last.span.clone()]);
            body = rest;
        }
        // Below a heading a rule is inside of the entry, which is one piece of the file.
        while let Some((first, rest)) = body
            .split_first()
            .filter(|(first, _)| !has_heading && first.kind == Kind::Rule)
        {
            self.exclude([first.span.clone()]);
            body = rest;
        }
        let together = |before: &Block, block: &Block| match before.kind {
            // A heading inside of a turn is never alone.
            Kind::Heading { .. } => true,
            Kind::Item { .. } => before.kind == block.kind,
            _ => false,
        };
        body.chunk_by(together)
            .filter_map(|blocks| {
                let (first, last) = (blocks.first()?, blocks.last()?);
                let mut piece = self.piece(first);
                piece
                    .parts
                    .extend(blocks.iter().skip(1).map(|item| item.span.start));
                piece.span.end = last.span.end;
                Some(piece)
            })
            .collect()
    }

    /// Returns a piece per block and chat turn. A comment belongs to the block it stands above.
    fn block_pieces(&mut self, body: &[Block]) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut comment: Option<Range<usize>> = None;
        for block in body {
            match block.kind {
                Kind::Comment => {
                    let start = comment.map_or(block.span.start, |comment| comment.start);
                    comment = Some(start..block.span.end);
                }
                Kind::Rule => {
                    pieces.extend(comment.take().map(Piece::verbatim));
                    self.exclude([block.span.clone()]);
                }
                _ => {
                    let piece = self.piece(block);
                    let mut start = comment
                        .take()
                        .map_or(piece.span.start, |comment| comment.start);
                    for end in piece.parts.into_iter().chain([piece.span.end]) {
                        pieces.push(Piece {
                            span: start..end,
                            parts: Vec::new(),
                            prose: piece.prose,
                        });
                        start = end;
                    }
                }
            }
        }
        pieces.extend(comment.map(Piece::verbatim));
        pieces
    }

    fn piece(&self, block: &Block) -> Piece {
        let span = block.span.clone();
        if matches!(block.kind, Kind::Verbatim | Kind::Table | Kind::Comment) {
            return Piece::verbatim(span);
        }
        let parts = if block.kind == Kind::Paragraph {
            lines(slice(self.cutter.text, 0..span.end), span.start)
                .skip(1)
                .filter(|line| is_speaker(line.text))
                .map(|line| line.start)
                .collect()
        } else {
            Vec::new()
        };
        Piece {
            span,
            parts,
            prose: true,
        }
    }

    /// Returns whether there is anything to read. A chunk of marks that nobody sees would find nothing.
    fn is_visible(&self, piece: &Piece) -> bool {
        is_visible(slice(self.cutter.text, piece.span.clone()))
    }

    fn add(&mut self, heading: Option<Range<usize>>, pieces: &[Piece]) {
        let cut = self.cutter.cut(heading.as_ref(), pieces);
        if cut.lead_left_out {
            self.exclude(heading);
        }
        self.exclude(cut.blank);
        for span in cut.entries {
            let mut entry = DraftEntry::new(slice(self.cutter.text, span.clone()), span);
            entry.heading_path = self
                .headings
                .iter()
                .map(|(_, title)| title.clone())
                .filter(|title| !title.is_empty())
                .collect();
            self.chunked.entries.push(entry);
        }
    }

    fn exclude(&mut self, spans: impl IntoIterator<Item = Range<usize>>) {
        self.chunked.excluded.extend(spans);
    }
}
