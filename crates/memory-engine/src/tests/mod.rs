mod calibration;
mod contract;
mod discovery;
mod document;
mod lock;
mod manifest;
mod reference_facts;
mod scan;
