//! What secrets look like: all that has to be changed for a new kind of key.

use super::SecretKind;
use super::SecretKind::{AccessKey, ApiKey, Password, Token};

/// How a secret is recognised.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pattern {
    /// It begins with a prefix that nothing else has.
    Prefixed(Prefixed),
    /// It is the value of a name: `password = …`, `"api_key": "…"`.
    Assigned {
        name: &'static str,
        kind: SecretKind,
        value: Value,
    },
    /// It follows a word: `Bearer …`.
    Following {
        word: &'static str,
        kind: SecretKind,
    },
    /// Three parts of base64, the first of them an object: `eyJ….….…`.
    WebToken { prefix: &'static str },
    /// A block between `-----BEGIN … PRIVATE KEY-----` and its end.
    PrivateKey { begin: &'static str },
    /// A password before the host of a URL.
    Url { mark: &'static str },
}

/// A secret that begins with a prefix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prefixed {
    pub(super) prefix: &'static str,
    pub(super) kind: SecretKind,
    /// What may stand in it beside ASCII letters and digits.
    pub(super) marks: &'static str,
    /// How many characters follow the prefix.
    pub(super) len: (usize, usize),
    pub(super) shape: Shape,
}

/// What the characters behind a prefix look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// The prefix and the length are enough, if it is not small letters alone.
    Any,
    /// Capitals and digits.
    Capitals,
    /// Not like words: `sk-learn` is a library.
    Random,
}

/// What a value has to look like to be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// A person made it up: short, but no plain word.
    Chosen,
    /// A program made it up: long and without words.
    Random,
    /// A scheme may stand before it: `Authorization: Bearer …`.
    Header,
}

const MANY: usize = 8192;

const fn prefixed(
    prefix: &'static str,
    kind: SecretKind,
    marks: &'static str,
    len: (usize, usize),
    shape: Shape,
) -> Pattern {
    Pattern::Prefixed(Prefixed {
        prefix,
        kind,
        marks,
        len,
        shape,
    })
}

const fn assigned(name: &'static str, kind: SecretKind, value: Value) -> Pattern {
    Pattern::Assigned { name, kind, value }
}

/// Every pattern. Of two whose words begin at the same place the longer word counts.
pub(super) const PATTERNS: &[Pattern] = &[
    // OpenAI and those that took over its form (OpenRouter, DeepSeek, …); Anthropic's are longer.
    prefixed("sk-", ApiKey, "-_", (16, MANY), Shape::Random),
    prefixed("sk-proj-", ApiKey, "-_", (16, MANY), Shape::Random),
    prefixed("sk-ant-", ApiKey, "-_", (16, MANY), Shape::Random),
    // Google.
    prefixed("AIza", ApiKey, "-_", (30, 45), Shape::Any),
    // Stripe; `pk_` is public.
    prefixed("sk_live_", ApiKey, "", (16, MANY), Shape::Any),
    prefixed("sk_test_", ApiKey, "", (16, MANY), Shape::Any),
    prefixed("rk_live_", ApiKey, "", (16, MANY), Shape::Any),
    prefixed("rk_test_", ApiKey, "", (16, MANY), Shape::Any),
    prefixed("whsec_", ApiKey, "+/", (24, MANY), Shape::Random),
    // AWS.
    prefixed("AKIA", AccessKey, "", (16, 16), Shape::Capitals),
    prefixed("ASIA", AccessKey, "", (16, 16), Shape::Capitals),
    // GitHub.
    prefixed("ghp_", Token, "", (30, 255), Shape::Any),
    prefixed("gho_", Token, "", (30, 255), Shape::Any),
    prefixed("ghu_", Token, "", (30, 255), Shape::Any),
    prefixed("ghs_", Token, "", (30, 255), Shape::Any),
    prefixed("ghr_", Token, "", (30, 255), Shape::Any),
    prefixed("github_pat_", Token, "_", (22, 255), Shape::Random),
    // GitLab.
    prefixed("glpat-", Token, "-_.", (18, 255), Shape::Random),
    // Slack.
    prefixed("xoxa-", Token, "-", (10, 512), Shape::Random),
    prefixed("xoxb-", Token, "-", (10, 512), Shape::Random),
    prefixed("xoxe-", Token, "-", (10, 512), Shape::Random),
    prefixed("xoxo-", Token, "-", (10, 512), Shape::Random),
    prefixed("xoxp-", Token, "-", (10, 512), Shape::Random),
    prefixed("xoxr-", Token, "-", (10, 512), Shape::Random),
    prefixed("xoxs-", Token, "-", (10, 512), Shape::Random),
    prefixed("xapp-", Token, "-", (10, 512), Shape::Random),
    // Hugging Face.
    prefixed("hf_", Token, "", (30, 64), Shape::Any),
    // npm.
    prefixed("npm_", Token, "", (30, 64), Shape::Any),
    Pattern::WebToken { prefix: "eyJ" },
    Pattern::PrivateKey {
        begin: "-----BEGIN ",
    },
    Pattern::Url { mark: "://" },
    assigned("authorization", Token, Value::Header),
    Pattern::Following {
        word: "bearer",
        kind: Token,
    },
    assigned("password", Password, Value::Chosen),
    assigned("passwd", Password, Value::Chosen),
    assigned("passphrase", Password, Value::Chosen),
    assigned("pwd", Password, Value::Chosen),
    assigned("密码", Password, Value::Chosen),
    assigned("密碼", Password, Value::Chosen),
    assigned("パスワード", Password, Value::Chosen),
    assigned("пароль", Password, Value::Chosen),
    assigned("contraseña", Password, Value::Chosen),
    assigned("secret", Password, Value::Random),
    assigned("credential", Password, Value::Random),
    assigned("credentials", Password, Value::Random),
    assigned("api_key", ApiKey, Value::Random),
    assigned("api-key", ApiKey, Value::Random),
    assigned("api key", ApiKey, Value::Random),
    assigned("apikey", ApiKey, Value::Random),
    assigned("access_key", AccessKey, Value::Random),
    assigned("access-key", AccessKey, Value::Random),
    assigned("access key", AccessKey, Value::Random),
    assigned("accesskey", AccessKey, Value::Random),
    assigned("access_key_id", AccessKey, Value::Random),
    assigned("accesskeyid", AccessKey, Value::Random),
    assigned("secret_key", AccessKey, Value::Random),
    assigned("secret-key", AccessKey, Value::Random),
    assigned("secret key", AccessKey, Value::Random),
    assigned("secretkey", AccessKey, Value::Random),
    assigned("secret_access_key", AccessKey, Value::Random),
    assigned("secret access key", AccessKey, Value::Random),
    assigned("secretaccesskey", AccessKey, Value::Random),
    assigned("private_key", ApiKey, Value::Random),
    assigned("private-key", ApiKey, Value::Random),
    assigned("privatekey", ApiKey, Value::Random),
    assigned("encryption_key", ApiKey, Value::Random),
    assigned("client_secret", Token, Value::Random),
    assigned("client-secret", Token, Value::Random),
    assigned("clientsecret", Token, Value::Random),
    assigned("token", Token, Value::Random),
];

impl Pattern {
    /// Returns the word that it is looked for by.
    pub(super) fn word(&self) -> &'static str {
        match *self {
            Self::Prefixed(Prefixed { prefix: word, .. })
            | Self::Assigned { name: word, .. }
            | Self::Following { word, .. }
            | Self::WebToken { prefix: word }
            | Self::PrivateKey { begin: word }
            | Self::Url { mark: word } => word,
        }
    }
}
