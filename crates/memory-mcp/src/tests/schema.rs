use serde_json::{Value, json};

use super::{Notes, with_server};
use crate::tools::ALL;

/// Every name that a schema has under `properties`, with all schemas it may mean.
fn properties<'a>(schema: &'a Value, root: &'a Value, name: &str) -> Vec<&'a Value> {
    let mut found = Vec::new();
    if let Some(place) = schema["$ref"].as_str() {
        let pointed = root.pointer(place.trim_start_matches('#')).unwrap();
        found.extend(properties(pointed, root, name));
    }
    for group in ["anyOf", "oneOf", "allOf"] {
        for option in schema[group].as_array().into_iter().flatten() {
            found.extend(properties(option, root, name));
        }
    }
    found.extend(schema["properties"].get(name));
    found
}

/// Asserts that a schema describes every field of a value, and that what it requires is there.
fn describes(schemas: &[&Value], root: &Value, value: &Value, place: &str) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let below: Vec<&Value> = schemas
                    .iter()
                    .flat_map(|schema| properties(schema, root, name))
                    .collect();
                assert!(!below.is_empty(), "{place}.{name} is not in the schema");
                describes(&below, root, field, &format!("{place}.{name}"));
            }
        }
        Value::Array(items) => {
            for item in items {
                let below: Vec<&Value> = schemas.iter().map(|schema| &schema["items"]).collect();
                if item.is_object() {
                    describes(&below, root, item, &format!("{place}[]"));
                }
            }
        }
        _ => {}
    }
}

#[test]
fn every_field_of_an_answer_is_in_its_schema() {
    let notes = Notes::of(&[(
        "memory/2026-05-18.md",
        "---\ntags: [home]\n---\n# Pump\n\nThe pump.\n\n# Other\n\ntext\n",
    )]);
    with_server(&notes, async |session| {
        for (idx, tool, arguments) in [
            (0, "memory_search", json!({"query": "pump", "context": 2})),
            (
                1,
                "memory_get",
                json!({"path": "memory/2026-05-18.md", "lines": 2}),
            ),
            (2, "memory_add", json!({"text": "The valve is green."})),
            (3, "memory_status", json!({})),
        ] {
            let answer = session.answer(tool, arguments).await;
            assert_eq!(ALL[idx].name, tool);
            let schema = (ALL[idx].answers)().to_value();
            assert_eq!(schema["type"], "object");
            describes(&[&schema], &schema, &answer, tool);
            for name in schema["required"].as_array().unwrap() {
                assert!(
                    answer.get(name.as_str().unwrap()).is_some(),
                    "{tool}: {name}"
                );
            }
        }
    });
}

#[test]
fn tools_say_what_they_are() {
    with_server(&Notes::of(&[("memory/a.md", "pump")]), async |session| {
        let tools = session.client().list_all_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(
            names,
            ["memory_search", "memory_get", "memory_add", "memory_status"]
        );
        for tool in tools {
            let only_reads = tool.name != "memory_add";
            let hints = tool.annotations.unwrap();
            assert_eq!(hints.title, tool.title);
            assert_eq!(
                (
                    hints.read_only_hint,
                    hints.destructive_hint,
                    hints.idempotent_hint,
                    hints.open_world_hint
                ),
                (Some(only_reads), Some(false), Some(only_reads), Some(false))
            );
            // What a model pays for with every turn.
            assert!(tool.description.unwrap().len() < 600);
            assert_eq!(tool.input_schema["additionalProperties"], false);
        }
        let info = session.client().peer_info().unwrap();
        let told = info.instructions.as_ref().unwrap();
        for when in [
            "earlier work",
            "decisions",
            "dates",
            "people",
            "preferences",
            "to-dos",
        ] {
            assert!(told.contains(when), "{when}");
            assert!(ALL[0].description.contains(when), "{when}");
        }
    });
}
