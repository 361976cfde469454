//! Application of a plan. A failed change does not prevent the others.
use super::{Place, Plan, Step, WantedBinding};
use k8s_openapi::api::{
    core::v1::Namespace,
    rbac::v1::{ClusterRoleBinding, RoleBinding},
};
use kube::{
    Api, Client,
    api::{DeleteParams, PostParams, Preconditions},
};
use std::fmt;

/// A change that failed.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {source}")]
pub struct Failure {
    /// The intended change, in words.
    pub step: String,
    /// The binding to change.
    pub place: Option<Place>,
    pub source: Box<kube::Error>,
}

/// Makes the changes; returns those made, in words, and those that failed.
pub async fn apply(client: &Client, owner: &str, plan: &Plan) -> (Vec<String>, Vec<Failure>) {
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    for step in &plan.steps {
        let text = StepText(step).to_string();
        match make(client, owner, step).await {
            Ok(true) => done.push(text),
            Ok(false) => {}
            Err(source) => failed.push(Failure {
                step: text,
                place: step.place().cloned(),
                source: Box::new(source),
            }),
        }
    }
    (done, failed)
}

/// Makes one change; returns whether something changed.
async fn make(client: &Client, owner: &str, step: &Step) -> Result<bool, kube::Error> {
    let post = PostParams::default();
    let namespaces = || Api::<Namespace>::all(client.clone());
    match step {
        Step::CreateNamespace(wanted) => {
            let made = namespaces().create(&post, &wanted.object(owner)).await;
            unless_overtaken(made)
        }
        Step::Create(wanted) => create(client, owner, wanted).await,
        Step::Update(wanted, found) => {
            let version = Some(found.resource_version.clone());
            let name = &wanted.place.name;
            if let Some(namespace) = &wanted.place.namespace {
                let mut object = wanted.role_binding(owner);
                object.metadata.resource_version = version;
                let api = Api::<RoleBinding>::namespaced(client.clone(), namespace);
                api.replace(name, &post, &object).await.map(|_| true)
            } else {
                let mut object = wanted.cluster_role_binding(owner);
                object.metadata.resource_version = version;
                let api = Api::<ClusterRoleBinding>::all(client.clone());
                api.replace(name, &post, &object).await.map(|_| true)
            }
        }
        Step::Recreate(wanted, found) => {
            let version = Some(found.resource_version.clone());
            delete(client, &wanted.place, &found.uid, version).await?;
            create(client, owner, wanted).await
        }
        Step::Delete(place, found) => {
            let version = Some(found.resource_version.clone());
            delete(client, place, &found.uid, version).await
        }
        Step::DeleteNamespace(name, found) => {
            let deleted = namespaces().delete(name, &exactly(&found.uid, None)).await;
            unless_gone(deleted.map(drop))
        }
    }
}

async fn create(client: &Client, owner: &str, wanted: &WantedBinding) -> Result<bool, kube::Error> {
    let post = PostParams::default();
    if let Some(namespace) = &wanted.place.namespace {
        let api = Api::<RoleBinding>::namespaced(client.clone(), namespace);
        let made = api.create(&post, &wanted.role_binding(owner)).await;
        // the namespace is being deleted
        unless_gone(unless_overtaken(made))
    } else {
        let api = Api::<ClusterRoleBinding>::all(client.clone());
        let made = api.create(&post, &wanted.cluster_role_binding(owner)).await;
        unless_overtaken(made)
    }
}

async fn delete(
    client: &Client,
    place: &Place,
    uid: &str,
    version: Option<String>,
) -> Result<bool, kube::Error> {
    let parameters = exactly(uid, version);
    let deleted = if let Some(namespace) = &place.namespace {
        let api = Api::<RoleBinding>::namespaced(client.clone(), namespace);
        api.delete(&place.name, &parameters).await.map(drop)
    } else {
        let api = Api::<ClusterRoleBinding>::all(client.clone());
        api.delete(&place.name, &parameters).await.map(drop)
    };
    unless_gone(deleted)
}

/// Returns parameters that delete the observed object only, and not one with the same name made or
/// changed since.
fn exactly(uid: &str, resource_version: Option<String>) -> DeleteParams {
    DeleteParams {
        preconditions: Some(Preconditions {
            uid: Some(uid.to_owned()),
            resource_version,
        }),
        ..DeleteParams::default()
    }
}

/// Returns whether the object was made; not if it exists already, since another instance may have
/// been faster.
fn unless_overtaken<T>(made: Result<T, kube::Error>) -> Result<bool, kube::Error> {
    match made {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 409 && status.reason == "AlreadyExists" => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

fn unless_gone<T>(deleted: Result<T, kube::Error>) -> Result<bool, kube::Error> {
    match deleted {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
        Err(error) => Err(error),
    }
}

impl Step {
    fn place(&self) -> Option<&Place> {
        match self {
            Self::Create(wanted) | Self::Update(wanted, _) | Self::Recreate(wanted, _) => {
                Some(&wanted.place)
            }
            Self::Delete(place, _) => Some(place),
            Self::CreateNamespace(_) | Self::DeleteNamespace(..) => None,
        }
    }
}

/// A step in one line, for logs.
struct StepText<'a>(&'a Step);

impl fmt::Display for StepText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Step::CreateNamespace(wanted) => write!(f, "made namespace {}", wanted.name),
            Step::Create(wanted) => write!(f, "made {}", wanted.place),
            Step::Update(wanted, _) => write!(f, "changed {}", wanted.place),
            Step::Recreate(wanted, _) => write!(f, "made {} anew", wanted.place),
            Step::Delete(place, _) => write!(f, "deleted {place}"),
            Step::DeleteNamespace(name, _) => write!(f, "deleted namespace {name}"),
        }
    }
}
