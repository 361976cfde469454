//! One pass over the namespaces.
use super::{
    BootstrapError, Options, Report,
    desired::{self, BINDINGS, CLUSTER_READER, DEVELOPER, VIEWER},
    state::State,
};
use k8s_openapi::api::{
    core::v1::Namespace,
    rbac::v1::{ClusterRole, ClusterRoleBinding, RoleBinding, RoleRef, Subject},
};
use kube::{
    Api, Client, Config, ResourceExt,
    api::{ListParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// Stands for the cluster where a namespace's UID stands otherwise.
const CLUSTER: &str = "cluster";

pub(super) struct Reconciler {
    options: Options,
    client: Client,
    state: State,
    /// Told already, so that a difference is logged once and not every minute.
    told: BTreeSet<String>,
}

impl Reconciler {
    pub async fn new(options: &Options) -> Result<Self, BootstrapError> {
        let state =
            State::open(options.state_file.as_deref()).map_err(|source| BootstrapError::State {
                path: options.state_file.clone().unwrap_or_default(),
                source,
            })?;
        Ok(Self {
            client: connect(options).await?,
            options: options.clone(),
            state,
            told: BTreeSet::new(),
        })
    }

    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The roles, the cluster's binding, and every namespace.
    pub async fn everything(&mut self) -> Result<Report, BootstrapError> {
        let mut report = Report::default();
        for role in [DEVELOPER, VIEWER, CLUSTER_READER] {
            self.role(role, &mut report).await?;
        }
        self.cluster_reader(&mut report).await?;
        let namespaces = Api::<Namespace>::all(self.client.clone())
            .list(&ListParams::default())
            .await
            .map_err(doing("list namespaces"))?;
        let mut places = BTreeSet::from([CLUSTER.to_owned()]);
        for namespace in &namespaces {
            places.extend(namespace.uid());
            self.bind_in(namespace, &mut report).await?;
        }
        self.state.keep_only(&places);
        self.save()?;
        Ok(self.news(report))
    }

    /// One namespace that is new or has changed.
    pub async fn namespace(&mut self, namespace: &Namespace) -> Result<Report, BootstrapError> {
        let mut report = Report::default();
        self.bind_in(namespace, &mut report).await?;
        self.save()?;
        Ok(self.news(report))
    }

    async fn role(
        &mut self,
        name: &'static str,
        report: &mut Report,
    ) -> Result<(), BootstrapError> {
        let role = Api::<ClusterRole>::all(self.client.clone())
            .get_opt(name)
            .await
            .map_err(doing(format!("read ClusterRole {name}")))?
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

    async fn cluster_reader(&mut self, report: &mut Report) -> Result<(), BootstrapError> {
        let api = Api::<ClusterRoleBinding>::all(self.client.clone());
        let wanted = desired::cluster_binding(&self.options);
        let found = api
            .get_opt(CLUSTER_READER)
            .await
            .map_err(doing("read the cluster's binding"))?;
        let known = self.state.was_bound(CLUSTER, CLUSTER_READER);
        match found {
            Some(found) => {
                let same = is_same(
                    (&found.role_ref, found.subjects.as_deref()),
                    (&wanted.role_ref, wanted.subjects.as_deref()),
                );
                judge(same, CLUSTER_READER, report);
            }
            None if known => report.differences.push(format!(
                "ClusterRoleBinding {CLUSTER_READER} was deleted; people cannot see namespaces"
            )),
            None => {
                let made = api.create(&PostParams::default(), &wanted).await;
                created(made, CLUSTER_READER.to_owned(), report)?;
            }
        }
        self.state.bound(CLUSTER, CLUSTER_READER);
        Ok(())
    }

    async fn bind_in(
        &mut self,
        namespace: &Namespace,
        report: &mut Report,
    ) -> Result<(), BootstrapError> {
        let name = namespace.name_any();
        if desired::excluded(&self.options, namespace) {
            report.skipped.push(name);
            return Ok(());
        }
        let uid = namespace.uid().unwrap_or_default();
        let api = Api::<RoleBinding>::namespaced(self.client.clone(), &name);
        for binding in BINDINGS {
            let place = format!("{name}/{binding}");
            let wanted = desired::role_binding(&self.options, binding, &name);
            let found = api
                .get_opt(binding)
                .await
                .map_err(doing(format!("read RoleBinding {place}")))?;
            match found {
                Some(found) => {
                    let same = is_same(
                        (&found.role_ref, found.subjects.as_deref()),
                        (&wanted.role_ref, wanted.subjects.as_deref()),
                    );
                    judge(same, &place, report);
                }
                None if self.state.was_bound(&uid, binding) => report
                    .differences
                    .push(format!("RoleBinding {place} was deleted")),
                None => {
                    let made = api.create(&PostParams::default(), &wanted).await;
                    created(made, place, report)?;
                }
            }
            self.state.bound(&uid, binding);
        }
        Ok(())
    }

    fn save(&self) -> Result<(), BootstrapError> {
        self.state.save().map_err(|source| BootstrapError::State {
            path: self.state.path(),
            source,
        })
    }

    fn news(&mut self, mut report: Report) -> Report {
        report
            .differences
            .retain(|difference| self.told.insert(difference.clone()));
        report
    }
}

async fn connect(options: &Options) -> Result<Client, BootstrapError> {
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| BootstrapError::Kubeconfig {
        path: options.kubeconfig.clone(),
        source,
    };
    let kubeconfig =
        Kubeconfig::read_from(&options.kubeconfig).map_err(|error| failed(error.into()))?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .map_err(|error| failed(error.into()))?;
    Client::try_from(config).map_err(|error| failed(error.into()))
}

type Parts<'a> = (&'a RoleRef, Option<&'a [Subject]>);

fn is_same(found: Parts<'_>, wanted: Parts<'_>) -> bool {
    found.0.kind == wanted.0.kind
        && found.0.name == wanted.0.name
        && desired::same_subjects(found.1, wanted.1)
}

fn judge(same: bool, place: &str, report: &mut Report) {
    if same {
        report.unchanged += 1;
    } else {
        report.differences.push(format!(
            "binding {place} names another role or other subjects"
        ));
    }
}

fn created<T>(
    made: Result<T, kube::Error>,
    place: String,
    report: &mut Report,
) -> Result<(), BootstrapError> {
    match made {
        Ok(_) => report.created.push(place),
        // another instance was faster, or the namespace is going
        Err(kube::Error::Api(status)) if status.code == 409 => report.unchanged += 1,
        Err(kube::Error::Api(status)) if status.code == 404 => {}
        Err(source) => return Err(doing(format!("bind {place}"))(source)),
    }
    Ok(())
}

fn doing(what: impl Into<String>) -> impl FnOnce(kube::Error) -> BootstrapError {
    let doing = what.into();
    move |source| BootstrapError::Kubernetes {
        doing,
        source: Box::new(source),
    }
}
