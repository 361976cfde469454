//! What is deleted in a cluster before the cluster is: Services of the type LoadBalancer, and
//! PersistentVolumeClaims. They are listed also for users whose roles are bound in single namespaces.
use futures::{StreamExt, stream};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::{future::Future, pin::pin};

/// The plural of the kind Service.
pub const SERVICES: &str = "services";
/// The plural of the kind PersistentVolumeClaim.
pub const CLAIMS: &str = "persistentvolumeclaims";
const MAX_CONCURRENT_LISTS: usize = 8;
/// Maximum number of objects of a kind in all namespaces that are read one by one.
const MAX_OBJECTS: usize = 20_000;
/// Maximum number of namespaces in a sentence.
const MAX_NAMES: usize = 20;
/// Length of the digest of a sentence that does not have all names.
const DIGEST_BYTES: usize = 8;

/// Why it is not known what is left of the deleted objects: other namespaces can be read than before.
pub const CHANGED: &str =
    "The namespaces that you can list have changed meanwhile, so it is not known what is left.";

/// The lists of one cluster, as one user gets them.
pub trait Lists: Sync {
    /// Why a list could not be read.
    type Error;

    /// Returns the objects of a core kind; without a namespace, those of the whole cluster.
    fn objects(
        &self,
        plural: &str,
        namespace: Option<&str>,
    ) -> impl Future<Output = Result<Vec<Value>, Self::Error>> + Send;

    /// Returns the namespaces that the user may see.
    fn visible(&self) -> impl Future<Output = Result<Visible, Self::Error>> + Send;

    /// Returns whether an error is that the user has no right to a list.
    fn is_refusal(error: &Self::Error) -> bool;

    /// Returns the error for namespaces that have more objects than are read.
    fn too_many() -> Self::Error;
}

/// Namespaces of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visible {
    pub names: Vec<String>,
    /// Whether the cluster has no others.
    pub is_complete: bool,
}

/// The kinds that are deleted first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Services of the type LoadBalancer.
    pub services: bool,
    /// PersistentVolumeClaims.
    pub claims: bool,
}

/// The objects that are deleted first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Services of the type LoadBalancer.
    pub services: Vec<Value>,
    pub claims: Vec<Value>,
    /// Why other namespaces may have more, as sentences; empty: the whole cluster was read.
    pub partial: Vec<String>,
}

/// Returns the objects that are deleted first.
///
/// # Errors
/// The refusal of the whole cluster, if no namespace may be read either; others as they are.
pub async fn find<L: Lists>(lists: &L, wanted: Wanted) -> Result<Found, L::Error> {
    let mut found = Found::default();
    if wanted.services {
        let listed = list(lists, SERVICES, is_load_balancer).await?;
        let kind = "Services of the type LoadBalancer";
        let partial = listed.only.map(|names| only_in(kind, &names));
        found.partial.extend(partial);
        found.services = listed.items;
    }
    if wanted.claims {
        let listed = list(lists, CLAIMS, |_| true).await?;
        let kind = "PersistentVolumeClaims";
        let partial = listed.only.map(|names| only_in(kind, &names));
        found.partial.extend(partial);
        found.claims = listed.items;
    }
    Ok(found)
}

/// Returns why nothing is deleted, if only some namespaces were looked at and the user has not accepted these
/// sentences: what was accepted before may name namespaces that cannot be read any longer.
pub fn unaccepted(partial: &[String], accepted: &[String]) -> Option<String> {
    if partial.is_empty() || partial == accepted {
        return None;
    }
    let changed = match accepted {
        [] => "",
        _ => " This has changed since it was accepted.",
    };
    let partial = partial.join(" ");
    Some(format!(
        "{partial}{changed} Nothing was deleted: this has to be accepted first."
    ))
}

fn is_load_balancer(service: &Value) -> bool {
    service["spec"]["type"] == "LoadBalancer"
}

/// Objects of a kind, and where they were looked for.
#[derive(Debug)]
struct Listed {
    items: Vec<Value>,
    /// The namespaces that were read, if others may have more; `None`: the whole cluster was.
    only: Option<Vec<String>>,
}

