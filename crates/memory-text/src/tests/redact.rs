use std::borrow::Cow;

use proptest::prelude::*;

use crate::redact::{SecretKind, find_secrets, redact};

/// Checks what is left of a text.
fn check(text: &str, expected: &str) {
    assert_eq!(redact(text).text, expected, "{text}");
}

/// Checks that a text holds one secret, of this kind, and nothing else changes.
fn check_secret(before: &str, secret: &str, after: &str, kind: SecretKind) {
    let text = format!("{before}{secret}{after}");
    check(&text, &format!("{before}[redacted: {kind}]{after}"));
    let found = find_secrets(&text);
    assert_eq!(found.len(), 1, "{text}");
    assert_eq!(
        (&text[found[0].span.clone()], found[0].kind),
        (secret, kind)
    );
}

fn check_harmless(text: &str) {
    let redacted = redact(text);
    assert!(
        matches!(redacted.text, Cow::Borrowed(_)) && redacted.found.is_empty(),
        "{text}: {}",
        redacted.text
    );
}

/// Secrets that are known by themselves, wherever they stand. None of them opens anything.
const TOKENS: &[(&str, SecretKind)] = &[
    (
        "sk-T3BlbkFJabcdefghijklmnopqrst0123456789abcdef",
        SecretKind::ApiKey,
    ),
    ("sk-test-0000EXAMPLE0000", SecretKind::ApiKey),
    (
        "sk-proj-a1B2c3D4e5F6g7H8i9J0-k1L2m3N4o5P6_q7R8s9T0u1V2",
        SecretKind::ApiKey,
    ),
    (
        "sk-svcacct-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5",
        SecretKind::ApiKey,
    ),
    (
        "sk-or-v1-0123456789abcdef0123456789abcdef0123456789abcdef",
        SecretKind::ApiKey,
    ),
    (
        "sk-ant-api03-a1B2c3D4e5F6g7H8i9J0-k1L2m3N4o5P6_q7R8s9T0u1V2AA",
        SecretKind::ApiKey,
    ),
    (
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        SecretKind::ApiKey,
    ),
    ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", SecretKind::ApiKey),
    ("rk_test_4eC39HqLyjWDarjtT1zdp7dc", SecretKind::ApiKey),
    ("whsec_4eC39HqLyjWDarjtT1zdp7dcabcd", SecretKind::ApiKey),
    ("AKIAIOSFODNN7EXAMPLE", SecretKind::AccessKey),
    ("ASIAIOSFODNN7EXAMPLE", SecretKind::AccessKey),
    (
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        SecretKind::Token,
    ),
    (
        "gho_0123456789abcdefghijABCDEFGHIJ012345",
        SecretKind::Token,
    ),
    (
        "ghu_0123456789abcdefghijABCDEFGHIJ012345",
        SecretKind::Token,
    ),
    (
        "ghs_0123456789abcdefghijABCDEFGHIJ012345",
        SecretKind::Token,
    ),
    (
        "ghr_0123456789abcdefghijABCDEFGHIJ012345",
        SecretKind::Token,
    ),
    (
        "github_pat_11ABCDEFG0abcdefghijkl_0123456789abcdefghijABCDEFGHIJ0123456789",
        SecretKind::Token,
    ),
    ("glpat-a1B2c3D4e5F6g7H8i9J0", SecretKind::Token),
    ("glpat-a1B2c3D4e5F6g7H8i9J0.01.1a0b2c3d4", SecretKind::Token),
    (
        "xoxb-123456789012-1234567890123-abcdefGHIJKL0123456789ab",
        SecretKind::Token,
    ),
    (
        "xoxp-123456789012-1234567890123-abcdefGHIJKL0123456789ab",
        SecretKind::Token,
    ),
    (
        "xapp-1-A0123456789-1234567890123-abcdef0123456789",
        SecretKind::Token,
    ),
    ("hf_abcdEFGHijklMNOPqrstUVWXyzabCDEFgh", SecretKind::Token),
    (
        "npm_0123456789abcdefghijABCDEFGHIJ012345",
        SecretKind::Token,
    ),
    (
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        SecretKind::Token,
    ),
];

#[test]
fn tokens_are_found_wherever_they_stand() {
    for (token, kind) in TOKENS {
        for (before, after) in [
            ("", ""),
            ("the key is ", ", keep it"),
            ("use `", "`."),
            ("键是", "。"),
            ("{\"k\":\"", "\"}"),
            ("a\n", "\nb"),
            ("(", ")"),
            ("X_K=", "\n"),
            ("https://example.org/?k=", "&x=1"),
        ] {
            check_secret(before, token, after, *kind);
        }
        check_secret("at the end of a sentence: ", token, ".", *kind);
    }
    let name = "backup_";
    check_secret(
        name,
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "",
        SecretKind::Token,
    );
}

#[test]
fn tokens_one_after_the_other_are_all_found() {
    let text: Vec<_> = TOKENS.iter().map(|(token, _)| *token).collect();
    let found = find_secrets(&text.join(" "));
    let kinds: Vec<_> = TOKENS.iter().map(|(_, kind)| *kind).collect();
    assert_eq!(
        found.iter().map(|found| found.kind).collect::<Vec<_>>(),
        kinds
    );
}

