//! What the guides in `docs` promise: memory of other systems as it lies, with the configuration that the cookbook names.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::program::Program;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn guide(name: &str) -> String {
    fs::read_to_string(repository().join("docs").join(name)).unwrap()
}

/// A home folder with a project in it.
struct Home {
    program: Program,
    project: PathBuf,
}

impl Home {
    fn new(project: &str) -> Self {
        let program = Program::new();
        let project = program.root().parent().unwrap().join(project);
        fs::create_dir_all(&project).unwrap();
        Self { program, project }
    }

    fn dir(&self) -> PathBuf {
        self.program.root().parent().unwrap().to_owned()
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.dir().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn write_rows(&self, path: &str, rows: &[Value]) {
        let rows: Vec<_> = rows.iter().map(Value::to_string).collect();
        self.write(path, &(rows.join("\n") + "\n"));
    }

    /// Takes the configuration of a section of the cookbook.
    fn configure(&self, section: &str) {
        let cookbook = guide("cookbook.md");
        let (_, below) = cookbook.split_once(&format!("\n## {section}\n")).unwrap();
        let section = below.split("\n## ").next().unwrap();
        let (_, block) = section.split_once("```toml\n").unwrap();
        let block = block.split("```").next().unwrap();
        let block = block.replace("/home/ada", self.dir().to_str().unwrap());
        fs::write(self.project.join("memory.toml"), block).unwrap();
    }

    #[track_caller]
    fn indexes(&self, n_documents: usize) {
        let run = self.program.run_in(&self.project, &["index"]).exits(0);
        assert!(
            run.stdout
                .starts_with(&format!("{n_documents} new, 0 updated, 0 unchanged (")),
            "{}{}",
            run.stdout,
            run.stderr
        );
        assert_eq!(run.stderr, "");
    }

    /// Asserts where the first result stands, and that `get` shows `text` there.
    #[track_caller]
    fn finds(&self, question: &[&str], citation: &str, text: &str) {
        let args = [&["search", "--json"], question].concat();
        let answer = self.program.run_in(&self.project, &args).exits(0).json();
        assert_eq!(answer["results"][0]["citation"], citation, "{answer}");
        let window = self
            .program
            .run_in(&self.project, &["get", citation])
            .exits(0)
            .stdout;
        assert!(window.contains(text), "{window}");
    }
}

fn openclaw() -> Home {
    let home = Home::new(".openclaw/workspace");
    let workspace = ".openclaw/workspace";
    home.write(
        &format!("{workspace}/MEMORY.md"),
        "# Lasting\n\nThe harbour office closes at noon on Fridays.\n",
    );
    home.write(
        &format!("{workspace}/AGENTS.md"),
        "# No memory\n\nThe harbour office is blue.\n",
    );
    home.write(
        &format!("{workspace}/memory/2026-05-17.md"),
        "# Sunday\n\n<!-- trigger: lighthouse, beacon -->\n<!-- importance: 7 -->\nThe lamp was replaced by Ines.\n",
    );
    home.write(
        &format!("{workspace}/memory/2026-05-18-crane.md"),
        "## Crane\n\nThe crane needs a new cable by June.\n",
    );
    let said = |role: &str, text: &str| json!({"type": "message", "id": "1", "timestamp": "2026-05-18T08:00:00Z", "message": {"role": role, "content": [{"type": "text", "text": text}]}});
    home.write_rows(
        ".openclaw/agents/main/sessions/5b1e.jsonl",
        &[
            json!({"type": "session", "version": 3, "id": "5b1e", "cwd": "/home/ada"}),
            said("user", "Which ferry carries the horses?"),
            said("assistant", "The Wendelin, on Tuesdays. The key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789."),
        ],
    );
    home.write(".openclaw/agents/main/sessions/sessions.json", "{}");
    home
}

fn openclaw_is_found(home: &Home) {
    home.indexes(4);
    home.finds(
        &["when does the harbour office close"],
        "MEMORY.md#L1-L3",
        "noon on Fridays",
    );
    home.finds(
        &["who replaced the lamp"],
        "memory/2026-05-17.md#L1-L5",
        "Ines",
    );
    home.finds(
        &["beacon"],
        "memory/2026-05-17.md#L1-L5",
        "trigger: lighthouse",
    );
    home.finds(
        &["crane cable"],
        "memory/2026-05-18-crane.md#L1-L3",
        "by June",
    );
    let chat = "../agents/main/sessions/5b1e.jsonl#L2-L3";
    home.finds(&["which ferry carries horses"], chat, "Wendelin");
    home.finds(&["--source", "sessions", "ferry"], chat, "Wendelin");
    let window = home
        .program
        .run_in(&home.project, &["get", chat])
        .exits(0)
        .stdout;
    assert!(!window.contains("abcdefghijklmnopqrstuvwxyz"), "{window}");
}

#[test]
fn an_openclaw_workspace_is_found_as_it_lies() {
    let home = openclaw();
    home.configure("OpenClaw");
    openclaw_is_found(&home);
}

#[test]
fn an_openclaw_workspace_is_found_with_its_own_settings() {
    let home = openclaw();
    home.write(
        ".openclaw/openclaw.json",
        "// mine\n{\n  agents: { defaults: {\n    workspace: '~/.openclaw/workspace',\n    memorySearch: {\n      provider: 'openai', remote: { apiKey: 'sk-hidden-1234' }, colour: 'red',\n      sources: ['memory', 'sessions'], query: { maxResults: 4, minScore: 7 },\n    },\n  } },\n  channels: {}, gateway: {},\n}\n",
    );
    let import = |args: &[&str]| {
        let file = home.dir().join(".openclaw/openclaw.json");
        let args = [&["config", "import", file.to_str().unwrap()], args].concat();
        home.program.run_in(&home.project, &args).exits(0)
    };
    let run = import(&[]);
    let place = home.project.join("memory.toml");
    let expected = format!(
        "agents.defaults.memorySearch.provider: `openai` is not asked; the model runs on this machine, after `memory model pull`
agents.defaults.memorySearch.query.minScore: `7` is out of range (0 to 1); it is 1 now
agents.defaults.memorySearch.colour: unknown key, ignored
agents.defaults.memorySearch.remote.apiKey: a secret, left out; no text leaves the machine here, so none is needed
not about this agent's memory: channels, gateway
hint: its place is `{}`
",
        place.display()
    );
    assert_eq!(run.stderr, expected);
    assert!(!place.exists());
    let answer = import(&["--json"]).json();
    assert_eq!(
        answer["toml"].as_str().unwrap().trim_end(),
        run.stdout.trim_end()
    );
    assert_eq!(
        (&answer["agent"], &answer["notes"][0]["kind"]),
        (&json!("main"), &json!("outside"))
    );
    assert!(!format!("{answer}{}{}", run.stdout, run.stderr).contains("hidden"));
    fs::write(&place, &run.stdout).unwrap();
    let shown = home
        .program
        .run_in(&home.project, &["config", "show", "--origin"])
        .exits(0)
        .stdout;
    assert!(
        shown.contains("search.max_results = 4  # memory.toml:"),
        "{shown}"
    );
    openclaw_is_found(&home);
}

#[test]
fn what_cannot_be_imported_says_why() {
    let program = Program::of(&[
        ("broken.json", "{\n  agents: {\n    list: [,]\n  }\n}\n"),
        ("package.json", "{\"name\": \"x\"}"),
    ]);
    let fails = |file: &str, expected: &str| {
        let run = program.run(&["config", "import", file]).exits(2);
        assert_eq!(run.stdout, "");
        assert!(run.stderr.starts_with(expected), "{}", run.stderr);
    };
    fails("broken.json", "error: broken.json:3:");
    fails("package.json", "error: package.json: is no `openclaw.json`");
    fails("nowhere.json", "error: `nowhere.json` cannot be read");
    fails("memory", "error: `memory` is no file");
}

#[test]
fn memory_files_and_transcripts_of_claude_code_are_found_as_they_lie() {
    let home = Home::new("harbor");
    let files = ".claude/projects/-home-ada-harbor";
    home.write("harbor/CLAUDE.md", "# Harbor\n\nBuild with `just ship`.\n");
    home.write("harbor/docs/CLAUDE.md", "Diagrams are drawn in mermaid.\n");
    home.write("harbor/README.md", "Build with make.\n");
    home.write(
        &format!("{files}/memory/MEMORY.md"),
        "- [Tides](tides.md): when to deploy\n",
    );
    home.write(
        &format!("{files}/memory/tides.md"),
        "---\nname: tides\ntype: project\n---\n\nDeploys wait for the tide table.\n",
    );
    let row = |kind: &str, content: Value| {
        json!({
            "type": kind, "uuid": "u", "parentUuid": null, "sessionId": "0c1f", "timestamp": "2026-05-18T09:00:00.000Z",
            "cwd": "/home/ada/harbor", "version": "2.1.0", "message": {"role": kind, "id": "m", "content": content},
        })
    };
    home.write_rows(
        &format!("{files}/0c1f.jsonl"),
        &[
            json!({"type": "file-history-snapshot", "messageId": "x", "snapshot": {}}),
            row("user", json!("Why does the winch test fail?")),
            row("assistant", json!([{"type": "thinking", "thinking": "walrus"}, {"type": "text", "text": "It assumes metric ropes."}])),
            row("assistant", json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "walrus"}}])),
        ],
    );
    home.configure("Claude Code");
    home.indexes(5);
    home.finds(&["how to build"], "CLAUDE.md#L1-L3", "just ship");
    home.finds(&["mermaid diagrams"], "docs/CLAUDE.md#L1", "mermaid");
    home.finds(
        &["tide table deploys"],
        &format!("../{files}/memory/tides.md#L6"),
        "wait for the tide",
    );
    home.finds(
        &["winch test"],
        &format!("../{files}/0c1f.jsonl#L2-L3"),
        "metric ropes",
    );
    let none = home
        .program
        .run_in(&home.project, &["search", "--json", "walrus"])
        .exits(0)
        .json();
    assert_eq!(none["results"], json!([]));
    // What is added goes to a note that is found as well.
    let added = home
        .program
        .run_in(
            &home.project,
            &["add", "The anchor weighs 40 kg.", "--json"],
        )
        .exits(0)
        .json();
    assert_eq!(added["indexed"], true, "{added}");
}

