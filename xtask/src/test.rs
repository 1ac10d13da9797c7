use xshell::{Shell, cmd};

use crate::{Result, prepare, say};

/// Runs everything that has to pass, offline.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    prepare::run(shell)?;
    shell.set_var("CARGO_NET_OFFLINE", "true");
    cmd!(shell, "cargo fmt --all --check").run()?;
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
        cmd!(
            shell,
            "cargo nextest run --workspace --locked --no-fail-fast"
        )
        .run()?;
        cmd!(shell, "cargo test --workspace --locked --doc").run()?;
    } else {
        say("cargo-nextest is not installed; `cargo test` runs the same tests");
        cmd!(shell, "cargo test --workspace --locked --no-fail-fast").run()?;
    }
    shell.set_var("RUSTDOCFLAGS", "-D warnings");
    cmd!(shell, "cargo doc --workspace --locked --no-deps").run()?;
    Ok(())
}