#[test]
fn what_looks_like_a_token_and_is_none_stays() {
    for text in [
        "",
        "sk-etch",
        "sk-learn",
        "use sk-learn-pipelines-for-text-classification-2 instead",
        "task-0123456789abcdef0123456789abcdef",
        "disk-0123456789abcdef0123456789abcdef",
        "the risk-adjusted-return-on-capital-of-2024",
        "sk-Rock-Paper-Scissors-Tournament-2026",
        "550e8400-e29b-41d4-a716-446655440000",
        "commit 7f3e9a1c0b5d4e2f8a6c9d1b3e5f7a9c0d2e4f6a",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "crates/memory-text/src/redact/pattern.rs:120",
        "/home/ann/projects/0123456789abcdef0123456789abcdef/notes.md",
        "C:\\Users\\ann\\AppData\\Local\\Temp\\a1b2c3d4e5f6",
        "AIza is how they begin",
        "AKIA and ASIA are prefixes; ASIAPACIFICREGIONALS",
        "xAKIAIOSFODNN7EXAMPLE1",
        "ghp_import and ghs_something_else_that_is_longer_than_thirty",
        "hf_hub_download(repo_id) and hf_transformers_are_lower_case_names",
        "npm_config_registry npm_lifecycle_event",
        "xoxo-hugs-and-kisses",
        "glpat-is-the-prefix-of-gitlab",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9 alone is an object",
        "eyJ.a.b",
        "-----BEGIN CERTIFICATE-----\nMIIB0123456789abcdef\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIB0123456789abcdef\n-----END PUBLIC KEY-----",
        "bearer of good news, the standard-bearer",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "authorization: required for everybody",
        "https://example.org:8080/a@b and https://medium.com/@ann and ssh://git@example.org:22/x",
        "git@github.com:ann/memory.git, ann@example.org",
        "postgres://user:${PASSWORD}@db/x",
    ] {
        check_harmless(text);
    }
}

#[test]
fn values_of_secret_names_are_found() {
    use SecretKind::{AccessKey, ApiKey, Password, Token};
    for (before, secret, after, kind) in [
        ("password = ", "hunter2", "", Password),
        ("password: ", "hunter2", ".", Password),
        ("Password: ", "p@ssw0rd!x", "\nnext", Password),
        (
            "the password=",
            "correct3horse",
            ", and the user is ann",
            Password,
        ),
        ("{\"password\": \"", "hunter2", "\"}", Password),
        ("{\\\"password\\\": \\\"", "hunter2", "\\\"}", Password),
        ("**Password**: ", "hunter2", "", Password),
        ("DB_PASSWORD=", "s3cr3tvalue", "\n", Password),
        ("dbPassword => '", "s3cr3tvalue", "'", Password),
        ("passwd: ", "12345678", "", Password),
        ("密码：", "hunter2", "。", Password),
        ("пароль: ", "солнце42", "", Password),
        ("api_key: ", "d41d8cd98f00b204e9800998ecf8427e", "", ApiKey),
        (
            "API_KEY = \"",
            "d41d8cd98f00b204e9800998ecf8427e",
            "\"",
            ApiKey,
        ),
        ("x-api-key: ", "a1B2c3D4e5F6g7H8", "", ApiKey),
        ("SERVICE_API_KEY_2=", "a1B2c3D4e5F6g7H8", "", ApiKey),
        ("?apikey=", "a1B2c3D4e5F6g7H8", "&page=2", ApiKey),
        (
            "aws_secret_access_key = ",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "",
            AccessKey,
        ),
        (
            "\"SecretAccessKey\": \"",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "\"",
            AccessKey,
        ),
        ("client_secret=", "a1B2c3D4e5F6g7H8", "", Token),
        ("access_token: ", "a1B2c3D4e5F6g7H8", "", Token),
        ("Authorization: Bearer ", "abc123def456", "", Token),
        (
            "curl -H 'Authorization: Bearer ",
            "a1B2c3D4.e5F6g7H8-x",
            "' https://example.org",
            Token,
        ),
        ("Authorization: Basic ", "YW5uOmh1bnRlcjI=", "", Token),
        ("authorization: ", "a1B2c3D4e5F6g7H8", "", Token),
        ("send Bearer ", "a1B2c3D4e5F6g7H8i9J0", " with it", Token),
        (
            "postgres://ann:",
            "hunter",
            "@db.example.org:5432/notes",
            Password,
        ),
        ("redis://:", "p@ss", "@localhost", Password),
        ("https://ann:", "x1", "@example.org/a", Password),
    ] {
        check_secret(before, secret, after, kind);
    }
}

