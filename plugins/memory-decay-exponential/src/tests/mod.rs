mod config;
mod policy;
mod reference_facts;
