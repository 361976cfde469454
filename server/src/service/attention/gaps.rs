//! What could not be checked, with the permission that is missing where that is the reason.
use crate::{kube::KubeError, service::error::ServiceError};
use app::routes;
use portico_domain::panel::{AttentionGap, Refusal, RightQuestion};
use uuid::Uuid;

/// A kind that is checked: its words for users, its API group, and its name in a URL.
pub type CheckedKind = (&'static str, &'static str, &'static str);

/// Returns the gaps of one cluster for a page. `project` is the one of the page's URL: several
/// projects may use a cluster.
pub fn gap_rows(gaps: Vec<Refusal>, project: &str, cluster: Uuid) -> Vec<AttentionGap> {
    gaps.into_iter()
        .map(|gap| AttentionGap {
            who_can: gap
                .missing
                .as_deref()
                .map(|missing| routes::who_can(project, cluster, missing)),
            text: gap.reason,
        })
        .collect()
}

/// Returns the gap of a failed read; `subject` is the start of its text.
pub fn unread(subject: &str, error: KubeError) -> Refusal {
    let refusal = ServiceError::from(error).into_refusal();
    Refusal {
        reason: format!("{subject} {}", refusal.reason),
        missing: refusal.missing,
    }
}

/// Returns the gap of kinds that the viewer may not list in some namespaces of a cluster. The
/// missing permission is that for the first kind, in the whole cluster if there are several
/// namespaces: it is the one that covers them all.
pub fn not_listed(cluster: &str, kinds: &[CheckedKind], namespaces: &[String]) -> Refusal {
    let words: Vec<&str> = kinds.iter().map(|(words, ..)| *words).collect();
    let namespace = match namespaces {
        [namespace] => Some(namespace.clone()),
        _ => None,
    };
    let missing = kinds.first().map(|(_, group, plural)| {
        Box::new(RightQuestion {
            verb: "list".to_owned(),
            group: (*group).to_owned(),
            resource: (*plural).to_owned(),
            subresource: String::new(),
            namespace,
            name: None,
        })
    });
    Refusal {
        reason: format!(
            "{cluster}: {} in {}, which your roles do not let you list",
            words.join(", "),
            namespaces.join(", ")
        ),
        missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{kube::Forbidden, service::attention::took_too_long};
    use portico_domain::identity::Named;

    const JOBS: CheckedKind = ("jobs", "batch", "jobs");
    const PODS: CheckedKind = ("pods", "", "pods");

    fn row(gap: Refusal, cluster: u128) -> AttentionGap {
        let mut rows = gap_rows(vec![gap], "p1", Uuid::from_u128(cluster));
        assert_eq!(rows.len(), 1);
        rows.remove(0)
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn need_31_kinds_that_may_not_be_listed_lead_to_who_may_list_them() {
        let one = row(not_listed("prod", &[PODS], &names(&["shop"])), 1);
        assert_eq!(
            one.text,
            "prod: pods in shop, which your roles do not let you list"
        );
        assert_eq!(
            one.who_can.as_deref(),
            Some(
                "/projects/p1/clusters/00000000-0000-0000-0000-000000000001/access\
                 ?verb=list&resource=pods&namespace=shop#who-can"
            )
        );
        let several = row(not_listed("prod", &[JOBS, PODS], &names(&["a", "b"])), 1);
        assert_eq!(
            several.text,
            "prod: jobs, pods in a, b, which your roles do not let you list"
        );
        assert_eq!(
            several.who_can.as_deref(),
            Some(
                "/projects/p1/clusters/00000000-0000-0000-0000-000000000001/access\
                 ?verb=list&resource=jobs.batch#who-can"
            )
        );
    }

    #[test]
    fn need_31_a_refusal_of_a_cluster_leads_to_who_can_in_that_cluster() {
        let missing = RightQuestion {
            verb: "list".to_owned(),
            group: "apps".to_owned(),
            resource: "deployments".to_owned(),
            subresource: String::new(),
            namespace: None,
            name: None,
        };
        let refused = KubeError::Refused(Forbidden::lacks("no role".to_owned(), missing));
        let gap = row(unread("dev: deployments.", refused), 2);
        assert_eq!(
            gap.text,
            "dev: deployments. The cluster refused this: no role."
        );
        assert_eq!(
            gap.who_can.as_deref(),
            Some(
                "/projects/p1/clusters/00000000-0000-0000-0000-000000000002/access\
                 ?verb=list&resource=deployments.apps#who-can"
            )
        );
    }

    #[test]
    fn gaps_for_another_reason_than_a_missing_permission_have_no_link() {
        for error in [
            KubeError::Timeout(4),
            KubeError::Unreachable("refused".to_owned()),
            // the refusal of an admission plugin
            KubeError::Refused(Forbidden::from("exceeded quota".to_owned())),
        ] {
            let gap = row(unread("prod: pods.", error), 1);
            assert_eq!(gap.who_can, None, "{}", gap.text);
        }
        let cluster = Named {
            id: Uuid::from_u128(1).to_string(),
            name: "prod".to_owned(),
        };
        let late = gap_rows(took_too_long(&cluster).gaps, "p1", Uuid::from_u128(1));
        let text = "prod: it took too long to look at its workloads".to_owned();
        assert_eq!(late, [AttentionGap::from(text)]);
    }

    #[test]
    fn a_gap_without_a_link_is_no_longer_than_its_text() {
        let gap = AttentionGap::from("Alerts: no answer".to_owned());
        let json = serde_json::to_value(&gap).unwrap();
        assert_eq!(json, serde_json::json!({ "text": "Alerts: no answer" }));
        assert_eq!(serde_json::from_value::<AttentionGap>(json).unwrap(), gap);
    }
}