#[test]
fn values_that_are_no_secrets_stay() {
    for text in [
        "password: required",
        "password = null",
        "password: String,",
        "password = os.environ[\"DB_PASSWORD\"]",
        "password = get_password2()",
        "password: ${DB_PASSWORD1}",
        "password = user.password2",
        "password: ********",
        "password = xxxxxxxx",
        "the password is on the yellow note",
        "Passwords: see the wiki",
        "password_hash: 0123456789",
        "token: u64",
        "tokens: 4096",
        "max_tokens = 128000",
        "token = lexer.next_token()",
        "secret: kept by ann",
        "secret = true",
        "api_key: null",
        "api_key = process.env.OPENAI_API_KEY_2",
        "api_key_env = \"OPENAI_API_KEY\"",
        "api_key: /run/secrets/openai-0123456789abcdef",
        "api_key = \"YOUR_API_KEY_GOES_HERE\"",
        "token: 2026-05-18T10:30:00Z",
        "access key: the left one",
        "密码：见便签",
    ] {
        check_harmless(text);
    }
}

#[test]
fn private_keys_are_taken_out_as_a_whole() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\nNMoSfm76oqFvAp8Gy0==\n";
    for label in [
        "PRIVATE KEY",
        "RSA PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "EC PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        let block = format!("-----BEGIN {label}-----\n{body}-----END {label}-----");
        check_secret("before\n", &block, "\nafter", SecretKind::PrivateKey);
        check_secret("", &block.replace('\n', "\r\n"), "", SecretKind::PrivateKey);
        check_secret(
            "{\"private_key\": \"",
            &block.replace('\n', "\\n"),
            "\\n\"}",
            SecretKind::PrivateKey,
        );
    }
}

#[test]
fn private_keys_without_an_end_are_taken_out_up_to_the_words_behind() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let begin = "-----BEGIN RSA PRIVATE KEY-----";
    let header = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n";
    for (block, after) in [
        (
            format!("{begin}\n{line}\n{line}\nshort0=="),
            "\nand then the words",
        ),
        (format!("{begin}\n{header}{line}"), "\n\nwords"),
        (format!("{begin}\n{line}"), ""),
        (format!("{begin}\\n{line}\\n{line}"), ""),
        (begin.to_owned(), " is how they begin"),
    ] {
        check_secret("see ", &block, after, SecretKind::PrivateKey);
    }
}

#[test]
fn redacted_text_holds_no_secret() {
    let names = ["password", "api_key", "Authorization: Bearer", "token"];
    for (token, _) in TOKENS {
        for name in names {
            for text in [
                format!("{name} = {token}"),
                format!("{name}: \"{token}\""),
                format!("{name} {token}"),
            ] {
                let redacted = redact(&text).text.into_owned();
                assert!(!redacted.contains(token), "{redacted}");
                check_harmless(&redacted);
            }
        }
    }
}

#[test]
fn what_is_found_can_be_shown() {
    let redacted = redact("password = hunter2");
    assert_eq!(redacted.found[0].kind.to_string(), "password");
    assert!(!format!("{redacted:?}").contains("hunter2"));
}

/// Texts that make careless programs read the same characters again and again; together they take a moment here.
#[test]
fn hostile_text_takes_linear_time() {
    const SIZE: usize = 1 << 18;
    let begin = "-----BEGIN PRIVATE KEY-----";
    for piece in [
        "sk-",
        "sk-a",
        "eyJ",
        "eyJa.",
        "eyJaaaaaaaaaa.",
        "ghp_",
        "glpat-a.",
        "xoxb-",
        "bearer ",
        "Bearer a/",
        "password=",
        "password: ",
        "password\"",
        "token ",
        "://",
        "://a:",
        "a@",
        "://:@",
        "AIza",
        "AKIA",
        begin,
        "-----BEGIN ",
        "-----END ",
        "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAA\n",
        "authorization: bearer ",
        "密码：",
        "=",
        "a",
        " ",
        "\n",
        "[redacted: ",
    ] {
        let text = piece.repeat(SIZE / piece.len());
        let redacted = redact(&text);
        assert!(redacted.text.len() <= text.len() * 4, "{piece}");
        find_secrets(&format!("{text}{begin}"));
        find_secrets(&format!("password = {text}"));
    }
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(TOKENS).prop_map(|(token, _)| token.to_owned()),
        prop::sample::select(vec![
            "password",
            "api_key",
            "Authorization",
            "Bearer ",
            "secret",
            "=",
            ": ",
            "\"",
            "'",
            "://",
            "ann:",
            "@",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "\n",
            " ",
            "[redacted: token]",
            "sk-",
            "eyJ",
            "。",
            "密码",
            "🌸",
            "\\n",
            "**",
        ])
        .prop_map(str::to_owned),
        "[a-zA-Z0-9+/=_.-]{0,40}",
        "\\PC{0,6}",
    ]
}

proptest! {
    #[test]
    fn secrets_are_pieces_of_the_text_in_order(pieces in prop::collection::vec(piece(), 0..20)) {
        let text = pieces.concat();
        let redacted = redact(&text);
        let mut last = 0;
        for found in &redacted.found {
            prop_assert!(last <= found.span.start && found.span.start < found.span.end);
            prop_assert!(text.get(found.span.clone()).is_some());
            last = found.span.end;
        }
        prop_assert_eq!(&redacted.found, &find_secrets(&text));
        prop_assert_eq!(redacted.found.is_empty(), redacted.text == text);
    }
}
