//! Creates, changes and deletes templates.
use super::arguments::{TemplateArgs, TemplateCreateArgs, TemplateFlagArgs, TemplateUpdateArgs};
use super::print;
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::cluster::specification::parse;
use portico_cluster_operations::templates::{self, CopyValues, Flag};
use portico_openstack::magnum::{ClusterTemplate, NewClusterTemplate, PatchOperation};
use uuid::Uuid;

/// Creates a template.
///
/// # Errors
/// [`ClusterError::Usage`] for a body that cannot be read; Magnum's refusal.
pub async fn create(
    connection: &Connection,
    console: &mut Console,
    args: &TemplateCreateArgs,
) -> Result<(), ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let new = match (&args.json, &args.from) {
        (Some(path), _) => {
            let body = parse(path)?;
            serde_json::from_value(body).map_err(|error| ClusterError::Blocked {
                exit: exit_code::INVALID,
                text: format!("the body of the template is invalid: {error}"),
            })?
        }
        (None, Some(from)) => copy(magnum.template_named(token, from).await?, args)?,
        (None, None) => return Err(ClusterError::Usage("add --from or --json".to_owned())),
    };
    let created = magnum.create_template(token, &new).await?;
    print(connection, console, &args.shared, &created)
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

/// Changes single values of a template.
///
/// # Errors
/// [`ClusterError::Usage`] without a change; Magnum's refusal.
pub async fn update(
    connection: &Connection,
    console: &mut Console,
    args: &TemplateUpdateArgs,
) -> Result<(), ClusterError> {
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
    let changed = change(connection, &args.template, &operations).await?;
    print(connection, console, &args.shared, &changed)
}

/// Sets or removes the flag `public` or `hidden`.
///
/// # Errors
/// Magnum's refusal, such as for users who are not administrators of the cloud.
pub async fn set_flag(
    connection: &Connection,
    console: &mut Console,
    args: &TemplateFlagArgs,
    flag: Flag,
) -> Result<(), ClusterError> {
    let operations = [flag.operation(!args.undo)];
    let changed = change(connection, &args.template, &operations).await?;
    print(connection, console, &args.shared, &changed)
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

/// Deletes a template. Clusters of the project that use it are named.
///
/// # Errors
/// [`ClusterError::Blocked`] with their names; Magnum's refusal where those of other projects use it.
pub async fn delete(
    connection: &Connection,
    console: &mut Console,
    args: &TemplateArgs,
) -> Result<(), ClusterError> {
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
    magnum.delete_template(token, found.uuid).await?;
    console.say(format!("The template {} is deleted.", found.name));
    Ok(())
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
