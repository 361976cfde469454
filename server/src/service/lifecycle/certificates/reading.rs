//! The certificate of a cluster's authority, and what the viewer may do with it.
use crate::{
    caller::Caller,
    kube::{Authority, ClusterSnapshot},
    service::{
        Services,
        error::ServiceError,
        lifecycle::{error, managed, own, viewer::Viewer},
    },
};
use jiff::Timestamp;
use portico_cluster_operations::{
    Clients,
    authorities::authorities,
    certificate::{Certificate, CertificateError},
};
use portico_domain::{
    identity::Named,
    panel::lifecycle::{
        AuthorityReading, CertificateView, ClusterAction, ClusterCertificates, Expiry,
        OtherAuthority, OtherAuthorityKind, RecordedAuthority,
    },
};
use portico_lifecycle::{
    authority::{ROTATION_EFFECTS, RotationRefusal, check_rotation},
    driver::Cloud,
    model::Cluster,
    rights::Call,
};
use portico_openstack::{magnum, rest::ErrorKind};
use uuid::Uuid;

/// Returns the certificate of a cluster's authority, and what the viewer may do with it.
///
/// # Errors
/// `NotFound` if the project has no such cluster; else those of [`crate::service::lifecycle::list()`].
/// That Magnum does not permit the certificate is in the answer.
pub async fn certificates(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Result<ClusterCertificates, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let recorded = recorded(clusters, &viewer, cluster);
    let now = services.clock.now();
    read(&access.clients, &viewer, cluster, recorded.as_deref(), now).await
}

/// Returns the authority in the record of a cluster that the viewer's project has enrolled, in PEM.
fn recorded(clusters: &ClusterSnapshot, viewer: &Viewer, cluster: Uuid) -> Option<String> {
    let known = clusters.get(cluster)?;
    match known.authority() {
        Authority::Pem(pem) if known.record().owner_project == viewer.project_id() => {
            Some(pem.to_owned())
        }
        Authority::Pem(_) | Authority::File(_) | Authority::Public => None,
    }
}

/// Does the same with the clients of a cloud. `recorded` is the authority in the record of the cluster.
///
/// # Errors
/// As [`certificates()`].
pub async fn read(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
    recorded: Option<&str>,
    now: Timestamp,
) -> Result<ClusterCertificates, ServiceError> {
    let found = own::cluster(clients, viewer, cluster).await?;
    let examined = examine(clients, viewer, &found).await?;
    let model = &examined.cluster;
    let creator = model.user_id.as_deref();
    let now = now.as_second();
    let (authority, other_authorities) = read_all(clients, viewer, &found, recorded, now).await;
    let refusal = examined.refusal(viewer);
    Ok(ClusterCertificates {
        cluster: Named {
            id: model.uuid.clone(),
            name: model.name.clone(),
        },
        is_own: creator == Some(viewer.user_id.as_str()),
        creator: found.user_id.clone(),
        record: compared(&authority, recorded),
        authority,
        other_authorities,
        rotation_effects: ROTATION_EFFECTS.map(str::to_owned).to_vec(),
        rotation: managed::offer(ClusterAction::RotateCa, refusal),
        signing: managed::offer(
            ClusterAction::SignCertificate,
            viewer.refusal(Call::SignCertificate, creator),
        ),
        read_at: now,
    })
}

/// A cluster, as far as a rotation depends on it.
pub struct Examined {
    pub cluster: Cluster,
    cloud: Cloud,
    is_template_known: bool,
}

impl Examined {
    /// Returns why the viewer cannot rotate the authorities: the policy, the driver, or the state.
    pub fn refusal(&self, viewer: &Viewer) -> Option<String> {
        let cluster = &self.cluster;
        let forbidden = viewer.refusal(Call::RotateCa, cluster.user_id.as_deref());
        forbidden.or_else(|| {
            let checked = check_rotation(cluster, self.cloud, self.is_template_known);
            checked.err().map(RotationRefusal::reason)
        })
    }
}

