use crate::redact::{Secrets, is_secret};

/// Puts environment variables in for `${NAME}`; `$${` stands for `${` itself.
///
/// # Errors
///
/// A message when a variable is not set, or when what stands between the braces is no name.
pub(crate) fn expand(
    text: &str,
    env: &[(String, String)],
    secrets: &mut Secrets,
) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(before) = before.strip_suffix('$') {
            out.push_str(before);
            out.push_str("${");
            rest = after;
            continue;
        }
        out.push_str(before);
        let (name, tail) = after
            .split_once('}')
            .ok_or_else(|| "`${` without `}`".to_owned())?;
        if !is_name(name) {
            return Err(format!("`${{{name}}}` is not the name of a variable"));
        }
        let (_, value) = env
            .iter()
            .find(|(known, _)| known == name)
            .ok_or_else(|| format!("environment variable `{name}` is not set"))?;
        if is_secret(name) {
            secrets.add(value);
        }
        out.push_str(value);
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
