//! What a process did to the files of a folder, as bytes: written by the layer, one record per call, and read by the checker.

use crate::Result;

/// Names a file or folder that was opened, in the records of one process.
pub(crate) type Handle = u32;

/// One change, or what makes changes durable. Paths are relative to the folder; the folder itself is the empty path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    /// A process begins; handles of the one before it mean nothing any more.
    Begin,
    /// Something that a person would say of this moment.
    Mark(String),
    /// A file or folder was opened, and made or emptied by that.
    Open {
        handle: Handle,
        path: String,
        created: bool,
        truncated: bool,
    },
    Write {
        handle: Handle,
        at: u64,
        bytes: Vec<u8>,
    },
    SetLen {
        handle: Handle,
        len: u64,
    },
    /// What was written to the file, or the names in the folder, are on the disk.
    Sync {
        handle: Handle,
    },
    Rename {
        from: String,
        to: String,
    },
    /// Another name of a file.
    Link {
        from: String,
        to: String,
    },
    Unlink(String),
    MakeFolder(String),
    RemoveFolder(String),
    /// A file was mapped for writing: what is written so is seen by nobody.
    Map {
        handle: Handle,
    },
}

impl Op {
    /// Appends the record to `out`: its length, its kind, its fields.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let begin = out.len();
        out.extend([0; 4]);
        match self {
            Self::Begin => out.push(0),
            Self::Mark(text) => record(out, 1, &[], &[text]),
            Self::Open {
                handle,
                path,
                created,
                truncated,
            } => {
                let flags = u64::from(*created) | u64::from(*truncated) << 1;
                record(out, 2, &[u64::from(*handle), flags], &[path]);
            }
            Self::Write { handle, at, bytes } => {
                record(out, 3, &[u64::from(*handle), *at], &[]);
                out.extend(bytes);
            }
            Self::SetLen { handle, len } => record(out, 4, &[u64::from(*handle), *len], &[]),
            Self::Sync { handle } => record(out, 5, &[u64::from(*handle)], &[]),
            Self::Rename { from, to } => record(out, 6, &[], &[from, to]),
            Self::Link { from, to } => record(out, 7, &[], &[from, to]),
            Self::Unlink(path) => record(out, 8, &[], &[path]),
            Self::MakeFolder(path) => record(out, 9, &[], &[path]),
            Self::RemoveFolder(path) => record(out, 10, &[], &[path]),
            Self::Map { handle } => record(out, 11, &[u64::from(*handle)], &[]),
        }
        let len = u32::try_from(out.len() - begin - 4).unwrap_or(u32::MAX);
        for (place, byte) in out.iter_mut().skip(begin).zip(len.to_le_bytes()) {
            *place = byte;
        }
    }

    /// Reads all records.
    pub(crate) fn decode_all(bytes: &[u8]) -> Result<Vec<Self>> {
        let mut ops = Vec::new();
        let mut rest = Reader(bytes);
        while !rest.0.is_empty() {
            let len = u32::from_le_bytes(rest.array()?);
            let mut fields = Reader(rest.take(usize::try_from(len)?)?);
            ops.push(Self::decode(&mut fields)?);
        }
        Ok(ops)
    }

    fn decode(fields: &mut Reader<'_>) -> Result<Self> {
        let [kind] = fields.array()?;
        Ok(match kind {
            0 => Self::Begin,
            1 => Self::Mark(fields.text()?),
            2 => {
                let (handle, flags) = (fields.handle()?, fields.number()?);
                Self::Open {
                    handle,
                    path: fields.text()?,
                    created: flags & 1 != 0,
                    truncated: flags & 2 != 0,
                }
            }
            3 => Self::Write {
                handle: fields.handle()?,
                at: fields.number()?,
                bytes: fields.0.to_vec(),
            },
            4 => Self::SetLen {
                handle: fields.handle()?,
                len: fields.number()?,
            },
            5 => Self::Sync {
                handle: fields.handle()?,
            },
            6 => Self::Rename {
                from: fields.text()?,
                to: fields.text()?,
            },
            7 => Self::Link {
                from: fields.text()?,
                to: fields.text()?,
            },
            8 => Self::Unlink(fields.text()?),
            9 => Self::MakeFolder(fields.text()?),
            10 => Self::RemoveFolder(fields.text()?),
            11 => Self::Map {
                handle: fields.handle()?,
            },
            other => return Err(format!("a record of the unknown kind {other}").into()),
        })
    }
}

fn record(out: &mut Vec<u8>, kind: u8, numbers: &[u64], texts: &[&str]) {
    out.push(kind);
    for number in numbers {
        out.extend(number.to_le_bytes());
    }
    for text in texts {
        out.extend(u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
        out.extend(text.as_bytes());
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .0
            .split_at_checked(len)
            .ok_or("the records end in the middle of one")?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.take(N)?.try_into()?)
    }

    fn number(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn handle(&mut self) -> Result<Handle> {
        Ok(Handle::try_from(self.number()?)?)
    }

    fn text(&mut self) -> Result<String> {
        let len = usize::try_from(self.number()?)?;
        Ok(String::from_utf8(self.take(len)?.to_vec())?)
    }
}
