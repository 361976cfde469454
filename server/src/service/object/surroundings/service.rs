//! Services: whether requests reach a pod, and whether a load balancer has an address.
use super::{METADATA_ONLY, is_older, list, unread, warnings, worst};
use crate::{
    kube::{Api, KubeError, objects},
    service::{
        health::{Assessment, counted, sentence},
        object::{related::items, selector},
    },
};
use jiff::{SignedDuration, Timestamp};
use portico_domain::panel::{EventRow, Health, ObjectRef, Refusal, ResourceRef};
use serde_json::Value;

/// How long a cloud may take to assign an address before it needs attention.
const ADDRESS_GRACE: SignedDuration = SignedDuration::from_mins(10);

/// The addresses behind a Service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Endpoints {
    pub ready: usize,
    pub not_ready: usize,
}

impl Endpoints {
    /// Counts the addresses of an Endpoints object.
    pub fn of(value: &Value) -> Self {
        let count = |list: &str| {
            let subsets = items(&value["subsets"]);
            subsets.map(|subset| items(&subset[list]).count()).sum()
        };
        Self {
            ready: count("addresses"),
            not_ready: count("notReadyAddresses"),
        }
    }
}

pub(super) async fn assess(
    api: &Api,
    object: &ObjectRef,
    value: &Value,
    first: Assessment,
) -> Assessment {
    if value["spec"]["type"] == "ExternalName" {
        return first;
    }
    let waits_for_address = first.health == Health::Progressing;
    let (backing, warnings) = tokio::join!(backing(api, object, value), async {
        if waits_for_address {
            warnings(api, object, value).await
        } else {
            Vec::new()
        }
    });
    if !waits_for_address {
        return backing;
    }
    let address = address(value, first.clone(), warnings.first(), api.now());
    worst(vec![address, backing]).unwrap_or(first)
}

/// Reads the endpoints, and the pods only if there are none.
async fn backing(api: &Api, object: &ObjectRef, value: &Value) -> Assessment {
    let endpoints = match endpoints(api, object).await {
        Ok(endpoints) => endpoints,
        Err(refusal) => {
            return Assessment::new(Health::Unknown, "Not checked")
                .because(format!(
                    "Its endpoints were not checked: {}",
                    refusal.reason
                ))
                .lacking(&refusal);
        }
    };
    if endpoints != Endpoints::default() {
        return reached(endpoints);
    }
    let Some(labels) = selector::of_pods(&object.resource, value) else {
        return unreached(None);
    };
    let (pods, namespace) = (ResourceRef::core("pods"), object.namespace.as_deref());
    let pods = list(api, &pods, namespace, &labels, METADATA_ONLY).await;
    unreached(Some(pods.map(|pods| pods.items.len())))
}

async fn endpoints(api: &Api, object: &ObjectRef) -> Result<Endpoints, Refusal> {
    let reference = ObjectRef {
        resource: ResourceRef::core("endpoints"),
        ..object.clone()
    };
    match objects::get(api, &reference).await {
        Ok(value) => Ok(Endpoints::of(&value)),
        Err(KubeError::NotFound(_)) => Ok(Endpoints::default()),
        Err(error) => {
            let namespace = object.namespace.as_deref();
            Err(unread(&reference.resource, "get", namespace, &error))
        }
    }
}

/// Assesses a Service that has endpoints.
fn reached(endpoints: Endpoints) -> Assessment {
    let Endpoints { ready, not_ready } = endpoints;
    let all = count(ready + not_ready, "endpoint");
    if ready == 0 {
        return Assessment::new(Health::Failed, "No endpoint ready").because(format!(
            "None of its {all} is ready, so requests to it fail. See the readiness of its pods."
        ));
    }
    if not_ready == 0 {
        return Assessment::ok(format!("{all} ready"));
    }
    Assessment::ok(format!("{ready} of {all} ready"))
        .because("Requests go to the endpoints that are ready only.")
}

