mod script;
mod state;
