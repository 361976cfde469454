//! Calls about node groups.
use super::body::body_of_new;
use super::client::Client;
use super::node_group::{NewNodeGroup, NodeGroup, NodeGroupChange, NodeGroupSummary};
use super::patch::body_of;
use super::version::Feature;
use crate::rest::{Call, Collection, Error, Listing, PAGE_SIZE, ScopedToken, Service, resolve};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use reqwest::{Method, StatusCode};
use uuid::Uuid;

/// Maximum number of groups of one cluster that are read at the same time.
const MAX_CONCURRENT_READS: usize = 4;

impl Client {
    /// Returns the node groups of a cluster, without their bounds.
    ///
    /// # Errors
    /// [`crate::rest::ErrorKind::NotAvailable`] before 1.9.
    pub async fn node_groups(
        &self,
        token: &ScopedToken,
        cluster: Uuid,
    ) -> Result<Listing<NodeGroupSummary>, Error> {
        let call = Call::get("node_groups", format!("clusters/{cluster}/nodegroups"))
            .with_query("limit", PAGE_SIZE);
        let collection = Collection {
            key: "nodegroups",
            id: |group: &NodeGroupSummary| group.uuid.to_string(),
        };
        self.list(token, &[Feature::NodeGroups], call, &collection)
            .await
    }

    /// Returns the node groups of a cluster with all that Magnum has about them: reads the list, and
    /// each group by itself, because the list lacks bounds, reasons, labels and taints.
    ///
    /// # Errors
    /// As [`Self::node_groups`]; [`crate::rest::ErrorKind::NotFound`] if a group disappears
    /// meanwhile.
    pub async fn detailed_node_groups(
        &self,
        token: &ScopedToken,
        cluster: Uuid,
    ) -> Result<Listing<NodeGroup>, Error> {
        let Listing { items, cut } = self.node_groups(token, cluster).await?;
        let items: Vec<NodeGroup> = stream::iter(items)
            .map(|group| self.node_group(token, cluster, group.uuid))
            .buffered(MAX_CONCURRENT_READS)
            .try_collect()
            .await?;
        Ok(Listing { items, cut })
    }

    /// Returns a node group.
    ///
    /// # Errors
    /// [`crate::rest::ErrorKind::NotFound`]; [`crate::rest::ErrorKind::NotAvailable`] before 1.9.
    pub async fn node_group(
        &self,
        token: &ScopedToken,
        cluster: Uuid,
        group: Uuid,
    ) -> Result<NodeGroup, Error> {
        let call = Call::get(
            "node_group",
            format!("clusters/{cluster}/nodegroups/{group}"),
        );
        self.run(token, &[Feature::NodeGroups], call, |answer| {
            answer.json(&[StatusCode::OK])
        })
        .await
    }

    /// Returns the node group with this UUID or name.
    ///
    /// # Errors
    /// [`crate::rest::ErrorKind::NotFound`]; [`crate::rest::ErrorKind::Ambiguous`] with the
    /// candidates.
    pub async fn node_group_named(
        &self,
        token: &ScopedToken,
        cluster: Uuid,
        name_or_uuid: &str,
    ) -> Result<NodeGroupSummary, Error> {
        let groups = self.node_groups(token, cluster).await?;
        resolve(groups, name_or_uuid, NodeGroupSummary::candidate)
            .map_err(|kind| Error::new(Service::Magnum, "node_group_named", kind))
    }

    /// Requests a node group, and returns it without a status. Magnum does not check the cluster's
    /// state, also not whether it is being deleted: the caller does.
    ///
    /// # Errors
    /// [`crate::rest::ErrorKind::Conflict`] with Magnum's reason for a taken name or invalid
    /// counts; [`crate::rest::ErrorKind::NotAvailable`] for what the cloud lacks.
    pub async fn create_node_group(
        &self,
        token: &ScopedToken,
        cluster: Uuid,
        new: &NewNodeGroup,
    ) -> Result<NodeGroup, Error> {
        let path = format!("clusters/{cluster}/nodegroups");
        let call = Call::new("create_node_group", Method::POST, path).with_body(body_of_new(new));
        self.run(token, &new.features(), call, |answer| {
            answer.json(&[StatusCode::ACCEPTED, StatusCode::CREATED])
        })
        .await
    }

    /// Requests a change of a node group's bounds, labels or taints; its size is changed by
    /// [`Self::resize_cluster`].
    ///
    /// # Errors
    /// [`crate::rest::ErrorKind::Conflict`] for bounds that exclude the present size;
    /// [`crate::rest::ErrorKind::NotAvailable`] for what the cloud lacks.
    pub async fn change_node_group(
        &self,
        token: &ScopedToken,
        cluster: Uuid,
        group: Uuid,
        change: &NodeGroupChange,
    ) -> Result<(), Error> {
        let path = format!("clusters/{cluster}/nodegroups/{group}");
        let call = Call::new("change_node_group", Method::PATCH, path)
            .with_body(body_of("change_node_group", &change.operations())?);
        self.command(token, &change.features(), call).await
    }

    /// Requests the deletion of a node group.
    ///
    /// # Errors
    /// [`crate::rest::ErrorKind::Invalid`] for a default group.
    pub async fn delete_node_group(
        &self,
        token: &ScopedToken,
        cluster: Uuid,
        group: Uuid,
    ) -> Result<(), Error> {
        let path = format!("clusters/{cluster}/nodegroups/{group}");
        let call = Call::new("delete_node_group", Method::DELETE, path);
        self.command(token, &[Feature::NodeGroups], call).await
    }
}
