mod by_hand;
mod convert;
mod damage;
mod double;
mod hub;
mod made;
mod open;
#[cfg(unix)]
mod pip;
mod reference;
mod tiny;
mod vectors;
