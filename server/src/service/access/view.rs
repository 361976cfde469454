//! The rows of the access page: one for each subject of each binding.
use super::{
    protection,
    subjects::{self, Names},
};
use crate::{
    kube::{Api, KubeError, namespaces, rbac, reviews},
    service::error::ServiceError,
};
use portico_domain::{
    cluster::ClusterRecord,
    identity::Named,
    panel::{AccessView, BindingRow, Refusal, RightQuestion, RoleChoice, RoleRef, Subject},
};
use std::collections::{BTreeMap, BTreeSet};

/// Shown if no binding can be read at all.
const NO_BINDINGS: &str = "Your roles include list on rolebindings in no namespace of this cluster, \
    so this page cannot show who has access. Ask a project administrator who has it, or for a role \
    that includes it.";
/// Maximum number of namespaces whose own roles are read one by one.
const MAX_ROLE_NAMESPACES: usize = 50;

/// Returns everything on the page.
pub async fn view(
    api: &Api,
    record: &ClusterRecord,
    names: &Names<'_>,
) -> Result<AccessView, ServiceError> {
    let (places, mut not_permitted) = match namespaces::list(api).await {
        Ok(places) => (places, Vec::new()),
        Err(KubeError::Refused(_)) => (Vec::new(), vec!["the list of namespaces".to_owned()]),
        Err(error) => return Err(error.into()),
    };
    let bindings = rbac::bindings(api, &places).await?;
    not_permitted.extend(bindings.not_permitted.iter().cloned());
    let may = Rights::ask(api, &bindings.found).await?;
    let cluster_wide: Vec<_> = bindings
        .found
        .iter()
        .filter(|binding| binding.metadata.namespace.is_none())
        .cloned()
        .collect();
    let all = (!bindings
        .not_permitted
        .iter()
        .any(|place| place == rbac::CLUSTER_WIDE))
    .then_some(cluster_wide.as_slice());
    let mut rows = Vec::new();
    for binding in &bindings.found {
        for bound in binding.subjects() {
            let (may_revoke, revoke_refused) = may.revoke(binding);
            let subject = names.subject(bound);
            rows.push(BindingRow {
                binding: binding.reference(),
                uid: binding.metadata.uid.clone(),
                resource_version: binding.metadata.resource_version.clone(),
                role: RoleRef::from(&binding.role_ref),
                system: is_system(&binding.role_ref.name, &subject),
                created_at: binding
                    .metadata
                    .creation_timestamp
                    .map(jiff::Timestamp::as_second),
                may_revoke,
                revoke_refused,
                typed_because: protection::typed_because(
                    binding,
                    bound,
                    all,
                    names.identity,
                    record.qualified_groups_only(),
                ),
                own: subjects::is_own(bound, names.identity, record.qualified_groups_only()),
                subject,
            });
        }
    }
    let (roles, grant_refused) =
        tokio::try_join!(roles(api, &places), grant_refused(api, &places))?;
    Ok(AccessView {
        bindings_refused: (!bindings.any_permitted).then(|| Refusal {
            reason: NO_BINDINGS.to_owned(),
            missing: Some(Box::new(reviews::question(
                "list",
                &rbac::resource("rolebindings"),
                None,
            ))),
        }),
        bindings: rows,
        not_permitted,
        roles,
        namespaces: places,
        known_roles: names.known_roles(),
        known_projects: names
            .projects
            .iter()
            .map(|project| Named {
                id: project.id.clone(),
                name: project.name.clone(),
            })
            .collect(),
        grant_refused,
    })
}

fn is_system(role: &str, subject: &Subject) -> bool {
    let by_subject = match subject {
        Subject::User { name } | Subject::Group { name } => name.starts_with("system:"),
        Subject::ServiceAccount { namespace, .. } => namespace == "kube-system",
        _ => false,
    };
    role.starts_with("system:") || by_subject
}

/// Where bindings may be changed, reviewed once for each place and verb.
struct Rights(BTreeMap<(Option<String>, &'static str), (bool, RightQuestion)>);

impl Rights {
    async fn ask(api: &Api, bindings: &[rbac::Binding]) -> Result<Self, KubeError> {
        let needed: BTreeSet<_> = bindings
            .iter()
            .map(|binding| (binding.metadata.namespace.clone(), verb(binding)))
            .collect();
        let questions: Vec<_> = needed
            .iter()
            .map(|(place, verb)| {
                let resource = rbac::binding_resource(place.as_deref());
                reviews::question(verb, &resource, place.as_deref())
            })
            .collect();
        let results = reviews::review_all(api, questions.clone()).await;
        let mut known = BTreeMap::new();
        for ((slot, question), result) in needed.into_iter().zip(questions).zip(results) {
            known.insert(slot, (result?.allowed, question));
        }
        Ok(Self(known))
    }

    fn revoke(&self, binding: &rbac::Binding) -> (bool, Option<Refusal>) {
        match self
            .0
            .get(&(binding.metadata.namespace.clone(), verb(binding)))
        {
            Some((true, _)) => (true, None),
            Some((false, question)) => (false, Some(Refusal::of(question.clone()))),
            None => (false, None),
        }
    }
}

/// Returns the verb of the request that a revocation would send.
fn verb(binding: &rbac::Binding) -> &'static str {
    if binding.subjects().len() > 1 {
        "update"
    } else {
        "delete"
    }
}

async fn roles(api: &Api, places: &[String]) -> Result<Vec<RoleChoice>, KubeError> {
    let mut choices = Vec::new();
    let mut add = |found: Result<Vec<rbac::Role>, KubeError>, cluster: bool| match found {
        Ok(roles) => {
            choices.extend(
                roles
                    .into_iter()
                    .filter(|role| !role.metadata.name.starts_with("system:"))
                    .map(|role| RoleChoice {
                        role: RoleRef {
                            cluster,
                            name: role.metadata.name,
                        },
                        namespace: role.metadata.namespace.filter(|_| !cluster),
                    }),
            );
            Ok(true)
        }
        Err(KubeError::Refused(_)) => Ok(false),
        Err(error) => Err(error),
    };
    add(rbac::roles(api, None).await, true)?;
    if !add(rbac::all_roles(api).await, false)? {
        for place in places.iter().take(MAX_ROLE_NAMESPACES) {
            let question = reviews::question("list", &rbac::resource("roles"), Some(place));
            if reviews::allowed(api, &question).await? {
                add(rbac::roles(api, Some(place)).await, false)?;
            }
        }
    }
    Ok(choices)
}

/// Returns the reason why the viewer cannot grant anything here, if there is one.
async fn grant_refused(api: &Api, places: &[String]) -> Result<Option<Refusal>, KubeError> {
    for plural in ["clusterrolebindings", "rolebindings"] {
        let question = reviews::question("create", &rbac::resource(plural), None);
        if reviews::allowed(api, &question).await? {
            return Ok(None);
        }
    }
    let rolebindings = rbac::resource("rolebindings");
    let (open, _) = namespaces::permitted(api, &rolebindings, places.to_vec(), "create").await?;
    Ok(open.is_empty().then(|| Refusal {
        reason:
            "Your roles do not include create on rolebindings in any namespace of this cluster."
                .to_owned(),
        missing: Some(Box::new(reviews::question("create", &rolebindings, None))),
    }))
}
