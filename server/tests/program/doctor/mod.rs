//! `portico doctor`: every fault is made on purpose, and found by its ID. Each test first sees the
//! same set-up without the fault.
mod certificates;
mod databases;
mod files;
mod options;
pub mod place;
mod reached;
mod stand_ins;
