//! `portico cluster nodegroup` and `resize`.
mod arguments;
mod change;
mod read;

pub use arguments::{GroupSettings, NodegroupCommand, ResizeArgs, UpdateArgs};

pub use change::{resize, resize_target, update_target};

use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;

/// Runs a command about node groups, and returns the exit code.
///
/// # Errors
/// If Magnum cannot be asked or refuses; how a change ended.
pub async fn run(
    command: &NodegroupCommand,
    connection: &mut Connection,
    console: &mut Console,
) -> Result<u8, ClusterError> {
    match command {
        NodegroupCommand::List(args) => read::list(connection, console, args).await.map(|()| 0),
        NodegroupCommand::Show(args) => read::show(connection, console, args).await.map(|()| 0),
        NodegroupCommand::Create(args) => change::create(connection, console, args).await,
        NodegroupCommand::Update(args) => change::update(connection, console, args).await,
        NodegroupCommand::Delete(args) => change::delete(connection, console, args).await,
    }
}
