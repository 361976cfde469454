//! `portico cluster nodes`.
mod arguments;
mod change;
mod drain;
mod healing;
mod read;
mod replace;
mod selection;

pub use arguments::NodesCommand;
pub use read::in_group;

use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;

/// Runs a command about nodes, and returns the exit code.
///
/// # Errors
/// If Magnum cannot be asked or refuses; how a change ended.
pub async fn run(
    command: &NodesCommand,
    connection: &mut Connection,
    console: &mut Console,
) -> Result<u8, ClusterError> {
    match command {
        NodesCommand::List(args) => read::list(connection, console, args).await.map(|()| 0),
        NodesCommand::Add(args) => change::add(connection, console, args).await,
        NodesCommand::Remove(args) => change::remove(connection, console, args).await,
        NodesCommand::Replace(args) => replace::replace(connection, console, args).await,
    }
}
