//! Creates, changes and deletes templates.
use super::arguments::{TemplateArgs, TemplateCreateArgs, TemplateFlagArgs, TemplateUpdateArgs};
use super::print;
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::cluster::specification::parse;
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

/// Returns a new template with the values of another one and those of the command. It is private to the
/// project.
fn copy(
    from: ClusterTemplate,
    args: &TemplateCreateArgs,
) -> Result<NewClusterTemplate, ClusterError> {
    let mut labels = from.labels;
    for text in &args.labels {
        let (key, value) = text
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| {
                ClusterError::Usage(format!("{text:?} is not a label: write LABEL=VALUE"))
            })?;
        labels.insert(key.to_owned(), value.to_owned());
    }
    let or = |chosen: &Option<String>, present: Option<String>| chosen.clone().or(present);
    Ok(NewClusterTemplate {
        name: args.name.clone(),
        coe: from.coe.unwrap_or_else(|| "kubernetes".to_owned()),
        image_id: or(&args.image, from.image_id).unwrap_or_default(),
        flavor_id: or(&args.flavor, from.flavor_id),
        master_flavor_id: or(&args.master_flavor, from.master_flavor_id),
        keypair_id: or(&args.keypair, from.keypair_id),
        external_network_id: from.external_network_id,
        fixed_network: from.fixed_network,
        fixed_subnet: from.fixed_subnet,
        network_driver: from.network_driver,
        volume_driver: from.volume_driver,
        docker_storage_driver: from.docker_storage_driver,
        docker_volume_size: from.docker_volume_size,
        dns_nameserver: from.dns_nameserver,
        apiserver_port: from.apiserver_port,
        http_proxy: from.http_proxy,
        https_proxy: from.https_proxy,
        no_proxy: from.no_proxy,
        insecure_registry: from.insecure_registry,
        registry_enabled: Some(from.registry_enabled),
        labels,
        tls_disabled: Some(from.tls_disabled),
        public: None,
        hidden: None,
        tags: from.tags,
        server_type: from.server_type,
        driver: from.driver,
        master_lb_enabled: Some(from.master_lb_enabled),
        floating_ip_enabled: Some(from.floating_ip_enabled),
    })
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
    flag: &str,
) -> Result<(), ClusterError> {
    let operations = [PatchOperation::set(flag, !args.undo)];
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
    let template = template.to_string();
    let users = listing.items.into_iter();
    let users = users.filter(|cluster| cluster.cluster_template_id == template);
    Ok(users.map(|cluster| cluster.name).collect())
}
