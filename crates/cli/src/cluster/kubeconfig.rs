//! `portico cluster kubeconfig`: a kubeconfig without a secret, as `portico kubeconfig` writes it, or one with
//! a certificate of the cluster's own authority.
//!
//! The key of the certificate is made on this machine and written to the file only.
use super::arguments::SharedArgs;
use super::certificate_view::{CertificateView, text, view};
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::views::print_object;
use crate::direct::{self, CloudChoice, Pin};
use crate::error::CommandError;
use crate::output::OutputError;
use crate::{private_file, profile};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::Args;
use portico_openstack::magnum::Authority;
use portico_openstack::rest::{self, ErrorKind};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The subject of the certificate, as the `openstack` client has it.
const USER: &str = "admin";
/// The group that has all rights in a cluster.
const GROUP: &str = "system:masters";

/// Add a cluster to your kubeconfig without a secret, or with an administrator's certificate
///
/// Without --certificate it does what `portico kubeconfig` does: the context asks Portico for short-lived
/// tokens, and the file has no secret.
///
/// --certificate is for a cluster that cannot be used through Portico. The key is made on this machine, and
/// Magnum signs the certificate: it is valid for five years, has all rights in the cluster, and is revoked only
/// by a rotation of the authority. By Magnum's policy only the owner of the cluster gets one. With the session
/// of `portico login`, the signing is in the journal of the cluster and in Portico's audit log; with --cloud or
/// OS_*, Portico has no record of it, and only the cloud's own log may have one.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster kubeconfig shop                        # merges a context without a secret
  portico cluster kubeconfig shop --stdout > shop.kubeconfig
  portico cluster kubeconfig shop --certificate --out admin.kubeconfig")]
pub struct KubeconfigArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// Have a certificate signed, and write it with its key
    #[arg(long, requires = "out")]
    pub certificate: bool,
    /// The file to merge into. Default: as `portico kubeconfig`. With --certificate: the file to write, with
    /// mode 0600; it must not exist
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Merge the context into the file; this is the default. A certificate is not merged
    #[arg(long, conflicts_with_all = ["certificate", "stdout"])]
    pub merge: bool,
    /// Print a kubeconfig of its own instead of merging
    #[arg(long, conflicts_with_all = ["certificate", "out"])]
    pub stdout: bool,
    /// Do not ask for the name
    #[arg(long, short)]
    pub yes: bool,
    /// Why, for the journal of the cluster; needs the session of `portico login`
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// What was written.
#[derive(Debug, Serialize)]
struct WrittenView {
    file: String,
    context: String,
    certificate: CertificateView,
}

/// A kubeconfig's parts, in PEM where they are certificates.
struct Parts<'a> {
    name: &'a str,
    server: &'a str,
    authority: &'a str,
    certificate: &'a str,
    key: &'a SecretString,
}

/// Writes a kubeconfig without a secret, or with a certificate that Magnum signs.
///
/// # Errors
/// [`ClusterError::Usage`] if the file exists; [`ClusterError::Blocked`] for users who do not own the cluster,
/// for a cluster without an API, and without a session or for a cluster that is not enrolled;
/// [`ClusterError::NotConfirmed`] if another name was typed.
pub async fn kubeconfig(
    connection: &Connection,
    console: &mut Console,
    args: &KubeconfigArgs,
) -> Result<(), ClusterError> {
    match args.out.as_deref().filter(|_| args.certificate) {
        Some(path) => with_certificate(connection, console, args, path).await,
        None => without_secret(connection, args).await,
    }
}

/// Adds a context that asks Portico for tokens.
async fn without_secret(
    connection: &Connection,
    args: &KubeconfigArgs,
) -> Result<(), ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let cluster = match magnum.cluster_named(token, &args.cluster).await {
        Ok(found) => found.uuid.to_string(),
        // one that Magnum does not have may be enrolled
        Err(error) if error.is_not_found() => args.cluster.clone(),
        Err(error) => return Err(error.into()),
    };
    let cloud = match connection.choice() {
        Some(CloudChoice {
            cloud: Some(name), ..
        }) => Pin::find(name)?.map(|pin| pin.cloud),
        Some(_) => direct::pinned_by_environment()?,
        None if connection.is_through_gateway() => None,
        None => return Err(no_session(&args.cluster)),
    };
    // a pinned cloud has its own gateway
    let gateway = connection.gateway().filter(|_| cloud.is_none());
    let gateway = gateway.map(profile::display);
    let added = crate::kubeconfig::add(
        cluster,
        cloud,
        gateway,
        args.out.clone(),
        args.stdout,
        &connection.clock,
    );
    added.await.map_err(|error| match error {
        CommandError::NoProfile => no_session(&args.cluster),
        CommandError::UnknownCluster { .. } => ClusterError::Blocked {
            exit: exit_code::NOT_FOUND,
            text: format!(
                "{error}\n  Enrol the cluster with `portico cluster import {}` or on its page in the panel, \
                 then run `portico login` again",
                args.cluster
            ),
        },
        error => error.into(),
    })
}

