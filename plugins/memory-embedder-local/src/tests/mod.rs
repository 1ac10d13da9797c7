mod by_hand;
mod convert;
mod damage;
mod described;
mod double;
mod hub;
mod made;
mod math;
mod open;
#[cfg(unix)]
mod pip;
mod reference;
mod tiny;
mod unigram;
mod vectors;
