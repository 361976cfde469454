//! Ingresses: whether the Services behind their routes, and their certificates, exist and respond.
use super::{Listed, METADATA_ONLY, Reading, is_older, list, service::Endpoints, worst};
use crate::{
    kube::Api,
    service::{
        health::Assessment,
        object::related::{ingress, items},
    },
};
use jiff::{SignedDuration, Timestamp};
use portico_domain::panel::{Health, ObjectRef, ResourceRef};
use serde_json::Value;
use std::collections::BTreeSet;

/// How long a controller may take to assign an address before it needs attention.
const ADDRESS_GRACE: SignedDuration = SignedDuration::from_mins(5);
/// Maximum number of problems that are named.
const MAX_PROBLEMS: usize = 4;
const JSON: &str = "application/json";

/// What the routes and certificates of an Ingress refer to.
struct Behind {
    services: Reading,
    endpoints: Reading,
    secrets: Reading,
}

pub(super) async fn assess(
    api: &Api,
    object: &ObjectRef,
    value: &Value,
    first: Assessment,
) -> Assessment {
    let namespace = object.namespace.as_deref();
    let [services, endpoints, secrets] =
        ["services", "endpoints", "secrets"].map(ResourceRef::core);
    let (services, endpoints, secrets) = tokio::join!(
        list(api, &services, namespace, "", JSON),
        list(api, &endpoints, namespace, "", JSON),
        async {
            if ingress::certificates(value).is_empty() {
                return Ok(Listed::default());
            }
            list(api, &secrets, namespace, "", METADATA_ONLY).await
        },
    );
    let behind = Behind {
        services,
        endpoints,
        secrets,
    };
    combine(value, first, &behind, api.now())
}

fn combine(value: &Value, first: Assessment, behind: &Behind, now: Timestamp) -> Assessment {
    let mut found = problems(value, behind);
    found.sort_by_key(|problem| problem.health.severity());
    let left_out = found.len().saturating_sub(MAX_PROBLEMS);
    found.truncate(MAX_PROBLEMS);
    if first.health != Health::Ok {
        found.push(address(value, first, now));
    }
    let mut whole = worst(found).unwrap_or_else(|| Assessment::ok("Ready"));
    let mut sentences: Vec<String> = whole.reason.take().into_iter().collect();
    if left_out > 0 {
        sentences.push(format!("{left_out} more problems are not named here."));
    }
    for (what, reading) in [
        ("The Services behind it", &behind.services),
        ("The endpoints behind it", &behind.endpoints),
        ("Its certificates", &behind.secrets),
    ] {
        if let Err(refusal) = reading {
            sentences.push(format!("{what} were not checked: {}", refusal.reason));
            whole = whole.lacking(refusal);
        }
    }
    if !sentences.is_empty() {
        whole.reason = Some(sentences.join(" "));
    }
    whole
}

/// Returns the problems of routes and certificates, each once.
fn problems(value: &Value, behind: &Behind) -> Vec<Assessment> {
    let mut found = Vec::new();
    let backends: BTreeSet<(String, String)> = ingress::routes(value)
        .into_iter()
        .filter_map(|route| Some((route.service?, route.port)))
        .collect();
    for (service, port) in backends {
        if let Ok(services) = &behind.services {
            found.extend(of_backend(&service, &port, services, &behind.endpoints));
        }
    }
    if let Ok(secrets) = &behind.secrets
        && secrets.is_complete
    {
        let certificates = ingress::certificates(value).into_iter();
        found.extend(
            certificates
                .filter(|name| secrets.find(name).is_none())
                .map(|name| {
                    Assessment::new(Health::Warning, "Certificate missing").because(format!(
                        "Secret {name}, which holds a certificate, does not exist: create it, or \
                         check the issuer that creates it."
                    ))
                }),
        );
    }
    found
}

/// Returns the problem of one backend.
fn of_backend(
    name: &str,
    port: &str,
    services: &Listed,
    endpoints: &Reading,
) -> Option<Assessment> {
    let Some(service) = services.find(name) else {
        return services.is_complete.then(|| {
            Assessment::new(Health::Failed, "Service missing").because(format!(
                "Service {name}, to which it routes, does not exist, so requests fail. Create it, \
                 or correct the name."
            ))
        });
    };
    if service["spec"]["type"] == "ExternalName" {
        return None;
    }
    let number = port.parse::<u64>().ok();
    let has_port = items(&service["spec"]["ports"]).any(|known| {
        known["name"] == port || (number.is_some() && known["port"].as_u64() == number)
    });
    if !has_port {
        return Some(
            Assessment::new(Health::Failed, "Port missing").because(format!(
                "Service {name} has no port {port}, so requests fail. Correct the port here, or add \
                 it to the Service."
            )),
        );
    }
    let Ok(endpoints) = endpoints else {
        return None;
    };
    let ready = match endpoints.find(name) {
        Some(found) => Endpoints::of(found).ready,
        None if endpoints.is_complete => 0,
        None => return None,
    };
    (ready == 0).then(|| {
        Assessment::new(Health::Warning, "No endpoint ready").because(format!(
            "Service {name} has no ready endpoint, so requests fail. See its pods."
        ))
    })
}

