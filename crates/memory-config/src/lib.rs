//! Configuration of the memory engine.
