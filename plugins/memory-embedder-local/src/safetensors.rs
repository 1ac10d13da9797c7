use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use memory_api::Result;
use serde::Deserialize;
use serde_json::Value;

use crate::quant::Dtype;
use crate::tensors::{TensorInfo, Tensors, corrupt, read_error};

/// No model of this family needs more for the names and places of its tensors.
const MAX_HEADER: u64 = 16 << 20;

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [u64; 2],
}

/// Reads the header of a safetensors file.
pub(crate) fn open(path: &Path) -> Result<Tensors> {
    let mut file = File::open(path).map_err(|err| read_error(path, err))?;
    let len = file.metadata().map_err(|err| read_error(path, err))?.len();
    let mut size = [0; 8];
    file.read_exact(&mut size)
        .map_err(|err| read_error(path, err))?;
    let size = u64::from_le_bytes(size);
    if size > MAX_HEADER || size > len.saturating_sub(8) {
        return Err(corrupt(path, "its header is longer than it can be"));
    }
    let mut header = Vec::new();
    file.by_ref()
        .take(size)
        .read_to_end(&mut header)
        .map_err(|err| read_error(path, err))?;
    let header: BTreeMap<String, Value> = serde_json::from_slice(&header)
        .map_err(|err| corrupt(path, "its header is no JSON").with_source(err))?;
    let data = size + 8;
    let mut infos = BTreeMap::new();
    for (name, value) in header {
        if name == "__metadata__" {
            continue;
        }
        let entry = Entry::deserialize(value).map_err(|err| {
            corrupt(path, format!("tensor `{name}` is not described")).with_source(err)
        })?;
        let dtype = match entry.dtype.as_str() {
            "F32" => Some(Dtype::F32),
            "F16" => Some(Dtype::F16),
            "BF16" => Some(Dtype::BF16),
            _ => None,
        };
        let [start, end] = entry.data_offsets;
        let numbers = entry
            .shape
            .iter()
            .try_fold(1_usize, |all, n| all.checked_mul(*n));
        let size = numbers
            .zip(dtype)
            .and_then(|(numbers, dtype)| dtype.bytes(numbers));
        let fits = end.checked_sub(start) == size.map(|size| size as u64) || dtype.is_none();
        let offset = data.checked_add(start);
        let (true, Some(offset)) = (fits && end <= len - data, offset) else {
            return Err(corrupt(
                path,
                format!("tensor `{name}` lies outside of the file"),
            ));
        };
        let info = TensorInfo {
            dtype,
            format: entry.dtype,
            shape: entry.shape,
            offset,
        };
        infos.insert(name, info);
    }
    Ok(Tensors::new(path, file, infos))
}
