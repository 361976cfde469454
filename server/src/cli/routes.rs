//! `portico routes`: prints the panel's table of pages, for tests that visit them all.
use super::error::CliError;
use super::print;
use anyhow::Context as _;

pub(super) fn routes() -> Result<(), CliError> {
    let table = serde_json::to_string_pretty(&app::route_table()).context("print the pages")?;
    print(&format!("{table}\n"))
}