fn no_session(cluster: &str) -> ClusterError {
    ClusterError::Blocked {
        exit: exit_code::SIGN_IN,
        text: format!(
            "this machine has no session at the cluster's gateway, so there is nothing that tokens come from: \
             run `portico login URL`, or `portico login --cloud NAME URL`, then `portico cluster kubeconfig \
             {cluster}` again; or add --certificate --out FILE for a certificate of the cluster's own authority"
        ),
    }
}

/// Has a certificate signed, and writes it with its key.
async fn with_certificate(
    connection: &Connection,
    console: &mut Console,
    args: &KubeconfigArgs,
    path: &Path,
) -> Result<(), ClusterError> {
    ensure_free(path)?;
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let cluster = magnum.cluster_named(token, &args.cluster).await?;
    let Some(server) = &cluster.api_address else {
        return Err(ClusterError::Blocked {
            exit: exit_code::CONFLICT,
            text: format!(
                "{} has no API address yet ({}); nothing was signed",
                cluster.name, cluster.status
            ),
        });
    };
    // the policy is the same as that for signing
    let authority = magnum.authority(token, cluster.uuid, Authority::Kubernetes);
    let authority = authority.await.map_err(of_owner)?;
    console.say(notice(&cluster.name, path, connection.is_through_gateway()));
    confirm(console, args.yes, &cluster.name)?;
    let key = KeyPair::generate().map_err(|error| of_key(&error))?;
    let request = request(&key).map_err(|error| of_key(&error))?;
    let signed = magnum.sign_certificate(token, cluster.uuid, &request, Authority::Kubernetes);
    let signed = signed.await.map_err(of_owner)?;
    let certificate = view(&signed, connection.clock.now())?;
    let document = document(&Parts {
        name: &cluster.name,
        server,
        authority: &authority,
        certificate: &signed,
        key: &SecretString::from(key.serialize_pem()),
    })?;
    private_file::create(path, document.expose_secret())?;
    let written = WrittenView {
        file: path.display().to_string(),
        context: cluster.name.clone(),
        certificate,
    };
    let name = &written.file;
    print_object(console, args.shared.output, &written, name, || {
        let file = crate::one_line(name);
        let lines = text(&written.certificate);
        Ok(format!("File         {file} (mode 0600)\n{lines}"))
    })
}

/// Refuses a file that exists, before anything is signed.
fn ensure_free(path: &Path) -> Result<(), ClusterError> {
    match path.symlink_metadata() {
        Ok(_) => Err(ClusterError::Usage(format!(
            "{} exists, and is not replaced: choose another name, or remove it",
            path.display()
        ))),
        // another error is that of the creation
        Err(_) => Ok(()),
    }
}

/// Returns what the file permits, and where the signing is recorded.
fn notice(name: &str, path: &Path, is_through_gateway: bool) -> String {
    let record = match is_through_gateway {
        true => {
            "The signing is recorded, with you, in Portico's audit log and in the journal of the cluster \
             (not if Portico's store is Redis)."
        }
        false => {
            "Magnum is called directly: Portico has no record of the signing, neither in the journal of the \
             cluster nor in its audit log."
        }
    };
    format!(
        "Magnum signs a certificate with the subject O={GROUP}, CN={USER}. It is valid for five years, has \
         all rights in {name} whatever its role bindings are, and can be revoked only by a rotation of the \
         authority. Everyone who can read {} has these rights. {record} What is done with the certificate is \
         in the cluster's own audit log only, as {USER}.",
        path.display()
    )
}