/// Returns the wanted objects of a core kind in the whole cluster. Where the user may not list them there, each
/// namespace that the user may see is read.
///
/// # Errors
/// The refusal of the whole cluster, if no namespace may be read either; [`Lists::too_many`] beyond the maximum;
/// others as they are.
async fn list<L: Lists>(
    lists: &L,
    plural: &str,
    is_wanted: fn(&Value) -> bool,
) -> Result<Listed, L::Error> {
    let refusal = match lists.objects(plural, None).await {
        Ok(mut items) => {
            items.retain(is_wanted);
            return Ok(Listed { items, only: None });
        }
        Err(refusal) if L::is_refusal(&refusal) => refusal,
        Err(error) => return Err(error),
    };
    let Visible { names, is_complete } = lists.visible().await?;
    let mut is_whole = is_complete;
    let answers = stream::iter(names)
        .map(|namespace| async move {
            let found = lists.objects(plural, Some(&namespace)).await;
            (namespace, found)
        })
        .buffered(MAX_CONCURRENT_LISTS);
    let mut answers = pin!(answers);
    let (mut items, mut read) = (Vec::new(), Vec::new());
    while let Some((namespace, answer)) = answers.next().await {
        match answer {
            Ok(found) => {
                items.extend(found.into_iter().filter(is_wanted));
                read.push(namespace);
            }
            Err(error) if L::is_refusal(&error) => is_whole = false,
            Err(error) => return Err(error),
        }
        // each list has its own maximum, but a cluster can have thousands of namespaces
        if items.len() > MAX_OBJECTS {
            return Err(L::too_many());
        }
    }
    if read.is_empty() {
        return Err(refusal);
    }
    Ok(Listed {
        items,
        only: (!is_whole).then_some(read),
    })
}

/// Returns that objects of a kind were looked for in some namespaces only, as a sentence. Sentences are equal only if
/// all namespaces are, also those that are not named: what a user has accepted is compared with them.
fn only_in(kind: &str, namespaces: &[String]) -> String {
    let names = namespaces.iter().take(MAX_NAMES).map(String::as_str);
    let shown = names.collect::<Vec<_>>().join(", ");
    let more = match namespaces.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => {
            let digest = digest_of(namespaces);
            format!(" and {more} more (digest of all names: {digest})")
        }
    };
    format!(
        "{kind} were looked for in the namespaces that you can list: {shown}{more}. Those of other namespaces \
         are not deleted first."
    )
}

