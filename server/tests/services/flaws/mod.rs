//! Flaws that were found in other panels, by their number in docs/panel/flaws.md, tried on this one: on
//! every server function that the program registers, every page of its route table and every stream.
//! Each test has a control case that succeeds, so that a panel that answers nothing withstands nothing.
pub mod calls;
mod endings;
mod gateway;
mod requests;
mod rights;
mod site;
mod targets;
mod tenants;
mod text;