/// Reads on what a rotation of a cluster depends.
///
/// # Errors
/// If Magnum cannot be asked.
pub async fn examine(
    clients: &Clients,
    viewer: &Viewer,
    found: &magnum::Cluster,
) -> Result<Examined, ServiceError> {
    let token = &viewer.token;
    let (template, cloud) = tokio::join!(clients.template_of(token, found), clients.offer(token));
    let template = template.map_err(|error| error::of_service(&error))?;
    Ok(Examined {
        cluster: clients.model(found, template.as_ref()),
        cloud: cloud.map_err(|error| error::of_service(&error))?,
        is_template_known: template.is_some(),
    })
}

/// Reads the certificates: from Magnum where the policy permits it, else that of Kubernetes from the
/// record of the cluster.
async fn read_all(
    clients: &Clients,
    viewer: &Viewer,
    found: &magnum::Cluster,
    recorded: Option<&str>,
    now: i64,
) -> (AuthorityReading, Vec<OtherAuthority>) {
    let creator = Some(found.user_id.as_str()).filter(|id| !id.is_empty());
    if let Some(reason) = viewer.refusal(Call::ReadAuthority, creator) {
        return (of_record(recorded, reason, None, now), Vec::new());
    }
    let read = match authorities(&clients.magnum, &viewer.token, found.uuid).await {
        Ok(read) => read,
        Err(error) => {
            let (reason, next_step) = (error::message(&error), error::next_step(&error));
            let recorded = recorded.filter(|_| matches!(error.kind, ErrorKind::Forbidden(_)));
            let reading = of_record(recorded, reason, Some(next_step), now);
            return (reading, Vec::new());
        }
    };
    match view(read.kubernetes, now) {
        Ok(certificate) => {
            let others = [
                (OtherAuthorityKind::Etcd, read.etcd),
                (OtherAuthorityKind::FrontProxy, read.front_proxy),
            ];
            let others = others.map(|(kind, pem)| other(kind, pem, now));
            let reading = AuthorityReading::Magnum(Box::new(certificate));
            (reading, others.into())
        }
        Err(error) => {
            let reading = AuthorityReading::Refused {
                reason: error::sentence(&error.to_string()),
                next_step: Some("Report it to the cloud's operator.".to_owned()),
            };
            (reading, Vec::new())
        }
    }
}

fn other(kind: OtherAuthorityKind, pem: Option<String>, now: i64) -> OtherAuthority {
    let certificate = pem.and_then(|pem| view(pem, now).ok());
    OtherAuthority {
        kind,
        certificate: certificate.map(Box::new),
    }
}

/// Returns the authority of the record, if there is one that can be read; else the refusal.
fn of_record(
    recorded: Option<&str>,
    reason: String,
    next_step: Option<String>,
    now: i64,
) -> AuthorityReading {
    match recorded.map(|pem| view(pem.to_owned(), now)) {
        Some(Ok(certificate)) => AuthorityReading::Record {
            certificate: Box::new(certificate),
            reason,
        },
        Some(Err(_)) | None => AuthorityReading::Refused { reason, next_step },
    }
}

/// Compares the authority of the record with Magnum's.
fn compared(authority: &AuthorityReading, recorded: Option<&str>) -> RecordedAuthority {
    let Some(recorded) = recorded else {
        return RecordedAuthority::None;
    };
    match (authority, Certificate::read(recorded)) {
        (AuthorityReading::Magnum(read), Ok(recorded))
            if read.fingerprint == recorded.fingerprint =>
        {
            RecordedAuthority::Same
        }
        (AuthorityReading::Magnum(_), _) => RecordedAuthority::Differs,
        (AuthorityReading::Record { .. } | AuthorityReading::Refused { .. }, _) => {
            RecordedAuthority::NotCompared
        }
    }
}

/// Returns a certificate as the page shows it.
///
/// # Errors
/// If the text has no certificate that can be read.
pub fn view(pem: String, now: i64) -> Result<CertificateView, CertificateError> {
    let certificate = Certificate::read(&pem)?;
    let days_left = certificate.days_left(now);
    Ok(CertificateView {
        subject: certificate.subject,
        issuer: certificate.issuer,
        not_before: certificate.not_before,
        not_after: certificate.not_after,
        days_left,
        expiry: Expiry::of_days(days_left),
        fingerprint: certificate.fingerprint,
        pem,
    })
}
