use std::collections::BTreeSet;

use async_trait::async_trait;
use futures::executor::block_on;
use memory_api::{
    EmbedLimits, Embedder, EmbeddingSpace, Fingerprint, Identity, Matrix, Result, Role, Timestamp,
};

use crate::background::{Background, from_json, relevance, shares, to_json};
use crate::document::content_hash;
use crate::vectors::Vectors;

/// A test double: every text points to one side, and to another one for its script; what else it says is a small rest.
#[derive(Debug)]
struct OneSided(EmbeddingSpace);

impl OneSided {
    fn new() -> Self {
        Self(EmbeddingSpace::new("one-sided", 8))
    }

    fn vector(text: &str, meaning: usize) -> Vec<f32> {
        let mut vector = vec![0.0; 8];
        vector[0] = 0.8;
        vector[if text.is_ascii() { 1 } else { 2 }] = 0.5;
        vector[3 + meaning] = 0.3;
        vector
    }
}

impl Identity for OneSided {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint("one-sided".to_owned())
    }
}

#[async_trait]
impl Embedder for OneSided {
    fn space(&self) -> &EmbeddingSpace {
        &self.0
    }

    fn limits(&self) -> EmbedLimits {
        EmbedLimits::new(10, 1_000)
    }

    async fn embed(&self, texts: &[&str], _: Role) -> Result<Matrix> {
        assert!(texts.len() <= 10);
        let rows = texts
            .iter()
            .enumerate()
            .flat_map(|(idx, text)| Self::vector(text, idx % 5));
        Matrix::new(8, rows.collect())
    }
}

fn measured() -> Background {
    let dir = tempfile::tempdir().unwrap();
    block_on(async {
        let vectors = Vectors::open(dir.path(), false).await.unwrap();
        Background::measure(&vectors, &OneSided::new(), Timestamp(0))
            .await
            .unwrap()
    })
}

