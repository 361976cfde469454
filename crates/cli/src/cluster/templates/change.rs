//! Creates, changes and deletes templates.
use super::arguments::{
    TemplateCreateArgs, TemplateDeleteArgs, TemplateFlagArgs, TemplateUpdateArgs,
};
use super::print;
use crate::cluster::arguments::SharedArgs;
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::cluster::specification::parse;
use crate::cluster::views::print_object;
use crate::output::OutputError;
use portico_cluster_operations::templates::{self, CopyValues, Flag};
use portico_openstack::magnum::{ClusterTemplate, NewClusterTemplate, PatchOperation};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

/// Creates a template, and returns the exit code.
///
/// # Errors
/// [`ClusterError::Usage`] for a body that cannot be read; Magnum's refusal.
pub async fn create(
    connection: &Connection,
    console: &mut Console,
    args: &TemplateCreateArgs,
) -> Result<u8, ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let new = match (&args.json, &args.from) {
        (Some(path), _) => {
            let body = parse(path)?;
            serde_json::from_value::<NewClusterTemplate>(body).map_err(|error| {
                ClusterError::Blocked {
                    exit: exit_code::INVALID,
                    text: format!("the body of the template is invalid: {error}"),
                }
            })?
        }
        (None, Some(from)) => copy(magnum.template_named(token, from).await?, args)?,
        (None, None) => return Err(ClusterError::Usage("add --from or --json".to_owned())),
    };
    if args.dry_run.is_on() {
        return not_sent(console, &args.shared, "POST", "clustertemplates", &new);
    }
    let created = magnum.create_template(token, &new).await?;
    print(connection, console, &args.shared, &created).map(|()| 0)
}

/// Returns a new template with the values of another one and those of the command.
fn copy(
    from: ClusterTemplate,
    args: &TemplateCreateArgs,
) -> Result<NewClusterTemplate, ClusterError> {
    let mut labels = from.labels.clone();
    for text in &args.labels {
        let (key, value) = text
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| {
                ClusterError::Usage(format!("{text:?} is not a label: write LABEL=VALUE"))
            })?;
        labels.insert(key.to_owned(), value.to_owned());
    }
    let values = CopyValues {
        name: args.name.clone(),
        image: args.image.clone(),
        flavor: args.flavor.clone(),
        master_flavor: args.master_flavor.clone(),
        keypair: args.keypair.clone(),
        labels: Some(labels),
        ..CopyValues::default()
    };
    Ok(templates::copy(from, values))
}

/// Changes single values of a template, and returns the exit code.
///
/// # Errors
/// [`ClusterError::Usage`] without a change; Magnum's refusal.
pub async fn update(
    connection: &Connection,
    console: &mut Console,
    args: &TemplateUpdateArgs,
) -> Result<u8, ClusterError> {
    let fields = [
        ("name", &args.name),
        ("image_id", &args.image),
        ("flavor_id", &args.flavor),
        ("master_flavor_id", &args.master_flavor),
        ("keypair_id", &args.keypair),
    ];
    let operations: Vec<_> = fields
        .into_iter()
        .filter_map(|(field, value)| {
            let value = value.as_deref()?;
            Some(PatchOperation::set(field, value))
        })
        .collect();
    if operations.is_empty() {
        return Err(ClusterError::Usage(
            "nothing to change: add --name, --image, --flavor, --master-flavor or --keypair"
                .to_owned(),
        ));
    }
    let wanted = &args.template;
    if args.dry_run.is_on() {
        return change_not_sent(connection, console, wanted, &args.shared, &operations).await;
    }
    let changed = change(connection, wanted, &operations).await?;
    print(connection, console, &args.shared, &changed).map(|()| 0)
}

/// Sets or removes the flag `public` or `hidden`, and returns the exit code.
///
/// # Errors
/// Magnum's refusal, such as for users who are not administrators of the cloud.
pub async fn set_flag(
    connection: &Connection,
    console: &mut Console,
    args: &TemplateFlagArgs,
    flag: Flag,
) -> Result<u8, ClusterError> {
    let operations = [flag.operation(!args.undo)];
    let wanted = &args.template;
    if args.dry_run.is_on() {
        return change_not_sent(connection, console, wanted, &args.shared, &operations).await;
    }
    let changed = change(connection, wanted, &operations).await?;
    print(connection, console, &args.shared, &changed).map(|()| 0)
}

/// Shows the request that would change a template, and returns the exit code.
async fn change_not_sent(
    connection: &Connection,
    console: &mut Console,
    wanted: &str,
    shared: &SharedArgs,
    operations: &[PatchOperation],
) -> Result<u8, ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let found = magnum.template_named(token, wanted).await?;
    let path = format!("clustertemplates/{}", found.uuid);
    not_sent(console, shared, "PATCH", &path, &operations)
}

/// Shows a request that a dry run does not send, and returns the exit code.
fn not_sent(
    console: &mut Console,
    shared: &SharedArgs,
    method: &str,
    path: &str,
    body: &impl Serialize,
) -> Result<u8, ClusterError> {
    let object = json!({"method": method, "path": path, "body": body});
    print_object(console, shared.output, &object, path, || {
        let body = serde_json::to_string_pretty(body).map_err(OutputError::from)?;
        Ok(format!("{method} {path}\n{body}\n"))
    })?;
    console.say("Nothing was sent.");
    Ok(exit_code::NEGATIVE)
}

async fn change(
    connection: &Connection,
    wanted: &str,
    operations: &[PatchOperation],
) -> Result<ClusterTemplate, ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let found = magnum.template_named(token, wanted).await?;
    Ok(magnum
        .change_template(token, found.uuid, operations)
        .await?)
}

/// Deletes a template, and returns the exit code. Clusters of the project that use it are named.
///
/// # Errors
/// [`ClusterError::Blocked`] with their names; Magnum's refusal where those of other projects use it.
pub async fn delete(
    connection: &Connection,
    console: &mut Console,
    args: &TemplateDeleteArgs,
) -> Result<u8, ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let found = magnum.template_named(token, &args.template).await?;
    let users = users(connection, found.uuid).await?;
    if !users.is_empty() {
        return Err(ClusterError::Blocked {
            exit: exit_code::CONFLICT,
            text: format!(
                "the template {} is used by {}; nothing was sent",
                found.name,
                users.join(", ")
            ),
        });
    }
    if args.dry_run.is_on() {
        console.say(format!(
            "The template {} ({}) would be deleted. Nothing was sent.",
            found.name, found.uuid
        ));
        return Ok(exit_code::NEGATIVE);
    }
    magnum.delete_template(token, found.uuid).await?;
    console.say(format!("The template {} is deleted.", found.name));
    Ok(0)
}

/// Returns the names of the project's clusters that use a template.
///
/// # Errors
/// If Magnum cannot be asked; [`ClusterError::Incomplete`] if one may be missing.
pub async fn users(connection: &Connection, template: Uuid) -> Result<Vec<String>, ClusterError> {
    let listing = connection
        .clients
        .magnum
        .clusters(&connection.token)
        .await?;
    if let Some(cut) = listing.cut {
        return Err(ClusterError::Incomplete(cut));
    }
    let users = templates::users(&listing.items, template).into_iter();
    Ok(users.map(|cluster| cluster.name.clone()).collect())
}
