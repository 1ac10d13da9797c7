use std::error::Error as _;
use std::sync::Arc;

use serde::Deserialize;

use crate::{
    Batch, Capabilities, Capability, Chunked, Chunker, Document, EntryId, Error, ErrorKind,
    Factory, Fingerprint, Hit, Identity, Kind, Matrix, OpenContext, Plugin, Registry, Result, Seq,
    StoreId, parse_config, unit_vector,
};

#[derive(Debug, Default, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    limits: Limits,
}

#[derive(Debug, Default, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Limits {
    cache_kib: u32,
}

#[derive(Debug)]
struct Nothing;

impl Identity for Nothing {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint("nothing/1".to_owned())
    }
}

impl Chunker for Nothing {
    fn accepts(&self, _: &Document<'_>) -> bool {
        true
    }

    fn chunk(&self, _: &Document<'_>) -> Result<Chunked> {
        Ok(Chunked::default())
    }
}

fn open(context: &OpenContext<'_>) -> Result<Arc<dyn Chunker>> {
    parse_config::<Config>(context.config)?;
    Ok(Arc::new(Nothing))
}

static LINKED: Plugin =
    Plugin::new::<Config>("nothing", "1.0.0", "cuts nothing", Factory::Chunker(open))
        .with_capabilities(Capabilities::of(&[Capability::Deterministic]));
static NAMESAKE: Plugin =
    Plugin::new::<Config>("nothing", "2.0.0", "another one", Factory::Chunker(open));
crate::register_plugin!(LINKED);

#[test]
fn linked_registry_finds_a_registered_plugin() {
    let registry = Registry::linked().unwrap();
    let plugin = registry.get(Kind::Chunker, "nothing").unwrap();
    assert_eq!(plugin.version, "1.0.0");
}

#[test]
fn unknown_plugin_lists_what_is_linked_of_its_kind() {
    let registry = Registry::new([&LINKED]).unwrap();
    let err = registry.get(Kind::Chunker, "nothin").unwrap_err();
    assert_eq!(
        err.to_string(),
        "unknown chunker plugin `nothin`, linked: nothing"
    );
    assert!(err.hint().unwrap().contains("App::with_default_plugins"));
    let err = registry.get(Kind::Lexical, "nothing").unwrap_err();
    assert_eq!(
        err.to_string(),
        "unknown lexical plugin `nothing`, linked: none"
    );
}

#[test]
fn two_plugins_of_one_name_are_refused_and_one_twice_is_not() {
    let registry = Registry::new([&LINKED, &LINKED]).unwrap();
    assert_eq!(registry.iter().count(), 1);
    let err = registry.with(&NAMESAKE).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
    assert_eq!(err.to_string(), "two chunker plugins are named `nothing`");
}

#[test]
fn plugin_config_errors_name_the_key() {
    let check = |value| (LINKED.check_config)(&value).unwrap_err();
    let err = check(serde_json::json!({"limits": {"cache_kib": "lots"}}));
    assert_eq!(err.kind(), ErrorKind::Config);
    assert_eq!(err.context("key"), Some("limits.cache_kib"));
    assert_eq!(err.message(), "invalid type: string \"lots\", expected u32");
    assert_eq!(check(serde_json::json!(5)).context("key"), Some(""));
}

#[test]
fn absent_plugin_table_gives_the_defaults() {
    assert_eq!(
        parse_config::<Config>(&serde_json::Value::Null).unwrap(),
        Config::default()
    );
}

#[test]
fn plugin_schema_describes_its_config() {
    let schema = (LINKED.schema)();
    assert!(schema.pointer("/properties/limits").is_some(), "{schema:?}");
}

#[test]
fn error_is_one_line_and_keeps_the_inner_layers_words() {
    let cause = std::io::Error::other("disk on fire");
    let err = Error::new(ErrorKind::Unavailable, "no such file")
        .with_plugin("fts5")
        .with_operation("open")
        .with_context("path", "a.db")
        .with_source(cause)
        .with_plugin("outer")
        .with_operation("sync")
        .with_hint("run `memory index`");
    assert_eq!(err.to_string(), "fts5: failed to open: no such file");
    assert_eq!(err.context("path"), Some("a.db"));
    assert_eq!(err.source().unwrap().to_string(), "disk on fire");
    let debug = format!("{err:?}");
    assert!(
        debug.contains("hint: run `memory index`") && debug.contains("caused by: disk on fire"),
        "{debug}"
    );
}

