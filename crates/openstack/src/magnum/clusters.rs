//! Calls about clusters.
use super::body::body_of_new;
use super::client::Client;
use super::cluster::Cluster;
use super::cluster_request::{ClusterChange, NewCluster, Resize, Upgrade};
use super::patch::body_of;
use super::version::Feature;
use crate::rest::{
    Answer, Call, Collection, Error, ErrorKind, Listing, PAGE_SIZE, ScopedToken, Service, resolve,
};
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// Maximum time for which a cluster of one's own may be missing after its creation.
const MAX_PATIENCE: Duration = Duration::from_secs(30);
/// The first delay between two looks for it; it doubles up to [`MAX_DELAY`].
const FIRST_DELAY: Duration = Duration::from_millis(100);
const MAX_DELAY: Duration = Duration::from_secs(2);
/// The delay before a list that failed for a cluster which is being recorded is read again.
const LIST_DELAY: Duration = Duration::from_millis(500);
/// Statuses of an accepted change.
const ACCEPTED: [StatusCode; 4] = [
    StatusCode::ACCEPTED,
    StatusCode::OK,
    StatusCode::CREATED,
    StatusCode::NO_CONTENT,
];

#[derive(Deserialize)]
struct CreatedAnswer {
    uuid: Uuid,
}

impl Client {
    /// Returns the clusters of the token's project. An admin's token lists those of all projects
    /// at Magnum; the others are left out here.
    ///
    /// # Errors
    /// If Magnum cannot be asked or refuses.
    pub async fn clusters(&self, token: &ScopedToken) -> Result<Listing<Cluster>, Error> {
        let all = self.clusters_of_all_projects(token).await?;
        Ok(all.filtered(|cluster| is_of_project(cluster, token)))
    }

    /// Returns every cluster that the token may see: for an admin those of all projects. While one of
    /// them is being recorded or removed, Magnum can answer the whole list once with status 400: it is
    /// asked once more then.
    ///
    /// # Errors
    /// If Magnum cannot be asked or refuses.
    pub async fn clusters_of_all_projects(
        &self,
        token: &ScopedToken,
    ) -> Result<Listing<Cluster>, Error> {
        // the short list lacks the project, times and reasons
        let call = Call::get("clusters", "clusters/detail").with_query("limit", PAGE_SIZE);
        let collection = Collection {
            key: "clusters",
            id: |cluster: &Cluster| cluster.uuid.to_string(),
        };
        match self.list(token, &[], call.clone(), &collection).await {
            Err(error) if error.status == Some(StatusCode::BAD_REQUEST.as_u16()) => {}
            result => return result,
        }
        tokio::time::sleep(LIST_DELAY).await;
        self.list(token, &[], call, &collection).await
    }

    /// Returns a cluster. At the end of its deletion, Magnum can answer once with status 400 before
    /// it answers 404.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none that the token may see.
    pub async fn cluster(&self, token: &ScopedToken, uuid: Uuid) -> Result<Cluster, Error> {
        let call = Call::get("cluster", format!("clusters/{uuid}"));
        self.run(token, &[], call, |answer| answer.json(&[StatusCode::OK]))
            .await
    }

