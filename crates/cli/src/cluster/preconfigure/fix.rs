//! `--fix`: makes what a user can make, a key pair and a template. What others have to provide remains a task.
use super::document::Bootstrap;
use super::inventory::{Inventory, Read};
use super::lookup::{Found, find};
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::specification::read_text;
use portico_openstack::glance::Image;
use portico_openstack::magnum::{ClusterTemplate, NewClusterTemplate};
use portico_openstack::nova::KeyPair;
use portico_openstack::rest::Service;
use std::path::Path;
use uuid::Uuid;

/// How a public key begins, in the format of OpenSSH.
const PUBLIC_KEYS: [&str; 3] = ["ssh-", "ecdsa-", "sk-"];

/// Makes the key pair and the template that the file names and the cloud does not have; returns whether something
/// was made. What cannot be made is named with the reason.
///
/// # Errors
/// [`ClusterError::Usage`] if the public key cannot be used; if Nova or Magnum refuses.
pub async fn fix(
    connection: &Connection,
    console: &mut Console,
    inventory: &Inventory,
    (wanted, public_key): (&Bootstrap, Option<&Path>),
) -> Result<bool, ClusterError> {
    let (clients, token) = (&connection.clients, &connection.token);
    let mut has_made = false;
    let key = |one: &KeyPair| (one.name.clone(), one.name.clone());
    if let Some(name) = absent(&inventory.key_pairs, wanted.keypair.as_deref(), key) {
        match public_key {
            _ if connection.is_through_gateway() => console.say(format!(
                "The key pair {name} was not made: the gateway makes none. Repeat the command with --cloud or OS_*."
            )),
            None => console.say(format!(
                "The key pair {name} was not made: name the file of your public key with --public-key."
            )),
            Some(path) => {
                let key = public(path)?;
                clients.nova.create_key_pair(token, name, &key).await?;
                console.say(format!("Made the key pair {name}."));
                has_made = true;
            }
        }
    }
    let key = |one: &ClusterTemplate| (one.uuid.to_string(), one.name.clone());
    if let Some(name) = absent(&inventory.templates, wanted.template.as_deref(), key) {
        match template(name, inventory, wanted) {
            Err(reason) => console.say(format!("The template {name} was not made: {reason}.")),
            Ok(new) => {
                let made = clients.magnum.create_template(token, &new).await?;
                console.say(format!("Made the template {name} ({}).", made.uuid));
                has_made = true;
            }
        }
    }
    Ok(has_made)
}

/// Returns the name, if a complete list does not have it.
fn absent<'w, T>(
    read: &Read<T>,
    wanted: Option<&'w str>,
    key: impl Fn(&T) -> (String, String),
) -> Option<&'w str> {
    let (Ok(listing), Some(name)) = (read, wanted) else {
        return None;
    };
    matches!(find(listing, name, key), Found::Absent).then_some(name)
}

/// Reads a public key.
fn public(path: &Path) -> Result<String, ClusterError> {
    let text = read_text(path)?;
    let key = text.trim();
    // a private key must not be sent, also not below the public one
    let is_one_line = key.lines().count() == 1;
    match is_one_line && PUBLIC_KEYS.iter().any(|kind| key.starts_with(kind)) {
        true => Ok(key.to_owned()),
        false => Err(ClusterError::Usage(format!(
            "{} is not a public key in the format of OpenSSH, such as ~/.ssh/id_ed25519.pub",
            path.display()
        ))),
    }
}

/// Returns the template with the values of the file, or why it cannot be made.
pub fn template(
    name: &str,
    inventory: &Inventory,
    wanted: &Bootstrap,
) -> Result<NewClusterTemplate, &'static str> {
    if Uuid::parse_str(name).is_ok() {
        return Err("the file has its ID, which Magnum chooses for a new one");
    }
    let image = wanted.image.as_deref().ok_or("the file names no image")?;
    let network = wanted.external_network.clone();
    let network = network.ok_or("the file names no external network")?;
    let images = inventory.images.as_ref();
    let images = images.map_err(|_| "the images could not be read")?;
    let key = |one: &Image| (one.id.clone(), one.name.clone());
    let Found::One(image) = find(images, image, key) else {
        return Err("there is not one image of this name");
    };
    if image.os_distro().is_none() {
        return Err("the image has no property os_distro, so Magnum refuses it");
    }
    let has = |service: Service| {
        let mut endpoints = inventory.endpoints.iter();
        endpoints.any(|one| service.types().contains(&one.service_type.as_str()))
    };
    let version = image.kube_version();
    let version = version.map(|version| ("kube_tag".to_owned(), version.to_owned()));
    Ok(NewClusterTemplate {
        name: Some(name.to_owned()),
        coe: "kubernetes".to_owned(),
        image_id: image.id.clone(),
        driver: wanted.driver.clone(),
        flavor_id: wanted.workers.flavor.clone(),
        master_flavor_id: wanted.control_plane.flavor.clone(),
        external_network_id: Some(network),
        volume_driver: has(Service::Cinder).then(|| "cinder".to_owned()),
        http_proxy: wanted.proxy.clone(),
        https_proxy: wanted.proxy.clone(),
        insecure_registry: wanted.registry.clone(),
        master_lb_enabled: Some(has(Service::Octavia)),
        labels: version.into_iter().collect(),
        ..NewClusterTemplate::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_private_key_is_not_sent() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("id");
        fs::write(&path, "ssh-ed25519 AAAA ada\n").unwrap();
        assert_eq!(public(&path).unwrap(), "ssh-ed25519 AAAA ada");
        let private = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n";
        let both = format!("ssh-ed25519 AAAA ada\n{private}");
        for text in [private, both.as_str()] {
            fs::write(&path, text).unwrap();
            let refused = public(&path).unwrap_err().to_string();
            assert!(refused.contains("not a public key"), "{refused}");
            assert!(!refused.contains("AAAA"), "{refused}");
        }
    }
}
