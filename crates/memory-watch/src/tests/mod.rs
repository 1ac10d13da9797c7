mod eyes;
mod schedule;
mod soak;
