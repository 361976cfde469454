//! Where a user may list the kinds of a search.
use crate::{
    kube::{Api, Forbidden, KubeError, discovery, namespaces, reviews, reviews::Rules},
    service::rights::covers,
};
use futures::{StreamExt, stream};
use portico_domain::panel::{ListScope, ResourceKind};
use std::sync::Arc;
use tokio::sync::OnceCell;

const MAX_CONCURRENT_REVIEWS: usize = 16;

/// The rules of the user in each namespace, read once for all kinds: a review of each kind in each
/// namespace would take a dozen times as many requests. Only what the rules name is searched; it is
/// listed with the user's own token, which the API server authorizes again.
#[derive(Default)]
pub struct Places(OnceCell<Read>);

struct Read {
    rules: Vec<(String, Arc<Rules>)>,
    all_known: bool,
}

impl Places {
    /// Returns the scope over which a kind is searched.
    ///
    /// # Errors
    /// `Refused` if the user may list the kind in no namespace that they may see.
    pub async fn scope(&self, api: &Api, kind: &ResourceKind) -> Result<ListScope, KubeError> {
        if !kind.namespaced {
            return Ok(ListScope::Cluster);
        }
        let resource = discovery::reference(kind);
        if reviews::allowed(api, &reviews::question("list", &resource, None)).await? {
            return Ok(ListScope::Cluster);
        }
        let read = self.0.get_or_try_init(|| read(api)).await?;
        let listed = permitted(&read.rules, kind);
        if listed.is_empty() {
            let message = format!(
                "your roles do not include list on {} in any namespace of this cluster",
                kind.plural
            );
            let missing = reviews::question("list", &resource, None);
            return Err(KubeError::Refused(Forbidden::lacks(message, missing)));
        }
        Ok(ListScope::Namespaces {
            listed,
            refused: Vec::new(),
            all_known: read.all_known,
        })
    }
}

async fn read(api: &Api) -> Result<Read, KubeError> {
    let visible = namespaces::visible(api).await?;
    let read: Vec<_> = visible
        .names
        .into_iter()
        .map(|name| async move {
            let rules = reviews::cached_rules(api, &name).await?;
            Ok((name, rules))
        })
        .collect();
    let read: Vec<Result<_, KubeError>> = stream::iter(read)
        .buffered(MAX_CONCURRENT_REVIEWS)
        .collect()
        .await;
    Ok(Read {
        rules: read.into_iter().collect::<Result<_, _>>()?,
        all_known: visible.all_known,
    })
}

fn permitted(rules: &[(String, Arc<Rules>)], kind: &ResourceKind) -> Vec<String> {
    let permits = |rules: &Rules| {
        let mut rules = rules.rules.iter();
        rules.any(|rule| covers(rule, "list", &kind.group, &kind.plural))
    };
    let permitted = rules.iter().filter(|(_, rules)| permits(rules));
    permitted.map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kube::reviews::Rule;

    #[test]
    fn a_kind_is_searched_where_a_rule_permits_its_list() {
        let one = |list: &[&str]| list.iter().map(|&one| one.to_owned()).collect();
        let rules = |verbs: &[&str], resources: &[&str]| {
            let rule = Rule {
                verbs: one(verbs),
                api_groups: one(&["apps"]),
                resources: one(resources),
                ..Rule::default()
            };
            Arc::new(Rules {
                rules: vec![rule],
                incomplete: true,
            })
        };
        let kind = ResourceKind {
            group: "apps".to_owned(),
            version: "v1".to_owned(),
            plural: "deployments".to_owned(),
            kind: "Deployment".to_owned(),
            namespaced: true,
            verbs: Vec::new(),
            short_names: Vec::new(),
        };
        let found = permitted(
            &[
                ("a".to_owned(), rules(&["get", "list"], &["deployments"])),
                ("b".to_owned(), rules(&["get"], &["deployments"])),
                ("c".to_owned(), rules(&["*"], &["*"])),
                ("d".to_owned(), rules(&["list"], &["pods"])),
            ],
            &kind,
        );
        assert_eq!(found, ["a", "c"]);
    }
}
