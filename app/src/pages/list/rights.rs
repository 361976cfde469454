//! What the viewer may do with objects of a list's kind, by namespace: asked when it is first needed.
//! As long as the answer is not known, an action is offered; the server decides in any case.
use super::page::ListPage;
use crate::api::clusters::review_rights;
use leptos::prelude::*;
use portico_domain::panel::{Refusal, ResourceKind, RightQuestion};
use std::collections::HashMap;

/// Maximum number of namespaces of a selection that are asked about.
const MAX_NAMESPACES: usize = 8;

/// Something that can be done with an object of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deed {
    Delete,
    Restart,
    Scale,
    Label,
    Logs,
    Terminal,
}

impl Deed {
    /// Returns what can be done with a kind, in the order of menus.
    pub fn of(kind: &ResourceKind) -> Vec<Self> {
        let has = |verb: &str| kind.verbs.iter().any(|known| known == verb);
        let is_pod = kind.group.is_empty() && kind.plural == "pods";
        let in_apps = |names: &[&str]| kind.group == "apps" && names.contains(&&*kind.plural);
        let scales = in_apps(&["deployments", "statefulsets", "replicasets"])
            || (kind.group.is_empty() && kind.plural == "replicationcontrollers");
        let restarts = in_apps(&["deployments", "statefulsets", "daemonsets"]);
        [
            (Self::Logs, is_pod),
            (Self::Terminal, is_pod),
            (Self::Restart, restarts && has("patch")),
            (Self::Scale, scales),
            (Self::Label, has("patch")),
            (Self::Delete, has("delete")),
        ]
        .into_iter()
        .filter_map(|(deed, is_possible)| is_possible.then_some(deed))
        .collect()
    }

    fn verb(self) -> (&'static str, &'static str) {
        match self {
            Self::Delete => ("delete", ""),
            Self::Restart | Self::Label => ("patch", ""),
            Self::Scale => ("patch", "scale"),
            Self::Logs => ("get", "log"),
            Self::Terminal => ("create", "exec"),
        }
    }
}

type Known = HashMap<(Deed, Option<String>), Option<Refusal>>;

/// The rights that are known. `Copy`.
#[derive(Clone, Copy)]
pub struct Rights {
    page: ListPage,
    /// The reason why not, by action and namespace; `None` for what is allowed or not known yet.
    known: RwSignal<Known>,
}

impl Rights {
    pub fn new(page: ListPage) -> Self {
        Self {
            page,
            known: RwSignal::new(HashMap::new()),
        }
    }

    /// Asks about namespaces that were not asked about before.
    pub fn ask(self, deeds: &[Deed], namespaces: &[Option<String>]) {
        let mut asked = Vec::new();
        self.known.update_untracked(|known| {
            for namespace in namespaces.iter().take(MAX_NAMESPACES) {
                for deed in deeds {
                    let key = (*deed, namespace.clone());
                    if !known.contains_key(&key) {
                        known.insert(key.clone(), None);
                        asked.push(key);
                    }
                }
            }
        });
        if asked.is_empty() {
            return;
        }
        let questions = asked.iter().map(|(deed, namespace)| {
            let (verb, subresource) = deed.verb();
            self.page.resource.with_value(|resource| RightQuestion {
                verb: verb.to_owned(),
                group: resource.group.clone(),
                resource: resource.plural.clone(),
                subresource: subresource.to_owned(),
                namespace: namespace.clone(),
                name: None,
            })
        });
        let questions = questions.collect();
        leptos::task::spawn_local(async move {
            // without an answer the server decides when it is done
            let Ok(answers) = review_rights(self.page.cluster, questions).await else {
                return;
            };
            let _ = self.known.try_update(|known| {
                for (key, answer) in asked.into_iter().zip(answers) {
                    if !answer.allowed {
                        let refusal = Refusal {
                            reason: answer.reason,
                            missing: Some(Box::new(answer.question)),
                        };
                        known.insert(key, Some(refusal));
                    }
                }
            });
        });
    }

    /// Returns why an action is not allowed in any of the namespaces; `None` if it may be.
    pub fn refusal(self, deed: Deed, namespaces: &[Option<String>]) -> Option<Refusal> {
        self.known.with(|known| {
            let refusals: Vec<&Refusal> = namespaces
                .iter()
                .filter_map(|namespace| known.get(&(deed, namespace.clone()))?.as_ref())
                .collect();
            let all = !namespaces.is_empty() && refusals.len() == namespaces.len();
            refusals
                .first()
                .filter(|_| all)
                .map(|first| (*first).clone())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deeds(group: &str, plural: &str, verbs: &[&str]) -> Vec<Deed> {
        Deed::of(&ResourceKind {
            group: group.to_owned(),
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            kind: String::new(),
            namespaced: true,
            verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
            short_names: Vec::new(),
        })
    }

    #[test]
    fn a_kind_offers_what_it_can() {
        let all = ["delete", "patch", "list"];
        assert_eq!(
            deeds("", "pods", &all),
            [Deed::Logs, Deed::Terminal, Deed::Label, Deed::Delete]
        );
        assert_eq!(
            deeds("apps", "deployments", &all),
            [Deed::Restart, Deed::Scale, Deed::Label, Deed::Delete]
        );
        // another group's deployments
        assert_eq!(
            deeds("example.org", "deployments", &all),
            [Deed::Label, Deed::Delete]
        );
        assert!(deeds("", "componentstatuses", &["get", "list"]).is_empty());
    }
}
