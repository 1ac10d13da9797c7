use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind as IoKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memory_api::{Error, ErrorKind, Result};

use crate::quant::Dtype;

/// The tensors of one file. Their places are known to lie inside the file before one is read.
#[derive(Debug)]
pub(crate) struct Tensors {
    path: PathBuf,
    file: File,
    infos: BTreeMap<String, TensorInfo>,
}

/// Where a tensor lies.
#[derive(Debug, Clone)]
pub(crate) struct TensorInfo {
    /// `None` for a format this crate does not read; an error only for a tensor that is needed.
    pub(crate) dtype: Option<Dtype>,
    /// The format's name, for people.
    pub(crate) format: String,
    /// Rows first.
    pub(crate) shape: Vec<usize>,
    /// From the start of the file.
    pub(crate) offset: u64,
}

impl Tensors {
    pub(crate) fn new(path: &Path, file: File, infos: BTreeMap<String, TensorInfo>) -> Self {
        Self {
            path: path.to_owned(),
            file,
            infos,
        }
    }

    /// Returns the shape of a tensor, if it is there.
    pub(crate) fn shape(&self, name: &str) -> Option<&[usize]> {
        self.infos.get(name).map(|info| info.shape.as_slice())
    }

    /// Reads a tensor of exactly this shape.
    pub(crate) fn read(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let (dtype, bytes) = self.read_raw(name, shape)?;
        let mut numbers = Vec::with_capacity(shape.iter().product());
        dtype.append(&bytes, &mut numbers);
        if numbers.iter().all(|number| number.is_finite()) {
            Ok(numbers)
        } else {
            let message = format!("tensor `{name}` holds a number that is not finite");
            Err(corrupt(&self.path, message))
        }
    }

    /// Reads a table of exactly this shape and keeps it as it is stored.
    pub(crate) fn read_table(&mut self, name: &str, rows: usize, columns: usize) -> Result<Table> {
        let (dtype, bytes) = self.read_raw(name, &[rows, columns])?;
        match dtype.bytes(columns) {
            Some(row_bytes) if row_bytes > 0 => Ok(Table {
                dtype,
                bytes,
                row_bytes,
            }),
            _ => Err(corrupt(
                &self.path,
                format!("rows of `{name}` are no whole blocks"),
            )),
        }
    }

    fn read_raw(&mut self, name: &str, shape: &[usize]) -> Result<(Dtype, Vec<u8>)> {
        let Some(info) = self.infos.get(name) else {
            return Err(corrupt(&self.path, format!("tensor `{name}` is missing")));
        };
        // A vector may be stored with leading dimensions of 1.
        let kept: Vec<usize> = info.shape.iter().copied().skip_while(|n| *n == 1).collect();
        let wanted: Vec<usize> = shape.iter().copied().skip_while(|n| *n == 1).collect();
        if kept != wanted {
            let message = format!("tensor `{name}` is {:?} instead of {shape:?}", info.shape);
            return Err(corrupt(&self.path, message));
        }
        let Some(dtype) = info.dtype else {
            let message = format!("tensor `{name}` has the format {}", info.format);
            return Err(unsupported(&self.path, message).with_hint(
                "use a file with formats f32, f16, bf16, q8_0, q5_0, q5_1, q4_0 or q4_1",
            ));
        };
        let numbers = shape.iter().try_fold(1_usize, |all, n| all.checked_mul(*n));
        let size = numbers.and_then(|numbers| dtype.bytes(numbers));
        let Some(size) = size else {
            return Err(corrupt(
                &self.path,
                format!("tensor `{name}` has a wrong size"),
            ));
        };
        let len = self
            .file
            .metadata()
            .map_err(|err| read_error(&self.path, err))?
            .len();
        let end = info.offset.checked_add(size as u64);
        if end.is_none_or(|end| end > len) {
            return Err(corrupt(
                &self.path,
                format!("tensor `{name}` ends behind the file"),
            ));
        }
        let mut bytes = vec![0; size];
        self.file
            .seek(SeekFrom::Start(info.offset))
            .and_then(|_| self.file.read_exact(&mut bytes))
            .map_err(|err| read_error(&self.path, err))?;
        Ok((dtype, bytes))
    }
}

/// Rows that are made numbers when they are asked for: a large vocabulary stays as small as on disk.
#[derive(Debug)]
pub(crate) struct Table {
    dtype: Dtype,
    bytes: Vec<u8>,
    row_bytes: usize,
}

impl Table {
    /// Appends a row; `false` when there is none of that number.
    pub(crate) fn append_row(&self, row_idx: usize, out: &mut Vec<f32>) -> bool {
        let start = row_idx.saturating_mul(self.row_bytes);
        let row = self.bytes.get(start..start.saturating_add(self.row_bytes));
        row.map(|row| self.dtype.append(row, out)).is_some()
    }
}

/// The error for a file that is damaged.
pub(crate) fn corrupt(path: &Path, message: impl AsRef<str>) -> Error {
    let message = format!("model file `{}`: {}", path.display(), message.as_ref());
    Error::new(ErrorKind::Corrupt, message)
        .with_hint("remove the file and get it again, for a known model with `memory model pull`")
}

/// The error for a file that is whole but not for this crate.
pub(crate) fn unsupported(path: &Path, message: impl AsRef<str>) -> Error {
    let message = format!("model file `{}`: {}", path.display(), message.as_ref());
    Error::new(ErrorKind::Unsupported, message)
        .with_hint("use a model of the BERT family: MiniLM, e5, bge, gte")
}

/// The error for a file that cannot be read, or not to its end.
pub(crate) fn read_error(path: &Path, err: std::io::Error) -> Error {
    if err.kind() == IoKind::UnexpectedEof {
        return corrupt(path, "the file ends too early").with_source(err);
    }
    let message = format!("cannot read model file `{}`: {err}", path.display());
    Error::new(ErrorKind::Unavailable, message)
        .with_hint("check the path and the file's permissions")
        .with_source(err)
}