/// Returns the first bytes of the SHA-256 of names, in hexadecimal.
fn digest_of(namespaces: &[String]) -> String {
    // no name has a line break
    let digest = Sha256::digest(namespaces.join("\n"));
    let bytes = digest.iter().take(DIGEST_BYTES);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A cluster in which the user may list objects of some namespaces; each has one.
    struct Cluster {
        readable: &'static [&'static str],
        visible: &'static [&'static str],
        is_complete: bool,
    }

    impl Lists for Cluster {
        type Error = String;

        async fn objects(
            &self,
            plural: &str,
            namespace: Option<&str>,
        ) -> Result<Vec<Value>, String> {
            let place = namespace.unwrap_or("the cluster");
            if !self.readable.contains(&place) {
                return Err(format!("cannot list {plural} in {place}"));
            }
            let object = |kind: &str| json!({"metadata": {"name": place}, "spec": {"type": kind}});
            Ok(vec![object("LoadBalancer"), object("ClusterIP")])
        }

        async fn visible(&self) -> Result<Visible, String> {
            Ok(Visible {
                names: self.visible.iter().map(|&name| name.to_owned()).collect(),
                is_complete: self.is_complete,
            })
        }

        fn is_refusal(error: &String) -> bool {
            error.starts_with("cannot list")
        }

        fn too_many() -> String {
            "too many".to_owned()
        }
    }

    /// A cluster whose namespaces have so many claims each.
    struct Crowded(usize);

    impl Lists for Crowded {
        type Error = &'static str;

        async fn objects(
            &self,
            _plural: &str,
            namespace: Option<&str>,
        ) -> Result<Vec<Value>, Self::Error> {
            match namespace {
                Some(_) => Ok(vec![Value::Null; self.0]),
                None => Err("refused"),
            }
        }

        async fn visible(&self) -> Result<Visible, Self::Error> {
            Ok(Visible {
                names: (0..10).map(|number| format!("n{number}")).collect(),
                is_complete: true,
            })
        }

        fn is_refusal(error: &&'static str) -> bool {
            *error == "refused"
        }

        fn too_many() -> &'static str {
            "too many"
        }
    }

    const SERVICES_ONLY: Wanted = Wanted {
        services: true,
        claims: false,
    };

    fn names(found: &Found) -> Vec<&str> {
        let items = found.services.iter();
        items
            .filter_map(|item| item["metadata"]["name"].as_str())
            .collect()
    }

    #[tokio::test]
    async fn the_lists_of_the_namespaces_are_merged_where_the_cluster_is_refused() {
        let mut cluster = Cluster {
            readable: &["dev", "shop"],
            visible: &["dev", "secret", "shop"],
            is_complete: true,
        };
        let found = find(&cluster, SERVICES_ONLY).await.unwrap();
        assert_eq!(names(&found), ["dev", "shop"]);
        assert_eq!(found.partial.len(), 1, "{:?}", found.partial);
        let text = &found.partial[0];
        assert!(text.contains("you can list: dev, shop. "), "{text}");
        // every namespace of the cluster was read
        cluster.visible = &["dev", "shop"];
        let found = find(&cluster, SERVICES_ONLY).await.unwrap();
        assert_eq!(found.partial, [""; 0]);
        // there may be namespaces of which the user does not know
        cluster.is_complete = false;
        let both = Wanted {
            services: true,
            claims: true,
        };
        let found = find(&cluster, both).await.unwrap();
        assert_eq!(found.partial.len(), 2, "{:?}", found.partial);
        assert_eq!(found.claims.len(), 4);
        // control case: the whole cluster
        cluster.readable = &["the cluster"];
        let found = find(&cluster, SERVICES_ONLY).await.unwrap();
        assert_eq!(names(&found), ["the cluster"]);
        assert_eq!(found.partial, [""; 0]);
    }

    #[tokio::test]
    async fn a_user_who_may_read_no_namespace_gets_the_refusal_of_the_cluster() {
        for visible in [&["dev"] as &[_], &[]] {
            let cluster = Cluster {
                readable: &[],
                visible,
                is_complete: false,
            };
            let refused = find(&cluster, SERVICES_ONLY).await.unwrap_err();
            assert_eq!(refused, "cannot list services in the cluster");
        }
    }

    #[tokio::test]
    async fn the_objects_of_all_namespaces_are_limited() {
        let claims_only = Wanted {
            services: false,
            claims: true,
        };
        let found = find(&Crowded(2_000), claims_only).await.unwrap();
        assert_eq!(found.claims.len(), MAX_OBJECTS);
        let refused = find(&Crowded(2_001), claims_only).await;
        assert_eq!(refused.unwrap_err(), "too many");
    }

    #[test]
    fn a_deletion_that_leaves_namespaces_out_has_to_be_accepted() {
        assert_eq!(unaccepted(&[], &[]), None);
        let partial = ["Services were looked for in dev.".to_owned()];
        let refusal = unaccepted(&partial, &[]).unwrap();
        assert!(refusal.starts_with("Services were looked for in dev. Nothing"));
        assert_eq!(unaccepted(&partial, &partial), None);
        // the user accepted it when another namespace could be read
        let before = ["Services were looked for in dev, shop.".to_owned()];
        let refusal = unaccepted(&partial, &before).unwrap();
        assert!(refusal.starts_with("Services were looked for in dev. This has changed"));
        // the whole cluster can be read now
        assert_eq!(unaccepted(&[], &before), None);
    }

    #[test]
    fn many_namespaces_are_counted_and_compared() {
        let mut namespaces: Vec<_> = (0..23).map(|number| format!("n{number}")).collect();
        let text = only_in("Services", &namespaces);
        assert!(
            text.contains("n19 and 3 more (digest of all names: "),
            "{text}"
        );
        assert_eq!(only_in("Services", &namespaces), text);
        // one that is not named is replaced by another one
        namespaces[21] = "other".to_owned();
        let changed = only_in("Services", &namespaces);
        assert_ne!(changed, text);
        assert!(unaccepted(&[changed], &[text]).is_some());
    }
}
