mod by_hand;
mod convert;
mod double;
mod hub;
#[cfg(unix)]
mod pip;
mod reference;
mod tiny;