#[test]
fn a_background_of_another_version_is_measured_again() {
    let space = OneSided::new().0;
    let now = measured();
    assert!(now.is_of(&space));
    let mut json: serde_json::Value = serde_json::from_str(&to_json(&now).unwrap()).unwrap();
    json.as_object_mut().unwrap().remove("version");
    let before = from_json(&json.to_string()).unwrap();
    assert!(!before.is_of(&space));
    assert_ne!(before.indexed_space(), now.indexed_space());
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn what_all_texts_share_says_nothing() {
    let background = measured();
    let centred =
        |text, meaning| background.centred(text, Role::Document, &OneSided::vector(text, meaning));
    let (a, b) = (centred("ferry", 0), centred("bread", 1));
    // As they are, their cosine is 0.9.
    assert!(cosine(&a, &b) < 0.0, "{}", cosine(&a, &b));
    assert!((cosine(&a, &a) - 1.0).abs() < 1e-5);
}

#[test]
fn the_script_of_a_text_says_nothing() {
    let background = measured();
    let question = background.centred("ferry", Role::Query, &OneSided::vector("ferry", 0));
    let translated = background.centred("渡轮", Role::Document, &OneSided::vector("渡轮", 0));
    let unrelated = background.centred("bread", Role::Document, &OneSided::vector("bread", 1));
    assert!(cosine(&question, &translated) > 0.9);
    assert!(cosine(&question, &unrelated) < 0.1);
}

#[test]
fn a_vector_without_direction_stays_one() {
    let background = measured();
    for text in ["", "ferry"] {
        let nothing = background.centred(text, Role::Document, &[0.0; 8]);
        assert_eq!(nothing, [0.0; 8]);
    }
}

#[test]
fn everyday_texts_are_embedded_once_in_a_space() {
    let dir = tempfile::tempdir().unwrap();
    block_on(async {
        let vectors = Vectors::open(dir.path(), false).await.unwrap();
        let first = Background::measure(&vectors, &OneSided::new(), Timestamp(0)).await;
        for (role, key) in Background::keys() {
            let known = vectors.get(&OneSided::new().0, role, vec![key]).await;
            assert!(known.unwrap()[0].is_some());
        }
        assert_eq!(Background::keys().count(), 192);
        let again = Background::measure(&vectors, &OneSided::new(), Timestamp(0)).await;
        assert_eq!(first.unwrap(), again.unwrap());
    });
}

#[test]
fn the_store_gives_back_what_it_was_given() {
    let background = measured();
    let read = from_json(&to_json(&background).unwrap()).unwrap();
    assert_eq!(read, background);
    assert!(from_json("{}").is_err());
    assert_ne!(background.indexed_space(), background.space);
}

#[test]
fn scripts_have_their_share() {
    let check = |text: &str, expected: [f64; 6]| {
        let shares = shares(text);
        for (share, expected) in shares.iter().zip(expected) {
            assert!((share - expected).abs() < 1e-9, "{text}: {shares:?}");
        }
    };
    check("ferry 42!", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    check("渡轮 ok", [0.5, 0.5, 0.0, 0.0, 0.0, 0.0]);
    // Chinese characters among kana are Japanese.
    check("明日の会議は午後", [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    check("サーバー", [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    check("서버", [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    check("сервер", [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    check("خادم", [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    // A script of which nothing is known, and no script at all: a bit of each.
    check("διακομιστής", [1.0 / 6.0; 6]);
    check("42 + 1", [1.0 / 6.0; 6]);
    check("", [1.0 / 6.0; 6]);
}

#[test]
fn there_are_as_many_texts_in_every_script_and_role() {
    let text = include_str!("../background/texts.txt");
    let mut counts = std::collections::BTreeMap::new();
    let mut seen = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let parts: Vec<&str> = line.splitn(3, ' ').collect();
        assert!(seen.insert(parts[2]), "{line}");
        *counts.entry((parts[0], parts[1])).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 12);
    assert!(counts.values().all(|count| *count == 16), "{counts:?}");
}

#[test]
fn other_texts_are_another_version() {
    // With the texts, the version in `background` has to change, since vectors of both must not meet.
    let hash = content_hash(include_bytes!("../background/texts.txt")).to_string();
    let background = measured();
    assert_eq!(
        (background.indexed_space().id.as_str(), &hash[..16]),
        ("one-sided centred/1", "e233b739c4502435")
    );
}

#[test]
fn a_good_answer_is_on_the_scale_of_the_words() {
    for (cosine, expected) in [
        (-0.2, 0.0),
        (0.0, 0.0),
        (0.2, 0.488),
        (1.0, 1.0),
        (1.1, 1.0),
    ] {
        assert!((relevance(cosine) - expected).abs() < 1e-9, "{cosine}");
    }
}

/// A test double: questions share one side and statements another, and vectors have length 5.
#[derive(Debug)]
struct TwoRoles(EmbeddingSpace);

impl Identity for TwoRoles {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint("two-roles".to_owned())
    }
}

#[async_trait]
impl Embedder for TwoRoles {
    fn space(&self) -> &EmbeddingSpace {
        &self.0
    }

    fn limits(&self) -> EmbedLimits {
        EmbedLimits::new(10, 1_000)
    }

    async fn embed(&self, texts: &[&str], role: Role) -> Result<Matrix> {
        let row = match role {
            Role::Query => [5.0, 0.0, 0.0],
            Role::Document => [0.0, 5.0, 0.0],
        };
        Matrix::new(3, row.repeat(texts.len()))
    }
}

#[test]
fn a_question_loses_what_questions_share_and_a_statement_what_statements_share() {
    let dir = tempfile::tempdir().unwrap();
    let background = block_on(async {
        let vectors = Vectors::open(dir.path(), false).await.unwrap();
        let embedder = TwoRoles(EmbeddingSpace::new("two-roles", 3));
        Background::measure(&vectors, &embedder, Timestamp(0))
            .await
            .unwrap()
    });
    // Of length 1 the vector is (0.6, 0, 0.8); without (1, 0, 0) it is (-0.4, 0, 0.8), which is brought to length 1 again.
    let check = |role, vector: [f32; 3], wanted: [f32; 3]| {
        let centred = background.centred("ferry", role, &vector);
        for (number, wanted) in centred.iter().zip(wanted) {
            assert!((number - wanted).abs() < 1e-6, "{role:?}: {centred:?}");
        }
    };
    check(
        Role::Query,
        [3.0, 0.0, 4.0],
        [-0.447_213_6, 0.0, 0.894_427_2],
    );
    check(
        Role::Document,
        [0.0, 3.0, 4.0],
        [0.0, -0.447_213_6, 0.894_427_2],
    );
}
