//! Walks the files and what the store knows of them side by side.

use std::cmp::Ordering;
use std::collections::VecDeque;

use memory_api::Result;

use crate::discovery::{Found, Remarks, Source, Walk};
use crate::store::{Known, Store};

/// Documents that are asked of the store at once.
const PAGE: usize = 1000;

/// Compares both in the order of their paths. Neither is ever held as a whole.
#[derive(Debug)]
pub(crate) struct Comparison<'a> {
    walk: Walk<'a>,
    found: Option<Found>,
    /// By source.
    known: [KnownDocuments<'a>; 2],
}

/// What is on one side or on both.
#[derive(Debug)]
pub(crate) enum Compared {
    /// A file, and what is known of it.
    File(Found, Option<Known>),
    /// A document without a file, by its path.
    Gone(String, Known),
}

/// The documents of a namespace and a source, page by page.
#[derive(Debug)]
struct KnownDocuments<'a> {
    /// `None` when there are no more.
    store: Option<&'a Store>,
    namespace: &'a str,
    source: Source,
    page: VecDeque<(String, Known)>,
    /// The last path of the page.
    last: String,
}

impl KnownDocuments<'_> {
    async fn first(&mut self) -> Result<Option<&(String, Known)>> {
        if self.page.is_empty()
            && let Some(store) = self.store
        {
            let (namespace, last) = (self.namespace.to_owned(), std::mem::take(&mut self.last));
            let source = self.source.as_str();
            let page = store.known_documents(namespace, source, last, PAGE).await?;
            if page.len() < PAGE {
                self.store = None;
            }
            if let Some((path, _)) = page.last() {
                self.last.clone_from(path);
            }
            self.page = page.into();
        }
        Ok(self.page.front())
    }
}

impl<'a> Comparison<'a> {
    /// Begins; without a store, every file is a new one.
    pub(crate) fn new(mut walk: Walk<'a>, store: Option<&'a Store>, namespace: &'a str) -> Self {
        Self {
            found: walk.next(),
            walk,
            known: Source::ALL.map(|source| KnownDocuments {
                store,
                namespace,
                source,
                page: VecDeque::new(),
                last: String::new(),
            }),
        }
    }

    /// Returns what comes next. A document that may still be there, where nobody could look, is passed over.
    pub(crate) async fn next(&mut self) -> Result<Option<Compared>> {
        while let Some(known) = first_known(&mut self.known).await? {
            let Some((path, document)) = known.page.front() else {
                break;
            };
            let document = *document;
            let order = match &self.found {
                Some(found) => path.cmp(&found.path),
                None => Ordering::Less,
            };
            // The walk is past the place of a lesser path by now, and said what it could not look at on the way.
            let is_gone = order == Ordering::Less && !self.walk.remarks().hide(path);
            if order == Ordering::Greater {
                break;
            }
            let popped = known.page.pop_front();
            if order == Ordering::Equal {
                return Ok(self.take_file(Some(document)));
            }
            if is_gone {
                return Ok(popped.map(|(path, document)| Compared::Gone(path, document)));
            }
        }
        Ok(self.take_file(None))
    }

    /// Returns what the walk came across, when it is over.
    pub(crate) fn into_remarks(self) -> Remarks {
        self.walk.into_remarks()
    }

    fn take_file(&mut self, known: Option<Known>) -> Option<Compared> {
        let found = std::mem::replace(&mut self.found, self.walk.next())?;
        Some(Compared::File(found, known))
    }
}

/// Returns the source whose next document has the least path. A path belongs to one source, its name says which.
async fn first_known<'k, 'a>(
    known: &'k mut [KnownDocuments<'a>; 2],
) -> Result<Option<&'k mut KnownDocuments<'a>>> {
    let [notes, transcripts] = known;
    let (note, transcript) = (notes.first().await?, transcripts.first().await?);
    Ok(match (note, transcript) {
        (Some((note, _)), Some((transcript, _))) if transcript < note => Some(transcripts),
        (Some(_), _) => Some(notes),
        (None, Some(_)) => Some(transcripts),
        (None, None) => None,
    })
}