    /// Returns the cluster of the token's project with this UUID, or the only one with this name.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; [`ErrorKind::Ambiguous`] with the candidates if several have the
    /// name.
    pub async fn cluster_named(
        &self,
        token: &ScopedToken,
        name_or_uuid: &str,
    ) -> Result<Cluster, Error> {
        if let Ok(uuid) = name_or_uuid.parse() {
            match self.cluster(token, uuid).await {
                Ok(cluster) if is_of_project(&cluster, token) => return Ok(cluster),
                // a name may look like a UUID
                Ok(_) => {}
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        let clusters = self.clusters(token).await?;
        resolve(clusters, name_or_uuid, Cluster::candidate)
            .map_err(|kind| Error::new(Service::Magnum, "cluster_named", kind))
    }

    /// Requests a cluster, and returns its UUID. It is sent once: where the answer is lost, the
    /// error's effect is unknown, and the cluster is found by its name, if at all. The cluster can
    /// be missing for a moment: see [`Self::created_cluster`].
    ///
    /// # Errors
    /// [`ErrorKind::QuotaExceeded`], [`ErrorKind::Forbidden`], [`ErrorKind::Invalid`] with Magnum's
    /// reason, [`ErrorKind::NotFound`] for what the cluster refers to.
    pub async fn create_cluster(
        &self,
        token: &ScopedToken,
        new: &NewCluster,
    ) -> Result<Uuid, Error> {
        let call =
            Call::new("create_cluster", Method::POST, "clusters").with_body(body_of_new(new));
        self.run(token, &new.features(), call, |answer| {
            let created: CreatedAnswer = answer.json(&ACCEPTED)?;
            Ok(created.uuid)
        })
        .await
    }

    /// Returns a cluster that was just created with this client. The conductor records it after
    /// Magnum has answered, so it may be missing for about half a second (404), and its node groups
    /// after that (400): looks again until it is complete, or `patience` (at most 30 s) is over.
    /// Returns `None` then.
    ///
    /// # Errors
    /// Every other error at once.
    pub async fn created_cluster(
        &self,
        token: &ScopedToken,
        uuid: Uuid,
        patience: Duration,
    ) -> Result<Option<Cluster>, Error> {
        let deadline = Instant::now() + patience.min(MAX_PATIENCE);
        let mut delay = FIRST_DELAY;
        loop {
            match self.cluster(token, uuid).await {
                Err(error) if is_unrecorded(&error) => {}
                result => return result.map(Some),
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            let next = Instant::now() + delay;
            tokio::time::sleep_until(next.min(deadline)).await;
            delay = (delay * 2).min(MAX_DELAY);
        }
    }

    /// Requests a change. Magnum accepts it also in states in which the conductor ignores it.
    ///
    /// # Errors
    /// [`ErrorKind::NotAvailable`] for a rollback or no nodes at all on an old Magnum.
    pub async fn change_cluster(
        &self,
        token: &ScopedToken,
        uuid: Uuid,
        change: &ClusterChange,
    ) -> Result<(), Error> {
        let path = format!("clusters/{uuid}");
        let mut call = Call::new("change_cluster", Method::PATCH, path)
            .with_body(body_of("change_cluster", &change.operations())?);
        if change.rollback {
            call = call.with_query("rollback", "true");
        }
        self.command(token, &change.features(), call).await
    }

    /// Requests another size of a node group. Magnum accepts it also in states in which the
    /// conductor ignores it.
    ///
    /// # Errors
    /// [`ErrorKind::NotAvailable`] before 1.7, with a node group before 1.9, for 0 before 1.10;
    /// [`ErrorKind::Invalid`] outside of the group's bounds.
    pub async fn resize_cluster(
        &self,
        token: &ScopedToken,
        uuid: Uuid,
        resize: &Resize,
    ) -> Result<(), Error> {
        let path = format!("clusters/{uuid}/actions/resize");
        let call = Call::new("resize_cluster", Method::POST, path).with_body(resize.body());
        self.command(token, &resize.features(), call).await
    }

    /// Requests an upgrade. The conductor's refusal is part of the answer.
    ///
    /// # Errors
    /// [`ErrorKind::NotAvailable`] before 1.9; [`ErrorKind::Invalid`] in a state or with a driver
    /// that does not permit it; [`ErrorKind::Conflict`] for a template that does not fit.
    pub async fn upgrade_cluster(
        &self,
        token: &ScopedToken,
        uuid: Uuid,
        upgrade: &Upgrade,
    ) -> Result<(), Error> {
        let path = format!("clusters/{uuid}/actions/upgrade");
        let call = Call::new("upgrade_cluster", Method::POST, path).with_body(upgrade.body());
        let features = [Feature::Upgrade, Feature::NodeGroups];
        self.command(token, &features, call).await
    }

    /// Requests the deletion of a cluster.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if it does not exist.
    pub async fn delete_cluster(&self, token: &ScopedToken, uuid: Uuid) -> Result<(), Error> {
        let call = Call::new("delete_cluster", Method::DELETE, format!("clusters/{uuid}"));
        self.command(token, &[], call).await
    }

    /// Requests the deletion of a cluster from Portico's gateway, with an argument that is not Magnum's.
    ///
    /// # Errors
    /// As [`Self::delete_cluster`].
    pub async fn delete_cluster_with(
        &self,
        token: &ScopedToken,
        uuid: Uuid,
        (name, value): (&'static str, &str),
    ) -> Result<(), Error> {
        let call = Call::new("delete_cluster", Method::DELETE, format!("clusters/{uuid}"));
        self.command(token, &[], call.with_query(name, value)).await
    }

    /// Sends a change whose answer has no content of interest.
    pub(super) async fn command(
        &self,
        token: &ScopedToken,
        features: &[Feature],
        call: Call,
    ) -> Result<(), Error> {
        self.run(
            token,
            features,
            call,
            |answer: &Answer| -> Result<(), ErrorKind> { answer.expect(&ACCEPTED) },
        )
        .await
    }
}

/// Returns whether Magnum has no complete record of a cluster: it answers 404, or 400 while the
/// record has no node groups ("Invalid input for field/attribute master_count. Value: '0'.").
fn is_unrecorded(error: &Error) -> bool {
    let is_incomplete = matches!(error.kind, ErrorKind::Invalid(_)) && error.status == Some(400);
    error.is_not_found() || is_incomplete
}

/// Returns whether a cluster belongs to the token's project. Old versions do not name the project,
/// and list only those that do.
fn is_of_project(cluster: &Cluster, token: &ScopedToken) -> bool {
    cluster.project_id.is_empty() || cluster.project_id == token.project_id
}
