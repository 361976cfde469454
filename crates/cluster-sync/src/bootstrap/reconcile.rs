//! One pass over the namespaces.
use super::{
    BootstrapError, Options, Report,
    desired::{self, BINDINGS, CLUSTER_READER, DEVELOPER, VIEWER},
    state::State,
};
use crate::reconcile::{
    Care, Observed, Place, Pruning, ReconcileError, Wanted, WantedBinding, apply, connect, observe,
    plan,
};
use k8s_openapi::api::{
    core::v1::Namespace,
    rbac::v1::{ClusterRole, ClusterRoleBinding},
};
use kube::{Api, Client};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// The key of the cluster, where namespaces have their UID.
const CLUSTER: &str = "cluster";
const OWNER: &str = "bootstrap";

pub(super) struct Reconciler {
    options: Options,
    client: Client,
    state: State,
    /// Differences already logged, so that each is logged once and not every minute.
    logged: BTreeSet<String>,
}

impl Reconciler {
    pub async fn new(options: &Options) -> Result<Self, BootstrapError> {
        let state =
            State::open(options.state_file.as_deref()).map_err(|source| BootstrapError::State {
                path: options.state_file.clone().unwrap_or_default(),
                source,
            })?;
        Ok(Self {
            client: connect(&options.kubeconfig).await?,
            options: options.clone(),
            state,
            logged: BTreeSet::new(),
        })
    }

    /// Takes a client that exists, and begins with an empty record.
    pub fn with_client(client: Client, options: &Options) -> Self {
        Self {
            options: options.clone(),
            client,
            state: State::default(),
            logged: BTreeSet::new(),
        }
    }

    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Binds the roles in the cluster and in every namespace.
    pub async fn everything(&mut self) -> Result<Report, BootstrapError> {
        let mut report = Report::default();
        for role in [DEVELOPER, VIEWER, CLUSTER_READER] {
            self.role(role, &mut report).await?;
        }
        let mut observed = observe(&self.client, None).await?;
        let reader = Api::<ClusterRoleBinding>::all(self.client.clone())
            .get_opt(CLUSTER_READER)
            .await
            .map_err(ReconcileError::doing("read the cluster's binding"))?;
        if let Some(reader) = &reader {
            observed.cluster_binding(reader);
        }
        let mut places = BTreeSet::from([CLUSTER.to_owned()]);
        places.extend(observed.namespaces.values().map(|found| found.uid.clone()));
        self.state.keep_only(&places);
        self.pass(
            observed,
            vec![desired::cluster_binding(&self.options)],
            report,
        )
        .await
    }

    /// Binds the roles in one namespace that is new or has changed.
    pub async fn namespace(&mut self, namespace: &Namespace) -> Result<Report, BootstrapError> {
        let observed = observe(&self.client, Some(namespace)).await?;
        self.pass(observed, Vec::new(), Report::default()).await
    }

    async fn pass(
        &mut self,
        mut observed: Observed,
        mut bindings: Vec<WantedBinding>,
        mut report: Report,
    ) -> Result<Report, BootstrapError> {
        for (name, namespace) in &observed.namespaces {
            if desired::excluded(&self.options, name, namespace) {
                report.skipped.push(name.clone());
                continue;
            }
            let wanted = |binding| desired::role_binding(&self.options, binding, name);
            bindings.extend(BINDINGS.map(wanted));
        }
        observed.made_before = bindings
            .iter()
            .map(|binding| binding.place.clone())
            .filter(|place| self.state.was_bound(uid(&observed, place), &place.name))
            .collect();
        let wanted = Wanted {
            owner: OWNER,
            care: Care::Once,
            namespaces: Vec::new(),
            bindings,
            keep: BTreeSet::new(),
        };
        let plan = plan(&wanted, &observed, Pruning::default());
        let (done, failed) = apply(&self.client, OWNER, &plan).await;
        report.created = done;
        report.unchanged = plan.unchanged;
        report.differences.extend(plan.differences);
        for binding in &wanted.bindings {
            let place = &binding.place;
            if failed.iter().all(|one| one.place.as_ref() != Some(place)) {
                self.state.bound(uid(&observed, place), &place.name);
            }
        }
        self.save()?;
        if let Some(failure) = failed.into_iter().next() {
            return Err(BootstrapError::Change(failure));
        }
        Ok(self.unlogged(report))
    }

    async fn role(
        &mut self,
        name: &'static str,
        report: &mut Report,
    ) -> Result<(), BootstrapError> {
        let role = Api::<ClusterRole>::all(self.client.clone())
            .get_opt(name)
            .await
            .map_err(ReconcileError::doing(format!("read ClusterRole {name}")))?
            .ok_or(BootstrapError::MissingRole(name))?;
        let rules = serde_json::to_vec(&role.rules).unwrap_or_default();
        let fingerprint = format!("{:x}", Sha256::digest(rules));
        if !self.state.same_role(name, &fingerprint) {
            report.differences.push(format!(
                "the rules of ClusterRole {name} are not those that were bound first"
            ));
        }
        Ok(())
    }

    fn save(&self) -> Result<(), BootstrapError> {
        self.state.save().map_err(|source| BootstrapError::State {
            path: self.state.path(),
            source,
        })
    }

    fn unlogged(&mut self, mut report: Report) -> Report {
        report
            .differences
            .retain(|difference| self.logged.insert(difference.clone()));
        report
    }
}

/// Returns the key of a binding's place in the record: a new namespace with the same name is
/// another place.
fn uid<'a>(observed: &'a Observed, place: &Place) -> &'a str {
    let namespace = place.namespace.as_ref();
    match namespace.and_then(|name| observed.namespaces.get(name)) {
        Some(found) => &found.uid,
        None => CLUSTER,
    }
}
