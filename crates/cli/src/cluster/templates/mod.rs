//! `portico cluster template`.
mod arguments;
mod change;

pub use arguments::TemplateCommand;

use super::arguments::SharedArgs;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::read;
use super::views::{TemplateView, print_list, print_object};
use crate::output::{self, OutputFormat};
use portico_cluster_operations::templates::Flag;
use portico_openstack::magnum::ClusterTemplate;
use std::fmt::Write as _;

/// Runs a command about templates, and returns the exit code.
///
/// # Errors
/// If Magnum cannot be asked or refuses.
pub async fn run(
    command: &TemplateCommand,
    connection: &Connection,
    console: &mut Console,
) -> Result<u8, ClusterError> {
    match command {
        TemplateCommand::List(shared) => read::templates(connection, console, shared.output)
            .await
            .map(|()| 0),
        TemplateCommand::Show(args) => show(connection, console, &args.template, &args.shared)
            .await
            .map(|()| 0),
        TemplateCommand::Create(args) => change::create(connection, console, args).await,
        TemplateCommand::Update(args) => change::update(connection, console, args).await,
        TemplateCommand::Publish(args) => {
            change::set_flag(connection, console, args, Flag::Public).await
        }
        TemplateCommand::Hide(args) => {
            change::set_flag(connection, console, args, Flag::Hidden).await
        }
        TemplateCommand::Delete(args) => change::delete(connection, console, args).await,
    }
}

/// Shows a template, and the clusters of the project that use it.
async fn show(
    connection: &Connection,
    console: &mut Console,
    wanted: &str,
    shared: &SharedArgs,
) -> Result<(), ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let template = magnum.template_named(token, wanted).await?;
    let users = change::users(connection, template.uuid).await?;
    let view = TemplateView::new(&template, &connection.clients.drivers);
    print_object(console, shared.output, &view, &view.name, || {
        let mut text = output::list(OutputFormat::Table, std::slice::from_ref(&view))?;
        // writing to a string cannot fail
        let _ = writeln!(text);
        for (key, value) in &view.labels {
            let label = crate::one_line(&format!("{key}={value}"));
            let _ = writeln!(text, "label    {label}");
        }
        for name in &users {
            let _ = writeln!(text, "used by  {}", crate::one_line(name));
        }
        Ok(text)
    })
}

/// Prints a template that was created or changed.
fn print(
    connection: &Connection,
    console: &mut Console,
    shared: &SharedArgs,
    template: &ClusterTemplate,
) -> Result<(), ClusterError> {
    let view = TemplateView::new(template, &connection.clients.drivers);
    print_list(console, shared.output, &[view], |row| {
        (&row.name, &row.uuid)
    })
}
