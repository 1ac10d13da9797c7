use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use memory_api::Result;

use crate::quant::Dtype;
use crate::tensors::{TensorInfo, Tensors, corrupt, read_error, unsupported};

/// What a GGUF file says about itself.
#[derive(Debug)]
pub(crate) struct Metadata {
    path: PathBuf,
    values: HashMap<String, Value>,
}

/// A value of the header. Numbers of all widths are one; arrays are kept as what this crate reads of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Ints(Vec<u32>),
    Floats(Vec<f32>),
    Bytes(Vec<u8>),
    Texts(Vec<String>),
    /// An array nobody here reads.
    Other,
}

impl Metadata {
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    /// Takes a value out, so that a vocabulary is not held twice.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        self.values.remove(key)
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn int(&self, key: &str) -> Option<usize> {
        match self.get(key) {
            Some(Value::Int(int)) => usize::try_from(*int).ok(),
            _ => None,
        }
    }

    pub(crate) fn float(&self, key: &str) -> Option<f64> {
        match self.get(key) {
            Some(Value::Float(float)) => Some(*float),
            _ => None,
        }
    }

    /// Returns a number that has to be there.
    pub(crate) fn need_int(&self, key: &str) -> Result<usize> {
        self.int(key)
            .ok_or_else(|| corrupt(&self.path, format!("`{key}` is missing or no number")))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Reads the header of a GGUF file.
pub(crate) fn open(path: &Path) -> Result<(Metadata, Tensors)> {
    let file = File::open(path).map_err(|err| read_error(path, err))?;
    let len = file.metadata().map_err(|err| read_error(path, err))?.len();
    let mut reader = Reader {
        path,
        input: BufReader::new(&file),
        at: 0,
        len,
    };
    let (values, infos) = header(&mut reader)?;
    let metadata = Metadata {
        path: path.to_owned(),
        values,
    };
    Ok((metadata, Tensors::new(path, file, infos)))
}

type Header = (HashMap<String, Value>, BTreeMap<String, TensorInfo>);

fn header(reader: &mut Reader<'_>) -> Result<Header> {
    if reader.array::<4>()? != *b"GGUF" {
        return Err(corrupt(reader.path, "it does not begin like a GGUF file"));
    }
    let version = reader.u32()?;
    if !(2..=3).contains(&version) {
        return Err(unsupported(reader.path, format!("GGUF version {version}")));
    }
    // A tensor takes at least 24 bytes of the header, a pair 13.
    let n_tensors = reader.count(24)?;
    let n_values = reader.count(13)?;
    let mut values = HashMap::new();
    for _ in 0..n_values {
        let key = reader.text()?;
        let kind = reader.u32()?;
        let value = reader.value(kind)?;
        if values.insert(key.clone(), value).is_some() {
            return Err(corrupt(reader.path, format!("`{key}` stands in it twice")));
        }
    }
    let mut infos = BTreeMap::new();
    for _ in 0..n_tensors {
        let name = reader.text()?;
        let n_dims = reader.u32()?;
        if n_dims > 4 {
            return Err(corrupt(
                reader.path,
                format!("tensor `{name}` has {n_dims} dimensions"),
            ));
        }
        let mut shape = Vec::new();
        for _ in 0..n_dims {
            let size = usize::try_from(reader.u64()?);
            shape.push(
                size.map_err(|_| corrupt(reader.path, format!("tensor `{name}` is too large")))?,
            );
        }
        // A row is what lies together; the file names its length first.
        shape.reverse();
        let (dtype, format) = dtype(reader.u32()?);
        let info = TensorInfo {
            dtype,
            format,
            shape,
            offset: reader.u64()?,
        };
        if infos.insert(name.clone(), info).is_some() {
            return Err(corrupt(
                reader.path,
                format!("tensor `{name}` stands in it twice"),
            ));
        }
    }
    let alignment = match values.get("general.alignment") {
        None => 32,
        Some(Value::Int(int @ 1..=65_536)) => int.unsigned_abs(),
        Some(_) => return Err(corrupt(reader.path, "`general.alignment` is out of range")),
    };
    let data = reader.at.next_multiple_of(alignment);
    for info in infos.values_mut() {
        // What ends behind the file is found when it is read.
        info.offset = info.offset.saturating_add(data);
    }
    Ok((values, infos))
}

fn dtype(number: u32) -> (Option<Dtype>, String) {
    let (dtype, name) = match number {
        0 => (Some(Dtype::F32), "f32"),
        1 => (Some(Dtype::F16), "f16"),
        2 => (Some(Dtype::Q4_0), "q4_0"),
        3 => (Some(Dtype::Q4_1), "q4_1"),
        6 => (Some(Dtype::Q5_0), "q5_0"),
        7 => (Some(Dtype::Q5_1), "q5_1"),
        8 => (Some(Dtype::Q8_0), "q8_0"),
        10 => (None, "q2_k"),
        11 => (None, "q3_k"),
        12 => (None, "q4_k"),
        13 => (None, "q5_k"),
        14 => (None, "q6_k"),
        30 => (Some(Dtype::BF16), "bf16"),
        other => return (None, format!("number {other}")),
    };
    (dtype, name.to_owned())
}

/// Reads no further than the file goes, and believes no length before it is compared with what is left.
struct Reader<'a> {
    path: &'a Path,
    input: BufReader<&'a File>,
    at: u64,
    len: u64,
}

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.input
            .read_exact(&mut bytes)
            .map_err(|err| read_error(self.path, err))?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A number of things that take at least `size` bytes each.
    fn count(&mut self, size: u64) -> Result<usize> {
        let count = self.u64()?;
        let left = self.len.saturating_sub(self.at);
        if count.checked_mul(size).is_none_or(|bytes| bytes > left) {
            return Err(corrupt(
                self.path,
                "its header names more than the file can hold",
            ));
        }
        usize::try_from(count).map_err(|_| corrupt(self.path, "its header is too large"))
    }

