//! Exists because `links` in Cargo.toml asks for a build script.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
