use xshell::{Shell, cmd};

use crate::{Result, crash, fuzz, prepare, program, say, soak, target};

/// How many processes are killed at seeded moments, besides those that die at each step.
const CRASH_ROUNDS: &str = "30";

/// How long readers and writers work on one state folder.
const SOAK_SECONDS: &str = "12";

/// Runs everything that has to pass: fetches what is missing, offline but for that.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    prepare::sources(shell)?;
    prepare::python(shell)?;
    shell.set_var("CARGO_NET_OFFLINE", "true");
    cmd!(shell, "cargo fmt --all --check").run()?;
    cmd!(shell, "cargo fmt --check --manifest-path fuzz/Cargo.toml").run()?;
    cmd!(
        shell,
        "cargo clippy --workspace --all-targets --locked -- -D warnings"
    )
    .run()?;
    if cmd!(shell, "cargo nextest --version")
        .quiet()
        .ignore_stdout()
        .ignore_stderr()
        .run()
        .is_ok()
    {
        cmd!(shell, "cargo nextest run --workspace --locked --no-run").run()?;
        models(shell)?;
        cmd!(
            shell,
            "cargo nextest run --workspace --locked --no-fail-fast"
        )
        .run()?;
        cmd!(shell, "cargo test --workspace --locked --doc").run()?;
    } else {
        say("cargo-nextest is not installed; `cargo test` runs the same tests");
        cmd!(shell, "cargo test --workspace --locked --no-run").run()?;
        models(shell)?;
        cmd!(shell, "cargo test --workspace --locked --no-fail-fast").run()?;
    }
    shell.set_var("RUSTDOCFLAGS", "-D warnings");
    cmd!(shell, "cargo doc --workspace --locked --no-deps").run()?;
    let rounds = ["--rounds".to_owned(), CRASH_ROUNDS.to_owned()];
    if !crash::run(shell, &rounds)? {
        return Err("a process that died left what it should not".into());
    }
    let seconds = ["--seconds".to_owned(), SOAK_SECONDS.to_owned()];
    if !soak::run(shell, &seconds)? {
        return Err("an answer was wrong while others wrote, or something was left over".into());
    }
    if !fuzz::run(shell, &[])? {
        return Err("random text found a fault".into());
    }
    Ok(())
}

/// Pulls the models with the program that the tests have just built.
fn models(shell: &Shell) -> Result<()> {
    prepare::models(shell, &program(&target(shell)?.join("debug"), "memory"))
}
