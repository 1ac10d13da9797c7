#[cfg(target_os = "linux")]
mod replay;
mod script;
mod state;