#[test]
fn transcripts_of_codex_are_found_as_they_lie() {
    let home = Home::new("harbor");
    let row = |kind: &str, payload: Value| json!({"timestamp": "2026-05-18T09:00:00.000Z", "type": kind, "payload": payload});
    home.write_rows(
        ".codex/sessions/2026/05/18/rollout-2026-05-18T09-00-00-0c1f.jsonl",
        &[
            row("session_meta", json!({"id": "0c1f", "cwd": "/home/ada/harbor"})),
            row("response_item", json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Rename the buoy module"}]})),
            row("response_item", json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is called float now."}]})),
        ],
    );
    home.configure("Codex");
    home.indexes(1);
    home.finds(
        &["buoy module"],
        "../.codex/sessions/2026/05/18/rollout-2026-05-18T09-00-00-0c1f.jsonl#L2-L3",
        "float now",
    );
}

#[test]
fn a_memsearch_folder_is_found_as_it_lies() {
    let journal = "## Session 09:12\n\n### 09:12\n<!-- session:0c1f turn:a1 transcript:/home/ada/x.jsonl -->\n- The user asked for **Redis** as the queue.\n";
    let home = Home::new("harbor");
    home.write("harbor/.memsearch/memory/2026-05-18.md", journal);
    home.configure("memsearch");
    home.indexes(1);
    home.finds(
        &["which queue redis"],
        ".memsearch/memory/2026-05-18.md#L3-L5",
        "Redis",
    );
    let plain = Home::new("plain");
    plain.write("plain/memory/2026-05-18.md", journal);
    plain.indexes(1);
    plain.finds(
        &["which queue redis"],
        "memory/2026-05-18.md#L3-L5",
        "Redis",
    );
}

#[test]
fn front_matter_of_basic_memory_is_read() {
    let home = Home::new("vault");
    home.write(
        "vault/drinks/Pour Over.md",
        "---\ntitle: Pour Over\ntype: note\npermalink: drinks/pour-over\ntags:\n- coffee\n- brewing\ncreated: 2026-05-01T10:00:00\nmodified: 2026-05-02T10:00:00\n---\n\n# Pour Over\n\n## Observations\n- [method] Brew for three minutes #coffee\n\n## Relations\n- relates_to [[Kettle]]\n",
    );
    home.write("vault/Kettle.md", "---\ntitle: Kettle\ntype: note\npermalink: kettle\n---\n\nBrew nothing in it for three minutes.\n");
    home.configure("basic-memory");
    home.indexes(2);
    home.finds(
        &["--tag", "coffee", "how long to brew"],
        "drinks/Pour Over.md#L14-L15",
        "three minutes",
    );
}

#[test]
fn every_message_of_the_troubleshooting_guide_is_one_of_the_program() {
    fn sources(dir: &Path, text: &mut String) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir()
                && path
                    .file_name()
                    .is_some_and(|name| name != "tests" && name != "target")
            {
                sources(&path, text);
            } else if path.extension().is_some_and(|end| end == "rs") {
                text.push_str(&fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut text = String::new();
    sources(&repository().join("crates"), &mut text);
    sources(&repository().join("plugins"), &mut text);
    let guide = guide("troubleshooting.md");
    let messages: Vec<_> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("| ``")?.split_once("``"))
        .collect();
    assert!(messages.len() > 20, "{messages:?}");
    for (message, _) in messages {
        for part in message.trim().split('…') {
            assert!(
                text.contains(part),
                "`{part}` of `{message}` is in no source"
            );
        }
    }
}

#[test]
fn the_guides_name_commands_that_are_there() {
    let program = Program::new();
    for command in [
        &["config", "import"][..],
        &["mcp"],
        &["watch"],
        &["add"],
        &["flush", "check"],
        &["doctor"],
        &["model", "pull"],
    ] {
        program.run(&[command, &["--help"]].concat()).exits(0);
    }
    let servers: Vec<String> = ["```json\n", "memory '"]
        .iter()
        .map(|begin| {
            guide("clients.md")
                .split_once(begin)
                .unwrap()
                .1
                .split(['`', '\''])
                .next()
                .unwrap()
                .to_owned()
        })
        .collect();
    let first: Value = serde_json::from_str(&servers[0]).unwrap();
    let second: Value = serde_json::from_str(&servers[1]).unwrap();
    for server in [&first["mcpServers"]["memory"], &second] {
        assert_eq!(server["args"][0], "--workspace", "{server}");
        assert_eq!(server["args"][2], "mcp", "{server}");
    }
}
