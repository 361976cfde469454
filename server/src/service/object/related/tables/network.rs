//! Services, EndpointSlices, Ingresses and NetworkPolicies.
use super::{
    super::{ingress, pod_template::items, reader::Reader},
    joined, link, status, table, text,
};
use portico_domain::panel::{DetailCell, DetailTable, Health, ObjectRef};
use serde_json::Value;

/// Returns the ports, the addresses and the endpoints of a Service.
pub async fn service(reader: &Reader<'_>, object: &ObjectRef, value: &Value) -> Vec<DetailTable> {
    let ports = items(&value["spec"]["ports"])
        .map(|port| {
            vec![
                text(&port["name"]).into(),
                format!(
                    "{}/{}",
                    text(&port["port"]),
                    port["protocol"].as_str().unwrap_or("TCP")
                )
                .into(),
                text(&port["targetPort"]).into(),
                text(&port["nodePort"]).into(),
            ]
        })
        .collect();
    let mut tables = vec![
        table(
            "Ports",
            &["Name", "Port", "Target port", "Node port"],
            ports,
        ),
        table("Addresses", &["Address"], addresses(value)),
    ];
    if let Some(reference) = reader.reference("", "endpoints", &object.name)
        && let Ok(Some(found)) = reader.get(&reference).await
    {
        tables.push(endpoints(reader, &found));
    }
    tables
}

fn addresses(value: &Value) -> Vec<Vec<DetailCell>> {
    let found = ingress::addresses(value);
    if found.is_empty() && value["spec"]["type"] == "LoadBalancer" {
        let pending = "Not assigned yet: the cloud has not created the load balancer";
        return vec![vec![status(pending, Health::Progressing)]];
    }
    found.into_iter().map(|cell| vec![cell]).collect()
}

/// Returns the addresses behind a Service, those that get requests first.
pub fn endpoints(reader: &Reader<'_>, value: &Value) -> DetailTable {
    let mut rows = Vec::new();
    for (list, is_ready) in [("addresses", true), ("notReadyAddresses", false)] {
        for subset in items(&value["subsets"]) {
            let ports: Vec<_> = items(&subset["ports"])
                .map(|port| text(&port["port"]))
                .collect();
            for address in items(&subset[list]) {
                let target = &address["targetRef"];
                let pod = target["name"]
                    .as_str()
                    .filter(|_| target["kind"] == "Pod")
                    .and_then(|name| reader.reference("", "pods", name));
                rows.push(vec![
                    format!("{}:{}", text(&address["ip"]), ports.join(",")).into(),
                    link(target["name"].as_str().unwrap_or_default(), pod),
                    if is_ready {
                        status("Ready", Health::Ok)
                    } else {
                        status("Not ready, gets no requests", Health::Warning)
                    },
                ]);
            }
        }
    }
    table("Endpoints", &["Address", "Pod", "State"], rows)
}

/// Returns the addresses of an EndpointSlice.
pub fn endpoint_slice(reader: &Reader<'_>, value: &Value) -> DetailTable {
    let rows = slice_rows(value, |target| {
        let plural = match target["kind"].as_str()? {
            "Pod" => "pods",
            "Node" => "nodes",
            _ => return None,
        };
        reader.reference("", plural, target["name"].as_str()?)
    });
    table("Endpoints", &["Address", "Ports", "State", "Target"], rows)
}

/// Returns a row for each endpoint. A missing `ready` means ready
/// (<https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#conditions>).
fn slice_rows(value: &Value, object: impl Fn(&Value) -> Option<ObjectRef>) -> Vec<Vec<DetailCell>> {
    let ports: Vec<String> = items(&value["ports"])
        .map(|port| {
            let number = match &port["port"] {
                Value::Null => "all ports".to_owned(),
                number => text(number),
            };
            let protocol = port["protocol"].as_str().unwrap_or("TCP");
            match port["name"].as_str().filter(|name| !name.is_empty()) {
                Some(name) => format!("{number}/{protocol} ({name})"),
                None => format!("{number}/{protocol}"),
            }
        })
        .collect();
    let ports = ports.join(", ");
    items(&value["endpoints"])
        .map(|endpoint| {
            let conditions = &endpoint["conditions"];
            let target = &endpoint["targetRef"];
            let state = if conditions["terminating"] == true {
                status("Terminating", Health::Progressing)
            } else if conditions["ready"] == false {
                status("Not ready, gets no requests", Health::Warning)
            } else {
                status("Ready", Health::Ok)
            };
            vec![
                joined(&endpoint["addresses"]).into(),
                ports.clone().into(),
                state,
                link(&text(&target["name"]), object(target)),
            ]
        })
        .collect()
}

/// Returns the routes of an Ingress.
pub fn routes(reader: &Reader<'_>, value: &Value) -> DetailTable {
    let rows = ingress::routes(value)
        .into_iter()
        .map(|route| {
            let service = route.service.unwrap_or_default();
            let certificate = route.certificate.unwrap_or_default();
            let object = |plural: &str, name: &str| {
                (!name.is_empty())
                    .then(|| reader.reference("", plural, name))
                    .flatten()
            };
            vec![
                route.address.into(),
                route.path_type.into(),
                link(&service, object("services", &service)),
                route.port.into(),
                link(&certificate, object("secrets", &certificate)),
            ]
        })
        .collect();
    table(
        "Routes",
        &["Address", "Path type", "Service", "Port", "Certificate"],
        rows,
    )
}