/// Asks for the name of the cluster, unless `yes` is set.
fn confirm(console: &mut Console, yes: bool, name: &str) -> Result<(), ClusterError> {
    if yes {
        return Ok(());
    }
    match console.ask(&format!("Type {name} to continue: "))? {
        Some(typed) if typed == name => Ok(()),
        Some(typed) => Err(ClusterError::NotConfirmed { typed }),
        None => Err(ClusterError::Usage(
            "there is no terminal to ask for the name of the cluster: add --yes".to_owned(),
        )),
    }
}

/// Returns a certificate request in PEM. There are no extensions: Magnum's configuration limits which ones
/// it signs.
fn request(key: &KeyPair) -> Result<String, rcgen::Error> {
    let mut name = DistinguishedName::new();
    name.push(DnType::OrganizationName, GROUP);
    name.push(DnType::CommonName, USER);
    let mut params = CertificateParams::default();
    params.distinguished_name = name;
    params.serialize_request(key)?.pem()
}

fn document(parts: &Parts<'_>) -> Result<SecretString, ClusterError> {
    let name = parts.name;
    let user = format!("{USER}@{name}");
    let cluster = json!({"server": parts.server,
                         "certificate-authority-data": STANDARD.encode(parts.authority)});
    let identity = json!({"client-certificate-data": STANDARD.encode(parts.certificate),
                          "client-key-data": STANDARD.encode(parts.key.expose_secret())});
    let document = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": user, "user": identity}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
        "current-context": name,
    });
    let text = serde_norway::to_string(&document).map_err(OutputError::from)?;
    Ok(SecretString::from(text))
}

fn of_owner(error: rest::Error) -> ClusterError {
    match &error.kind {
        ErrorKind::Forbidden(_) => ClusterError::Blocked {
            exit: exit_code::FORBIDDEN,
            text: format!(
                "{error}\n  By Magnum's default policy, only the user who created the cluster gets its \
                 certificates. Use `portico kubeconfig`, or ask that user"
            ),
        },
        _ => error.into(),
    }
}

fn of_key(error: &rcgen::Error) -> ClusterError {
    ClusterError::Usage(format!("the key could not be made: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateSigningRequestParams, DnValue};
    use serde_json::Value;

    #[test]
    fn a_request_names_user_and_group_and_has_no_key() {
        let request = request(&KeyPair::generate().unwrap()).unwrap();
        assert!(!request.contains("PRIVATE KEY"), "{request}");
        let read = CertificateSigningRequestParams::from_pem(&request).unwrap();
        let name = &read.params.distinguished_name;
        for (kind, text) in [
            (DnType::CommonName, USER),
            (DnType::OrganizationName, GROUP),
        ] {
            let Some(DnValue::Utf8String(found)) = name.get(&kind) else {
                panic!("{name:?}");
            };
            assert_eq!(found, text);
        }
    }

    #[test]
    fn the_notice_states_where_the_signing_is_recorded() {
        let of = |is_through_gateway| notice("shop", Path::new("a.kubeconfig"), is_through_gateway);
        let session = of(true);
        assert!(
            session.contains("recorded, with you, in Portico's audit log"),
            "{session}"
        );
        let direct = of(false);
        assert!(
            direct.contains("Portico has no record of the signing"),
            "{direct}"
        );
        for text in [session, direct] {
            assert!(text.contains("valid for five years"), "{text}");
            assert!(text.contains("a.kubeconfig has these rights"), "{text}");
        }
    }

    #[test]
    fn a_kubeconfig_has_one_context_with_the_clusters_name() {
        let key = SecretString::from("key".to_owned());
        let written = document(&Parts {
            name: "shop",
            server: "https://192.0.2.10:6443",
            authority: "authority",
            certificate: "certificate",
            key: &key,
        });
        let read: Value = serde_norway::from_str(written.unwrap().expose_secret()).unwrap();
        assert_eq!(read["current-context"], "shop");
        let context = json!({"cluster": "shop", "user": "admin@shop"});
        assert_eq!(read["contexts"][0]["context"], context);
        let user = &read["users"][0];
        assert_eq!(user["name"], "admin@shop");
        assert_eq!(user["user"]["client-key-data"], STANDARD.encode("key"));
        let cluster = &read["clusters"][0]["cluster"];
        let authority = STANDARD.encode("authority");
        assert_eq!(cluster["certificate-authority-data"], authority);
    }
}
