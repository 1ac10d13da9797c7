//! The `describe` group: what holds for a plugin of any kind.

use memory_api::{Document, ErrorKind, Plugin};
use serde_json::{Map, Value, json};

use crate::failure::ensure;
use crate::lexical::Lexical;
use crate::subject::Instance;
use crate::vector::Vector;
use crate::{Failure, Outcome, Scenario, Subject, index};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("describe::name_is_kebab_case", name_is_kebab_case).without_opening(),
    Scenario::new("describe::version_is_semver", version_is_semver).without_opening(),
    Scenario::new("describe::summary_is_one_line", summary_is_one_line).without_opening(),
    Scenario::new(
        "describe::schema_describes_every_key",
        schema_describes_every_key,
    )
    .without_opening(),
    Scenario::new("describe::config_opens", config_opens),
    Scenario::new(
        "describe::unknown_key_is_a_config_error",
        unknown_key_is_a_config_error,
    ),
    Scenario::new(
        "describe::wrong_type_names_its_key",
        wrong_type_names_its_key,
    ),
    Scenario::new("describe::debug_shows_no_secret", debug_shows_no_secret).needs_secret(),
    Scenario::new("describe::fingerprint_is_stable", fingerprint_is_stable),
    Scenario::new(
        "describe::two_opens_do_not_interfere",
        two_opens_do_not_interfere,
    ),
];

const UNKNOWN_KEY: &str = "conformance-unknown-key";
const SECRET: &str = "conformance-s3cr3t";

fn name_is_kebab_case(subject: &Subject) -> Outcome {
    let name = subject.plugin().name;
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    ensure!(
        name.starts_with(|first: char| first.is_ascii_lowercase()) && name.split('-').all(is_word),
        "`{name}` is not kebab case"
    );
    Ok(())
}

fn version_is_semver(subject: &Subject) -> Outcome {
    let version = subject.plugin().version;
    ensure!(
        is_semver(version),
        "`{version}` is no semantic version; `env!(\"CARGO_PKG_VERSION\")` is one"
    );
    Ok(())
}

pub(crate) fn is_semver(version: &str) -> bool {
    let is_number = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_digit())
            && (part == "0" || !part.is_empty() && !part.starts_with('0'))
    };
    let is_tail = |tail: &str, is_part: &dyn Fn(&str) -> bool| {
        tail.split('.').all(|part| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
                && is_part(part)
        })
    };
    let (rest, build) = version
        .split_once('+')
        .map_or((version, None), |(rest, build)| (rest, Some(build)));
    let (core, pre) = rest
        .split_once('-')
        .map_or((rest, None), |(core, pre)| (core, Some(pre)));
    let no_leading_zero =
        |part: &str| !part.bytes().all(|byte| byte.is_ascii_digit()) || is_number(part);
    core.split('.').count() == 3
        && core.split('.').all(is_number)
        && pre.is_none_or(|pre| is_tail(pre, &no_leading_zero))
        && build.is_none_or(|build| is_tail(build, &|_| true))
}

fn summary_is_one_line(subject: &Subject) -> Outcome {
    let summary = subject.plugin().summary;
    ensure!(
        !summary.trim().is_empty() && !summary.contains('\n') && !summary.ends_with('.'),
        "the summary `{summary}` is not one line without a final period"
    );
    Ok(())
}

fn schema_describes_every_key(subject: &Subject) -> Outcome {
    let schema = Value::from((subject.plugin().schema)());
    ensure!(
        schema.get("type").and_then(Value::as_str) == Some("object"),
        "the schema of the config does not describe an object"
    );
    let mut silent = Vec::new();
    find_silent_keys(&schema, "", &mut silent);
    ensure!(
        silent.is_empty(),
        "keys without a description in the schema: {}; write a doc comment on the field",
        silent.join(", ")
    );
    Ok(())
}

/// Finds keys without a description anywhere in the schema: nested tables may stand in place or under `$defs`.
fn find_silent_keys(schema: &Value, path: &str, silent: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            for (key, property) in fields
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                let described = property
                    .get("description")
                    .and_then(Value::as_str)
                    .is_some_and(|text| !text.trim().is_empty());
                if !described {
                    silent.push(format!("`{path}{key}`"));
                }
                find_silent_keys(property, &format!("{path}{key}."), silent);
            }
            for (key, value) in fields.iter().filter(|(key, _)| *key != "properties") {
                let nested = if key == "$defs" { "$defs." } else { path };
                find_silent_keys(value, nested, silent);
            }
        }
        Value::Array(items) => {
            for item in items {
                find_silent_keys(item, path, silent);
            }
        }
        _ => {}
    }
}

fn config_opens(subject: &Subject) -> Outcome {
    let home = subject.home()?;
    (subject.plugin().check_config)(&home.config())
        .map_err(|err| Failure::from(err).within("`check_config` refuses the config"))?;
    subject.run(async {
        let opened = home.open().await;
        opened
            .map(drop)
            .map_err(|err| Failure::from(err).within("open"))
    })
}

/// Returns the fixture's table with one more key.
fn with_key(config: Value, key: &str, value: Value) -> Outcome<Value> {
    let mut table = match config {
        Value::Null => Map::new(),
        Value::Object(table) => table,
        other => {
            return Err(Failure::new(format!(
                "the fixture's config `{other}` is no table"
            )));
        }
    };
    table.insert(key.to_owned(), value);
    Ok(Value::Object(table))
}