#[test]
fn ids_are_shown_and_read_as_uuids() {
    let id = EntryId(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
    assert_eq!(id.to_string(), "01234567-89ab-cdef-0123-456789abcdef");
    assert_eq!(id.to_string().parse::<EntryId>().unwrap(), id);
    assert_eq!(EntryId::from_bytes(id.to_bytes()), id);
    assert_eq!(
        serde_json::to_string(&id).unwrap(),
        "\"01234567-89ab-cdef-0123-456789abcdef\""
    );
    for bad in [
        "",
        "0123456789abcdef0123456789abcdef",
        "01234567-89ab-cdef-0123-456789abcdeg",
        "01234567-89ab-cdef-0123_456789abcdef",
    ] {
        assert_eq!(
            bad.parse::<EntryId>().unwrap_err().kind(),
            ErrorKind::InvalidInput,
            "{bad}"
        );
    }
}

#[test]
fn capability_sets_hold_what_they_are_made_of() {
    let set = Capabilities::of(&[Capability::PhraseQuery, Capability::Deterministic]);
    assert!(set.has(Capability::PhraseQuery) && !set.has(Capability::PrefixQuery));
    assert_eq!(
        set.iter().collect::<Vec<_>>(),
        [Capability::PhraseQuery, Capability::Deterministic]
    );
    assert!(Capabilities::NONE.is_subset_of(set) && !set.is_subset_of(Capabilities::NONE));
    let mut names: Vec<_> = Capability::ALL
        .iter()
        .map(|capability| capability.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Capability::ALL.len());
}

#[test]
fn hits_rank_by_score_then_id() {
    let hit = |id, score| Hit {
        id: EntryId(id),
        score,
    };
    let mut hits = [hit(3, 0.5), hit(1, 0.5), hit(2, 0.9)];
    hits.sort_by(Hit::rank);
    assert_eq!(hits.map(|hit| hit.id.0), [2, 1, 3]);
}

#[test]
fn batch_ends_at_its_last_op_unless_raised() {
    let batch = Batch::new(StoreId(1), vec![(Seq(3), ()), (Seq(5), ())]);
    assert_eq!(batch.through, Seq(5));
    assert_eq!(batch.clone().with_through(Seq(9)).through, Seq(9));
    assert_eq!(batch.with_through(Seq(1)).through, Seq(5));
}

#[test]
fn matrix_refuses_torn_rows() {
    assert!(Matrix::new(0, vec![]).is_err());
    assert!(Matrix::new(2, vec![1.0; 3]).is_err());
    let matrix = Matrix::new(2, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    assert_eq!(matrix.rows().collect::<Vec<_>>(), [[1.0, 2.0], [3.0, 4.0]]);
}

#[test]
fn needs_and_limits_have_names_for_listings() {
    let limits = crate::Limits::NONE
        .with_max_dimensions(4096)
        .with_max_ops(7);
    let named: Vec<_> = limits.iter().collect();
    assert_eq!(named, [("max_ops", 7), ("max_dimensions", 4096)]);
    assert_eq!(crate::Limits::NONE.iter().count(), 0);
    assert_eq!(crate::Need::ModelFile.to_string(), "model_file");
}

#[test]
fn a_unit_vector_keeps_the_direction_and_has_length_1() {
    for (vector, expected) in [
        (vec![3.0, 0.0, -4.0], [0.6, 0.0, -0.8]),
        // Their squares are beyond the range of f32.
        (vec![3e38, 0.0, 3e38], [0.5_f32.sqrt(), 0.0, 0.5_f32.sqrt()]),
        (vec![0.0, -1e-44, 0.0], [0.0, -1.0, 0.0]),
    ] {
        let unit = unit_vector(&vector, 3).unwrap();
        assert_eq!(unit.len(), 3);
        for (number, expected) in unit.iter().zip(expected) {
            assert!((number - expected).abs() < 1e-6, "{vector:?}: {unit:?}");
        }
    }
}

#[test]
fn a_vector_without_a_direction_in_the_space_is_refused() {
    for (vector, says) in [
        (vec![], "has 0 numbers, the index's space has 2"),
        (vec![1.0], "has 1 numbers, the index's space has 2"),
        (vec![1.0; 3], "has 3 numbers, the index's space has 2"),
        (vec![1.0, f32::NAN], "`NaN`"),
        (vec![f32::INFINITY, 1.0], "`inf`"),
        (vec![f32::NEG_INFINITY, f32::INFINITY], "`-inf`"),
        (vec![0.0, -0.0], "length 0"),
    ] {
        let err = unit_vector(&vector, 2).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidInput, "{vector:?}");
        assert!(err.message().contains(says), "{err}");
        assert!(err.hint().is_some());
    }
}