/// Assesses a Service without endpoints by the number of pods that its selector matches; `None` if it
/// has no selector.
fn unreached(pods: Option<Result<usize, Refusal>>) -> Assessment {
    match pods {
        None => Assessment::new(Health::Warning, "No endpoints").because(
            "It has no selector, and no Endpoints object names addresses for it, so requests to it \
             fail. Give it a selector, or create its Endpoints.",
        ),
        Some(Ok(0)) => Assessment::new(Health::Warning, "Matches no pods").because(
            "Its selector matches no pods, so requests to it fail. Compare the selector with the \
             labels of the pods, or scale the workload up.",
        ),
        Some(Ok(matched)) => Assessment::new(Health::Failed, "No endpoints").because(format!(
            "Its selector matches {}, none of which has an address yet, so requests to it fail. See \
             the state of its pods.",
            count(matched, "pod")
        )),
        Some(Err(refusal)) => Assessment::new(Health::Warning, "No endpoints")
            .because(format!(
                "It has no endpoints, so requests to it fail. Its pods were not checked: {}",
                refusal.reason
            ))
            .lacking(&refusal),
    }
}

/// Assesses a load balancer without an address.
fn address(
    value: &Value,
    first: Assessment,
    warning: Option<&EventRow>,
    now: Timestamp,
) -> Assessment {
    if let Some(warning) = warning {
        return Assessment::new(Health::Warning, "No address").because(format!(
            "The load balancer has no address. The latest warning is {}: {}",
            warning.reason,
            sentence(&warning.message)
        ));
    }
    if is_older(value, ADDRESS_GRACE, now) {
        return Assessment::new(Health::Warning, "No address").because(
            "The load balancer has had no address for more than 10 minutes. The cluster may have no \
             controller for load balancers, or the quota of the project may be used up.",
        );
    }
    first
}

fn count(number: usize, noun: &str) -> String {
    counted(i64::try_from(number).unwrap_or(i64::MAX), noun)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_service_is_assessed_by_its_endpoints() {
        for (ready, not_ready, health, status) in [
            (2, 0, Health::Ok, "2 endpoints ready"),
            (1, 0, Health::Ok, "1 endpoint ready"),
            (1, 2, Health::Ok, "1 of 3 endpoints ready"),
            (0, 1, Health::Failed, "No endpoint ready"),
        ] {
            let assessment = reached(Endpoints { ready, not_ready });
            assert_eq!(
                (assessment.health, assessment.status.as_str()),
                (health, status)
            );
        }
    }

    #[test]
    fn a_service_without_endpoints_shows_whether_its_selector_matches_pods() {
        for (pods, health, status, word) in [
            (None, Health::Warning, "No endpoints", "no selector"),
            (
                Some(Ok(0)),
                Health::Warning,
                "Matches no pods",
                "matches no pods",
            ),
            (
                Some(Ok(2)),
                Health::Failed,
                "No endpoints",
                "matches 2 pods",
            ),
            (
                Some(Err("Your roles do not include list on pods."
                    .to_owned()
                    .into())),
                Health::Warning,
                "No endpoints",
                "do not include",
            ),
        ] {
            let assessment = unreached(pods);
            assert_eq!(
                (assessment.health, assessment.status.as_str()),
                (health, status)
            );
            assert!(assessment.reason.unwrap().contains(word), "{word}");
        }
    }

    #[test]
    fn a_load_balancer_without_an_address_shows_its_latest_warning() {
        let now: Timestamp = "2026-11-21T10:20:00Z".parse().unwrap();
        let made = |at: &str| json!({"metadata": {"creationTimestamp": at}});
        let first = Assessment::new(Health::Progressing, "No address yet");
        let young = made("2026-11-21T10:19:00Z");
        assert_eq!(address(&young, first.clone(), None, now), first);
        let old = address(&made("2026-11-21T10:00:00Z"), first.clone(), None, now);
        assert_eq!(old.health, Health::Warning);
        let event = EventRow {
            kind: "Warning".to_owned(),
            reason: "SyncLoadBalancerFailed".to_owned(),
            message: "quota exceeded for resources: loadbalancer".to_owned(),
            source: String::new(),
            count: 1,
            last_seen: None,
        };
        let failed = address(&young, first, Some(&event), now);
        assert_eq!(failed.health, Health::Warning);
        assert!(failed.reason.unwrap().ends_with("loadbalancer."));
    }

    #[test]
    fn endpoints_of_all_subsets_are_counted() {
        let value = json!({"subsets": [
            {"addresses": [{"ip": "192.0.2.1"}, {"ip": "192.0.2.2"}]},
            {"addresses": [{"ip": "192.0.2.3"}], "notReadyAddresses": [{"ip": "192.0.2.4"}]}]});
        let expected = Endpoints {
            ready: 3,
            not_ready: 1,
        };
        assert_eq!(Endpoints::of(&value), expected);
    }
}