/// Both ways to read a config have to refuse this one, with the same kind. Returns the error of `check_config`.
fn refuses(subject: &Subject, key: &str, value: Value) -> Outcome<memory_api::Error> {
    let home = subject.home()?;
    let config = with_key(home.config(), key, value)?;
    let Err(checked) = (subject.plugin().check_config)(&config) else {
        return Err(Failure::new(format!("`check_config` accepts `{config}`")));
    };
    subject.run(async {
        match home.open_with(&config).await {
            Ok(_) => Err(Failure::new(format!("open accepts `{config}`"))),
            Err(opened) => {
                for (how, err) in [("check_config", &checked), ("open", &opened)] {
                    ensure!(
                        err.kind() == ErrorKind::Config,
                        "{how} answers kind `{}` instead of `config` to `{config}`: {err}",
                        err.kind()
                    );
                }
                Ok(())
            }
        }
    })?;
    Ok(checked)
}

fn unknown_key_is_a_config_error(subject: &Subject) -> Outcome {
    let err = refuses(subject, UNKNOWN_KEY, json!(1))?;
    let named = err.message().contains(UNKNOWN_KEY)
        || err
            .context("key")
            .is_some_and(|key| key.contains(UNKNOWN_KEY));
    ensure!(named, "the error does not name the unknown key: {err}");
    Ok(())
}

fn wrong_type_names_its_key(subject: &Subject) -> Outcome {
    for (key, property) in properties(subject.plugin()) {
        let types = match property.get("type") {
            Some(Value::String(one)) => vec![one.as_str()],
            Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
            _ => continue,
        };
        // A list is wrong for every scalar, also for those that are lenient among themselves.
        if types.iter().any(|name| matches!(*name, "array" | "object")) {
            continue;
        }
        let err = refuses(subject, &key, json!([]))?;
        ensure!(
            err.context("key") == Some(&key),
            "the wrong type of `{key}` is reported under `{}`",
            err.context("key").unwrap_or("no key")
        );
    }
    Ok(())
}

fn properties(plugin: &Plugin) -> Map<String, Value> {
    match (plugin.schema)().get("properties") {
        Some(Value::Object(properties)) => properties.clone(),
        _ => Map::new(),
    }
}

/// Returns the keys of the config that hold a secret by their name, and a string by their type.
pub(crate) fn secret_keys(plugin: &Plugin) -> Vec<String> {
    properties(plugin)
        .into_iter()
        .filter(|(key, property)| {
            let holds_text = match property.get("type") {
                Some(Value::String(name)) => name == "string",
                Some(Value::Array(names)) => names.iter().any(|name| name == "string"),
                _ => false,
            };
            let sounds_secret = key
                .split('_')
                .any(|word| matches!(word, "key" | "token" | "secret" | "password"));
            // `api_key_env` holds the name of a variable.
            holds_text && sounds_secret && !key.ends_with("_env")
        })
        .map(|(key, _)| key)
        .collect()
}

fn debug_shows_no_secret(subject: &Subject) -> Outcome {
    for key in secret_keys(subject.plugin()) {
        let home = subject.home()?;
        let config = with_key(home.config(), &key, json!(SECRET))?;
        let shown = subject.run(async {
            Ok(match home.open_with(&config).await {
                Ok(instance) => format!("{instance:?}"),
                Err(err) => format!("{err} {err:?}"),
            })
        })?;
        ensure!(
            !shown.contains(SECRET),
            "the value of `{key}` is shown: {shown}"
        );
    }
    Ok(())
}

fn fingerprint_is_stable(subject: &Subject) -> Outcome {
    let (here, there) = (subject.home()?, subject.home()?);
    subject.run(async {
        let first = here.open().await?.fingerprint();
        ensure!(!first.0.trim().is_empty(), "the fingerprint is empty");
        let again = here.open().await?.fingerprint();
        let elsewhere = there.open().await?.fingerprint();
        ensure!(
            first == again,
            "`{first}` is `{again}` when opened once more"
        );
        // Fixtures put the folder into the config, and where an index lies changes nothing that it answers.
        ensure!(
            first == elsewhere,
            "`{first}` is `{elsewhere}` in another folder"
        );
        Ok(())
    })
}

fn two_opens_do_not_interfere(subject: &Subject) -> Outcome {
    let (here, there) = (subject.home()?, subject.home()?);
    let instances = subject.run(async { Ok((here.open().await?, there.open().await?)) })?;
    let limits = subject.plugin().limits;
    match instances {
        (Instance::Lexical(left), Instance::Lexical(right)) => subject.run(
            index::two_indexes_do_not_interfere::<Lexical>(limits, &*left, &*right),
        ),
        (Instance::Vector(left), Instance::Vector(right)) => subject.run(
            index::two_indexes_do_not_interfere::<Vector>(limits, &*left, &*right),
        ),
        (Instance::Chunker(left), Instance::Chunker(right)) => {
            let [one, other] = ["one paragraph", "# Another\n\none"]
                .map(|text| Document::new("memory", "MEMORY.md", text));
            let alone = left.chunk(&one)?;
            right.chunk(&other)?;
            ensure!(
                left.chunk(&one)? == alone,
                "what one chunker cut changes what another one cuts"
            );
            Ok(())
        }
        (left, right) => {
            drop(left);
            ensure!(
                !right.fingerprint().0.is_empty(),
                "closing one leaves the other without a fingerprint"
            );
            Ok(())
        }
    }
}
