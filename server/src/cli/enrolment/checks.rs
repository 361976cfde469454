//! Whether a cluster may be imported.
use crate::config::enrolment::{EnrolmentConfig, RefusedAddress};
use portico_domain::api_address::{ApiAddress, is_same_api};
use portico_domain::cluster::ClusterRecord;
use portico_domain::enrolled_cluster::{EnrolledCluster, InvalidEnrolledCluster, is_plain_name};
use portico_kube_auth::authority::only_certificates;
use portico_runtime::tls::ClientAuthority;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use uuid::Uuid;
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// The reason why a cluster is not imported, or its record not removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ImportError {
    #[error("--server: {0}; {next}", next = next_step_of(.0))]
    Address(RefusedAddress),
    #[error(
        "--name {0:?} cannot be part of a kubeconfig and of commands: use letters, digits, '.', '_' and \
         '-', beginning with a letter"
    )]
    Name(String),
    #[error("{option}: {reason}; give the certificate of the cluster's authority in PEM form")]
    Authority {
        option: &'static str,
        reason: String,
    },
    #[error(
        "{option}: the certificate of {subject} is not one of an authority: give the certificate with \
         which the API server's client certificate is issued"
    )]
    NotAuthority {
        option: &'static str,
        subject: String,
    },
    /// Two records that one API server, or one command of a user, could mean.
    #[error("the cluster {name} ({id}) has the same {member} already; {next}", next = .member.next_step())]
    Taken {
        member: Member,
        name: String,
        id: Uuid,
    },
    #[error(
        "{name} ({id}) belongs to project {owner}, not {asked}; give its --owner-project, or remove the \
         record and import the cluster again"
    )]
    OtherOwner {
        name: String,
        id: Uuid,
        owner: String,
        asked: String,
    },
    #[error("the record cannot be stored: {0}; correct the option of that name")]
    Record(InvalidEnrolledCluster),
    #[error("no imported cluster has the ID {0}; `portico enrolment list` shows all of them")]
    Unknown(Uuid),
    #[error(
        "{name} ({id}) is a cluster of Magnum; its project changes or removes its record on the page of \
         the cluster"
    )]
    OfMagnum { name: String, id: Uuid },
}

/// What only one cluster may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Member {
    Name,
    Address,
    ClientAuthority,
}

impl std::fmt::Display for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Name => "name",
            Self::Address => "address",
            Self::ClientAuthority => "authority of client certificates",
        })
    }
}

impl Member {
    fn next_step(self) -> &'static str {
        match self {
            Self::Name => "choose another --name, or give its --id to replace an imported record",
            Self::Address => {
                "give its --id to replace an imported record, with --accepted-project for each of its \
                 projects"
            }
            Self::ClientAuthority => {
                "kube-auth could not tell their API servers apart: give each cluster an authority of its own"
            }
        }
    }
}

fn next_step_of(reason: &RefusedAddress) -> &'static str {
    match reason {
        RefusedAddress::Form => "write it as https://192.0.2.7:6443",
        RefusedAddress::Outside(_) => {
            "if it is right, add its network there, and restart the gateway and the panel"
        }
    }
}

/// Checks the name of an imported cluster.
///
/// # Errors
/// [`ImportError::Name`].
pub(super) fn check_name(name: &str) -> Result<(), ImportError> {
    match is_plain_name(name) {
        true => Ok(()),
        false => Err(ImportError::Name(name.to_owned())),
    }
}

/// Returns the address of an API server in its normal form, if Portico may connect to it.
///
/// # Errors
/// [`ImportError::Address`].
pub(super) fn address(section: &EnrolmentConfig, server: &str) -> Result<String, ImportError> {
    let parsed = ApiAddress::parse(server).ok_or(ImportError::Address(RefusedAddress::Form))?;
    let normal = parsed.to_string();
    section.permit(&normal).map_err(ImportError::Address)?;
    Ok(normal)
}

/// Returns the certificates of a file, without its other contents.
///
/// # Errors
/// [`ImportError::Authority`] if there is none, or one that cannot be used.
pub(super) fn authority(option: &'static str, pem: &[u8]) -> Result<String, ImportError> {
    let unusable = |reason: String| ImportError::Authority { option, reason };
    let found = only_certificates(pem).map_err(|error| unusable(error.to_string()))?;
    ClientAuthority::from_pem(&found).map_err(|error| unusable(error.to_string()))?;
    String::from_utf8(found).map_err(|error| unusable(error.to_string()))
}

/// Checks that each certificate may issue others. kube-auth binds a cluster to what its authority issued,
/// and nothing that is written in a client certificate counts.
///
/// # Errors
/// [`ImportError::NotAuthority`], or [`ImportError::Authority`] for a text that cannot be read.
pub(super) fn check_issuers(option: &'static str, pem: &str) -> Result<(), ImportError> {
    for certificate in certificates(pem) {
        let (_, parsed) =
            X509Certificate::from_der(&certificate).map_err(|_| ImportError::Authority {
                option,
                reason: "a certificate cannot be read".to_owned(),
            })?;
        if !parsed.is_ca() {
            return Err(ImportError::NotAuthority {
                option,
                subject: parsed.subject().to_string(),
            });
        }
    }
    Ok(())
}

fn certificates(pem: &str) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem.as_bytes())
        .filter_map(Result::ok)
        .collect()
}

/// Returns the imported cluster with an ID.
///
/// # Errors
/// [`ImportError::Unknown`] or [`ImportError::OfMagnum`].
pub(super) fn imported(
    clusters: &[EnrolledCluster],
    id: Uuid,
) -> Result<&EnrolledCluster, ImportError> {
    let found = clusters.iter().find(|one| one.id == id);
    let found = found.ok_or(ImportError::Unknown(id))?;
    match found.is_imported() {
        true => Ok(found),
        false => Err(ImportError::OfMagnum {
            name: found.name.clone(),
            id,
        }),
    }
}

/// Checks that no other cluster can be mistaken for a new one. Names of Magnum's clusters are those of
/// their projects, which cannot keep the operator from using one elsewhere.
///
/// # Errors
/// [`ImportError::Taken`].
pub(super) fn ensure_distinct(
    new: &EnrolledCluster,
    enrolled: &[EnrolledCluster],
    configured: &[ClusterRecord],
) -> Result<(), ImportError> {
    let taken = |member, name: &str, id| ImportError::Taken {
        member,
        name: name.to_owned(),
        id,
    };
    for one in configured {
        if one.name == new.name {
            return Err(taken(Member::Name, &one.name, one.id));
        }
        if is_same_api(&one.api_url, &new.api_url) {
            return Err(taken(Member::Address, &one.name, one.id));
        }
    }
    let own = certificates(&new.client_ca);
    for one in enrolled.iter().filter(|one| one.id != new.id) {
        let is_neighbour = one.is_imported() || one.owner_project == new.owner_project;
        if is_neighbour && one.name == new.name {
            return Err(taken(Member::Name, &one.name, one.id));
        }
        if is_same_api(&one.api_url, &new.api_url) {
            return Err(taken(Member::Address, &one.name, one.id));
        }
        let theirs = certificates(&one.client_ca);
        if own.iter().any(|certificate| theirs.contains(certificate)) {
            return Err(taken(Member::ClientAuthority, &one.name, one.id));
        }
    }
    Ok(())
}