    fn bytes(&mut self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.count(1)?];
        self.input
            .read_exact(&mut bytes)
            .map_err(|err| read_error(self.path, err))?;
        self.at += bytes.len() as u64;
        Ok(bytes)
    }

    fn text(&mut self) -> Result<String> {
        String::from_utf8(self.bytes()?).map_err(|err| {
            corrupt(self.path, "its header holds text that is no UTF-8").with_source(err)
        })
    }

    fn value(&mut self, kind: u32) -> Result<Value> {
        Ok(match kind {
            0 => Value::Int(self.array().map(u8::from_le_bytes)?.into()),
            1 => Value::Int(self.array().map(i8::from_le_bytes)?.into()),
            2 => Value::Int(self.array().map(u16::from_le_bytes)?.into()),
            3 => Value::Int(self.array().map(i16::from_le_bytes)?.into()),
            4 => Value::Int(self.u32()?.into()),
            5 => Value::Int(self.array().map(i32::from_le_bytes)?.into()),
            6 => Value::Float(self.array().map(f32::from_le_bytes)?.into()),
            7 => Value::Bool(self.array::<1>()? != [0]),
            8 => Value::Text(self.text()?),
            9 => self.values()?,
            // A number beyond an i64 fits nothing this crate asks for.
            10 => i64::try_from(self.u64()?).map_or(Value::Other, Value::Int),
            11 => Value::Int(self.array().map(i64::from_le_bytes)?),
            12 => Value::Float(self.array().map(f64::from_le_bytes)?),
            other => {
                return Err(corrupt(
                    self.path,
                    format!("a value has the unknown kind {other}"),
                ));
            }
        })
    }

    fn values(&mut self) -> Result<Value> {
        let kind = self.u32()?;
        let size = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            8 | 10..=12 => 8,
            // Nested arrays occur in no model file.
            other => {
                return Err(corrupt(
                    self.path,
                    format!("an array has the unknown kind {other}"),
                ));
            }
        };
        let count = self.count(size)?;
        Ok(match kind {
            0 | 1 => Value::Bytes(self.many(count, |reader| Ok(reader.array::<1>()?[0]))?),
            4 | 5 => Value::Ints(self.many(count, Self::u32)?),
            6 => Value::Floats(self.many(count, |reader| reader.array().map(f32::from_le_bytes))?),
            8 => Value::Texts(self.many(count, Self::text)?),
            other => {
                for _ in 0..count {
                    self.value(other)?;
                }
                Value::Other
            }
        })
    }

    fn many<T>(&mut self, count: usize, read: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        (0..count).map(|_| read(self)).collect()
    }
}