/// Assesses an Ingress without an address.
fn address(value: &Value, first: Assessment, now: Timestamp) -> Assessment {
    if !is_older(value, ADDRESS_GRACE, now) {
        return first;
    }
    let annotation = &value["metadata"]["annotations"]["kubernetes.io/ingress.class"];
    let class = value["spec"]["ingressClassName"].as_str();
    let check = match class.or(annotation.as_str()) {
        Some(class) => format!("Check that a controller for the class {class} runs."),
        None => "It names no class: check that the cluster has a default IngressClass, and that \
                 its controller runs."
            .to_owned(),
    };
    Assessment::new(Health::Warning, "No address").because(format!(
        "No ingress controller has given it an address. {check}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::{Refusal, RightQuestion};
    use serde_json::json;

    const NOW: &str = "2026-11-21T10:20:00Z";

    fn listed(items: Vec<Value>) -> Reading {
        Ok(Listed {
            items,
            is_complete: true,
        })
    }

    fn service(port: u16) -> Value {
        json!({"metadata": {"name": "web"}, "spec": {"ports": [{"name": "http", "port": port}]}})
    }

    fn endpoints(list: &str) -> Value {
        json!({"metadata": {"name": "web"}, "subsets": [{list: [{"ip": "192.0.2.1"}]}]})
    }

    fn well() -> Behind {
        Behind {
            services: listed(vec![service(80)]),
            endpoints: listed(vec![endpoints("addresses")]),
            secrets: listed(vec![json!({"metadata": {"name": "web-tls"}})]),
        }
    }

    fn assessed(behind: &Behind) -> Assessment {
        let ingress = json!({"metadata": {"creationTimestamp": "2026-11-21T09:00:00Z"},
            "spec": {"tls": [{"secretName": "web-tls"}],
                "rules": [{"http": {"paths": [{"path": "/", "pathType": "Prefix",
                    "backend": {"service": {"name": "web", "port": {"number": 80}}}}]}}]}});
        combine(
            &ingress,
            Assessment::ok("Present"),
            behind,
            NOW.parse().unwrap(),
        )
    }

    #[test]
    fn an_ingress_names_what_is_missing_behind_it() {
        assert_eq!(assessed(&well()), Assessment::ok("Ready"));
        for (behind, health, status) in [
            (
                Behind {
                    services: listed(Vec::new()),
                    ..well()
                },
                Health::Failed,
                "Service missing",
            ),
            (
                Behind {
                    services: listed(vec![service(8080)]),
                    ..well()
                },
                Health::Failed,
                "Port missing",
            ),
            (
                Behind {
                    endpoints: listed(vec![endpoints("notReadyAddresses")]),
                    ..well()
                },
                Health::Warning,
                "No endpoint ready",
            ),
            (
                Behind {
                    secrets: listed(Vec::new()),
                    ..well()
                },
                Health::Warning,
                "Certificate missing",
            ),
        ] {
            let assessment = assessed(&behind);
            assert_eq!(
                (assessment.health, assessment.status.as_str()),
                (health, status)
            );
            assert!(assessment.reason.is_some());
        }
    }

    #[test]
    fn what_could_not_be_read_is_named_and_not_taken_as_missing() {
        let question = RightQuestion::on("list", &ResourceRef::core("secrets"), Some("shop"));
        let behind = Behind {
            secrets: Err(Refusal::of(question.clone())),
            ..well()
        };
        let assessment = assessed(&behind);
        assert_eq!(assessment.health, Health::Ok);
        assert_eq!(assessment.missing, [question]);
        assert!(
            assessment
                .reason
                .unwrap()
                .starts_with("Its certificates were not checked")
        );
        let cut = Listed {
            items: Vec::new(),
            is_complete: false,
        };
        let behind = Behind {
            services: Ok(cut),
            ..well()
        };
        assert_eq!(assessed(&behind).health, Health::Ok);
    }

    #[test]
    fn an_ingress_without_an_address_waits_and_then_names_its_class() {
        let first = Assessment::new(Health::Progressing, "No address yet");
        let made = |at: &str| json!({"metadata": {"creationTimestamp": at}, "spec": {"ingressClassName": "nginx"}});
        let at = |created: &str| address(&made(created), first.clone(), NOW.parse().unwrap());
        assert_eq!(at("2026-11-21T10:19:00Z"), first);
        let late = at("2026-11-21T10:00:00Z");
        assert_eq!(late.health, Health::Warning);
        assert!(late.reason.unwrap().contains("class nginx"));
    }
}