/// Returns the rules of a NetworkPolicy in words.
pub fn policy_rules(value: &Value) -> DetailTable {
    let spec = &value["spec"];
    let types: Vec<&str> = items(&spec["policyTypes"])
        .filter_map(Value::as_str)
        .collect();
    let mut rows = Vec::new();
    for (direction, list, peers) in [("Ingress", "ingress", "from"), ("Egress", "egress", "to")] {
        let has_rules = spec[list].is_array();
        if !types.contains(&direction) && !has_rules {
            continue;
        }
        let before = rows.len();
        for rule in items(&spec[list]) {
            let from: Vec<_> = items(&rule[peers]).map(peer).collect();
            let ports: Vec<_> = items(&rule["ports"])
                .map(|port| {
                    format!(
                        "{}/{}",
                        text(&port["port"]),
                        port["protocol"].as_str().unwrap_or("TCP")
                    )
                })
                .collect();
            let any = |list: Vec<String>, word: &str| {
                if list.is_empty() {
                    word.to_owned()
                } else {
                    list.join("; ")
                }
            };
            rows.push(vec![
                direction.into(),
                any(from, "anywhere").into(),
                any(ports, "all ports").into(),
            ]);
        }
        if rows.len() == before {
            rows.push(vec![
                direction.into(),
                status("nothing is allowed", Health::Warning),
                "".into(),
            ]);
        }
    }
    table("Allowed traffic", &["Direction", "Peers", "Ports"], rows)
}

fn peer(peer: &Value) -> String {
    if let Some(block) = peer.get("ipBlock") {
        let except = joined(&block["except"]);
        let cidr = text(&block["cidr"]);
        return if except.is_empty() {
            cidr
        } else {
            format!("{cidr} except {except}")
        };
    }
    let pods = match peer.get("podSelector") {
        Some(selector) => labels(selector).map_or_else(
            || "all pods".to_owned(),
            |labels| format!("pods with {labels}"),
        ),
        None => "all pods".to_owned(),
    };
    match peer.get("namespaceSelector") {
        Some(selector) => match labels(selector) {
            Some(labels) => format!("{pods} in namespaces with {labels}"),
            None => format!("{pods} in every namespace"),
        },
        None => format!("{pods} of this namespace"),
    }
}

fn labels(selector: &Value) -> Option<String> {
    let pairs = selector["matchLabels"].as_object().into_iter().flatten();
    let mut found: Vec<String> = pairs
        .map(|(key, value)| format!("{key}={}", text(value)))
        .collect();
    for expression in items(&selector["matchExpressions"]) {
        let (key, operator) = (text(&expression["key"]), text(&expression["operator"]));
        found.push(
            format!("{key} {operator} {}", joined(&expression["values"]))
                .trim_end()
                .to_owned(),
        );
    }
    (!found.is_empty()).then(|| found.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_network_policy_is_described_in_words() {
        let policy = json!({"spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], "ingress": [
            {"from": [{"podSelector": {"matchLabels": {"app": "web"}}},
                {"namespaceSelector": {}},
                {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}],
             "ports": [{"port": 80}]}]}});
        let rows: Vec<_> = policy_rules(&policy)
            .rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(|cell| cell.text.clone())
                    .collect::<Vec<_>>()
                    .join(" | ")
            })
            .collect();
        assert_eq!(
            rows,
            [
                "Ingress | pods with app=web of this namespace; all pods in every namespace; \
                 10.0.0.0/8 except 10.1.0.0/16 | 80/TCP",
                "Egress | nothing is allowed | ",
            ]
        );
    }

    #[test]
    fn an_endpoint_slice_shows_addresses_ports_readiness_and_targets() {
        let slice = json!({"addressType": "IPv4",
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}, {"name": "", "port": 53, "protocol": "UDP"}],
        "endpoints": [
            {"addresses": ["10.0.0.1"], "conditions": {"ready": true}, "targetRef": {"kind": "Pod", "name": "web-1"}},
            {"addresses": ["10.0.0.2"], "conditions": {"ready": false}},
            {"addresses": ["10.0.0.3"], "conditions": {"ready": false, "serving": true, "terminating": true}},
            {"addresses": ["10.0.0.4", "10.0.0.5"]},
        ]});
        let pod = ObjectRef {
            resource: portico_domain::panel::ResourceRef::core("pods"),
            namespace: Some("shop".to_owned()),
            name: "web-1".to_owned(),
        };
        let rows = slice_rows(&slice, |target| {
            (target["kind"] == "Pod").then(|| pod.clone())
        });
        let texts: Vec<String> = rows
            .iter()
            .map(|row| {
                let cells: Vec<_> = row.iter().map(|cell| cell.text.as_str()).collect();
                cells.join(" | ")
            })
            .collect();
        let ports = "8080/TCP (http), 53/UDP";
        assert_eq!(
            texts,
            [
                format!("10.0.0.1 | {ports} | Ready | web-1"),
                format!("10.0.0.2 | {ports} | Not ready, gets no requests | "),
                format!("10.0.0.3 | {ports} | Terminating | "),
                format!("10.0.0.4, 10.0.0.5 | {ports} | Ready | "),
            ]
        );
        assert_eq!(rows[0][3].object.as_ref(), Some(&pod));
        assert_eq!(rows[1][3].object, None);
    }

    #[test]
    fn a_load_balancer_without_an_address_is_in_progress() {
        let rows =
            addresses(&json!({"spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {}}}));
        assert_eq!(rows[0][0].health, Some(Health::Progressing));
        assert!(addresses(&json!({"spec": {"type": "ClusterIP"}})).is_empty());
    }
}
