//! Chat transcripts of every format, and random ones, hostile rows among them.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::sample::select;

/// Whole transcripts; among them those of the field reports SW-14 and SW-15.
pub(super) const SHORT: &[(&str, &str)] = &[
    ("plain transcript", PLAIN),
    ("transcript of OpenClaw", OPENCLAW),
    ("transcript of Claude Code", CLAUDE_CODE),
    ("transcript of Codex", CODEX),
    ("transcript with a line separator in a row", SEPARATOR),
    (
        "half a transcript",
        "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assistant\",\"con",
    ),
    (
        "transcript without a final line end",
        "{\"role\":\"user\",\"content\":\"when does the ferry leave\"}\n{\"role\":\"assistant\",\"content\":\"at six\"}",
    ),
    (
        "transcript with a byte order mark and crlf",
        "\u{feff}{\"role\":\"user\",\"content\":\"one\\r\\ntwo\"}\r\n{\"role\":\"assistant\",\"content\":\"three\"}\r\n",
    ),
    ("hostile rows", HOSTILE),
];

const PLAIN: &str = "\
{\"role\":\"user\",\"content\":\"When does the ferry leave?\",\"timestamp\":1779100000}
{\"role\":\"assistant\",\"content\":\"At six.\",\"timestamp\":1779100005000}
{\"role\":\"user\",\"content\":\"渡轮在哪里？\",\"timestamp\":\"2026-05-18T10:30:00Z\",\"session\":\"s-2\"}
{\"role\":\"assistant\",\"content\":\"在北码头。\",\"timestamp\":\"yesterday\",\"session\":\"s-2\"}
{\"role\":\"system\",\"content\":\"be kind\"}
";

const OPENCLAW: &str = "\
{\"type\":\"session\",\"version\":3,\"id\":\"5b1e\",\"timestamp\":\"2026-05-18T08:00:00.000Z\",\"cwd\":\"/home/ann\"}
{\"type\":\"message\",\"id\":\"a1\",\"timestamp\":\"2026-05-18T08:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"[Telegram Ann 2026-05-18 08:00 UTC] where is the wharf?\",\"timestamp\":1779091201000}}
{\"type\":\"message\",\"id\":\"a2\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\"},{\"type\":\"text\",\"text\":\"North of the kiosk.\"},{\"type\":\"toolCall\",\"name\":\"map\"}]}}
{\"type\":\"message\",\"id\":\"a3\",\"message\":{\"role\":\"toolResult\",\"content\":[{\"type\":\"text\",\"text\":\"map\"}]}}
{\"type\":\"message\",\"id\":\"a4\",\"message\":{\"role\":\"assistant\",\"content\":\"Here is the way.\"}}
{\"type\":\"reset\"}
{\"type\":\"message\",\"id\":\"a5\",\"message\":{\"role\":\"assistant\",\"content\":\"Good morning.\"}}
{\"type\":\"message\",\"id\":\"a6\",\"message\":{\"role\":\"user\",\"content\":\"[cron:1 tidy] tidy up\"}}
{\"type\":\"message\",\"id\":\"a7\",\"message\":{\"role\":\"assistant\",\"content\":\"Tidied.\"}}
{\"type\":\"message\",\"id\":\"a8\",\"message\":{\"role\":\"user\",\"content\":\"thanks\"}}
{\"type\":\"message\",\"id\":\"a9\",\"message\":{\"role\":\"assistant\",\"content\":\"NO_REPLY\"}}
";

const CLAUDE_CODE: &str = "\
{\"type\":\"summary\",\"summary\":\"Pump\",\"leafUuid\":\"x\"}
{\"type\":\"user\",\"uuid\":\"1\",\"parentUuid\":null,\"sessionId\":\"c0ffee\",\"timestamp\":\"2026-05-18T09:00:00.000Z\",\"cwd\":\"/w\",\"message\":{\"role\":\"user\",\"content\":\"why does the pump stop?\"}}
{\"type\":\"assistant\",\"uuid\":\"2\",\"parentUuid\":\"1\",\"sessionId\":\"c0ffee\",\"timestamp\":\"2026-05-18T09:00:02.000Z\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"The valve\"}]}}
{\"type\":\"assistant\",\"uuid\":\"3\",\"parentUuid\":\"2\",\"sessionId\":\"c0ffee\",\"timestamp\":\"2026-05-18T09:00:03.000Z\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"The valve is stuck.\"}]}}
{\"type\":\"assistant\",\"uuid\":\"4\",\"sessionId\":\"c0ffee\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"name\":\"Bash\",\"input\":{}}]}}
{\"type\":\"user\",\"uuid\":\"5\",\"sessionId\":\"c0ffee\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"content\":\"ok\"}]}}
{\"type\":\"user\",\"uuid\":\"6\",\"sessionId\":\"c0ffee\",\"isMeta\":true,\"message\":{\"role\":\"user\",\"content\":\"meta\"}}
{\"type\":\"assistant\",\"uuid\":\"7\",\"sessionId\":\"c0ffee\",\"isSidechain\":true,\"message\":{\"role\":\"assistant\",\"content\":\"aside\"}}
{\"type\":\"user\",\"uuid\":\"8\",\"sessionId\":\"c0ffee\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"oil it then\"}]}}
";

const CODEX: &str = "\
{\"timestamp\":\"2026-05-18T10:00:00.000Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"0199\",\"cwd\":\"/w\",\"originator\":\"codex_cli_rs\",\"cli_version\":\"0.50.0\"}}
{\"timestamp\":\"2026-05-18T10:00:00.100Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"<environment_context>linux</environment_context>\"}]}}
{\"timestamp\":\"2026-05-18T10:00:01.000Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"rename the dock\"}]}}
{\"timestamp\":\"2026-05-18T10:00:01.000Z\",\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"rename the dock\"}}
{\"timestamp\":\"2026-05-18T10:00:02.000Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"reasoning\",\"summary\":[]}}
{\"timestamp\":\"2026-05-18T10:00:03.000Z\",\"type\":\"event_msg\",\"payload\":{\"type\":\"agent_message\",\"message\":\"Renamed.\"}}
{\"timestamp\":\"2026-05-18T10:00:03.000Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Renamed.\"}]}}
{\"timestamp\":\"2026-05-18T10:00:04.000Z\",\"type\":\"turn_context\",\"payload\":{\"cwd\":\"/w\"}}
";

const SEPARATOR: &str = "\
{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"first\u{2028}second wharf\"}]}}
{\"type\":\"message\",\"message\":{\"role\":\"assistant\",\"content\":\"answer with \\\"quotes\\\" and \\ud83c\\udf38\"}}

not json at all
";

const HOSTILE: &str = "\
{\"role\":\"user\",\"content\":\"half \\ud83c a character, \\ufffd and \\u0000\"}
{\"role\":\"user\",\"content\":\"\",\"timestamp\":-5}
{\"role\":\"assistant\",\"content\":\"\u{200b}\",\"timestamp\":1e999}
{\"role\":\"assistant\",\"content\":{\"text\":\"no string\"},\"timestamp\":[]}
{\"role\":\"assistant\",\"content\":[1,null,[],{\"type\":\"text\"},{\"type\":\"text\",\"text\":7}]}
{\"role\":[\"user\"],\"content\":\"x\"}
{\"role\":\"user\",\"role\":\"assistant\",\"content\":\"twice\"}
{\"role\":\"user\",\"content\":\"trailing\"} {\"role\":\"user\",\"content\":\"comma\"}
{\"type\":\"message\",\"message\":\"text\"}
{\"type\":\"message\",\"message\":{\"role\":\"user\"}}
{\"type\":\"response_item\",\"payload\":[]}
{\"type\":null,\"payload\":null}
[1, 2]
\"text\"
17
null
{
}
{\"role\":\"user\",\"content\":\"control \u{1} character\"}
\u{0}\u{0}\u{0}
\u{0}\u{0}{\"role\":\"user\",\"content\":\"after zeros\"}
\u{fffd}\u{fffd}
{}
";

/// Transcripts that take a careless program all of its stack or time.
pub(super) fn long() -> impl Iterator<Item = (&'static str, String)> {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let row = |content: &str| format!("{{\"role\":\"user\",\"content\":{content}}}\n");
    let said = |n: usize| {
        format!(
            "{{\"role\":\"user\",\"content\":\"question {n}\"}}\n{{\"role\":\"assistant\",\"content\":\"answer {n}\"}}\n"
        )
    };
    [
        ("deep rows", row(&deep(5_000)) + &row("\"after\"")),
        (
            "deep objects in a row",
            format!(
                "{{\"message\":{}1{}}}\n{}",
                "{\"message\":".repeat(2_000),
                "}".repeat(2_000),
                row("\"after\"")
            ),
        ),
        (
            "a first row longer than any beginning",
            row(&format!("\"{}\"", "word ".repeat(14_000))) + &said(1),
        ),
        (
            "a long answer",
            said(1) + &row(&format!("\"{}\"", "A sentence that ends. ".repeat(400))) + &said(2),
        ),
        ("many exchanges", (0..200).map(said).collect()),
        (
            "many broken rows",
            said(1) + &"{\"role\":\"user\"\n".repeat(300) + &said(2),
        ),
    ]
    .into_iter()
}

const ROWS: &[&str] = &[
    "{\"role\":\"user\",\"content\":\"hi\"}",
    "{\"role\":\"user\",\"content\":\"Which valve? 哪个阀门？\",\"timestamp\":1779100000}",
    "{\"role\":\"assistant\",\"content\":\"The left one. 左边的。\",\"timestamp\":1779100005000}",
    "{\"role\":\"assistant\",\"content\":\"hi\",\"session\":\"two\"}",
    "{\"role\":\"user\",\"content\":\"hi\",\"session\":\"two\"}",
    "{\"role\":\"assistant\",\"content\":\"NO_REPLY\"}",
    "{\"type\":\"session\",\"id\":\"s1\"}",
    "{\"type\":\"session\",\"id\":\"s2\",\"sessionKey\":\"agent:main:cron:7\"}",
    "{\"type\":\"reset\"}",
    "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"[cron:1 a] go\"}}",
    "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"System: [now] on\"}}",
    "{\"type\":\"message\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}",
    "{\"type\":\"message\",\"sourceTool\":\"memory_search\",\"message\":{\"role\":\"user\",\"content\":\"recalled\"}}",
    "{\"type\":\"user\",\"sessionId\":\"c1\",\"message\":{\"role\":\"user\",\"content\":\"look\"}}",
    "{\"type\":\"assistant\",\"sessionId\":\"c1\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"I\"}]}}",
    "{\"type\":\"assistant\",\"sessionId\":\"c1\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"I see\"}]}}",
    "{\"type\":\"user\",\"sessionId\":\"c1\",\"isMeta\":true,\"message\":{\"content\":\"meta\"}}",
    "{\"type\":\"session_meta\",\"payload\":{\"id\":\"x1\"}}",
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"ask\"}]}}",
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"told\"}]}}",
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"ask\"}}",
    "{\"role\":\"user\",\"content\":\"\\ud83c\"}",
    "{\"role\":\"user\",\"con",
    "{}",
    "null",
    "\u{0}",
    "\u{feff}",
    " ",
];

pub(super) fn document() -> impl Strategy<Value = String> {
    let said = "(user|assistant)".prop_flat_map(|role| {
        "[a-z字 .]{1,80}"
            .prop_map(move |text| format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}"))
    });
    let long = (1..400_usize).prop_map(|n| {
        let text = "A sentence. ".repeat(n);
        format!("{{\"role\":\"assistant\",\"content\":\"{text}\"}}")
    });
    let row = prop_oneof![
        8 => select(ROWS).prop_map(str::to_owned),
        3 => said,
        1 => long,
    ];
    let end = prop_oneof![
        12 => Just("\n"),
        2 => Just("\r\n"),
        1 => select(&["\n\n", "", " ", "\r"][..]),
    ];
    vec((row, end), 0..24).prop_map(|rows| {
        rows.into_iter()
            .flat_map(|(row, end)| [row, end.to_owned()])
            .collect()
    })
}
