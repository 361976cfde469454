//! What Services and Ingresses show in their own fields: whether they have an address.
use super::{Assessment, EXISTS};
use portico_domain::panel::Health;
use serde_json::Value;

/// The status of an Ingress or of a Service of type LoadBalancer without an address.
const NO_ADDRESS: &str = "No address yet";

pub fn service(object: &Value) -> Assessment {
    match object["spec"]["type"].as_str() {
        Some("ExternalName") => Assessment::ok("Name of another host"),
        Some("LoadBalancer") if !has_address(object) => {
            Assessment::new(Health::Progressing, NO_ADDRESS)
                .because("The cloud has not assigned an address to the load balancer.")
        }
        _ => Assessment::ok(EXISTS),
    }
}

pub fn ingress(object: &Value) -> Assessment {
    if has_address(object) {
        return Assessment::ok(EXISTS);
    }
    Assessment::new(Health::Progressing, NO_ADDRESS)
        .because("No ingress controller has given it an address.")
}

fn has_address(object: &Value) -> bool {
    object
        .pointer("/status/loadBalancer/ingress")
        .and_then(Value::as_array)
        .is_some_and(|addresses| !addresses.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_load_balancer_and_an_ingress_wait_for_their_address() {
        let addresses = json!({"loadBalancer": {"ingress": [{"ip": "203.0.113.7"}]}});
        for (kind, with_address) in [("LoadBalancer", false), ("LoadBalancer", true)] {
            let status = if with_address {
                addresses.clone()
            } else {
                json!({"loadBalancer": {}})
            };
            let object = json!({"spec": {"type": kind}, "status": status});
            let expected = if with_address {
                Health::Ok
            } else {
                Health::Progressing
            };
            assert_eq!(service(&object).health, expected);
            assert_eq!(ingress(&object).health, expected);
        }
        let internal = json!({"spec": {"type": "ClusterIP"}, "status": {"loadBalancer": {}}});
        assert_eq!(service(&internal), Assessment::ok(EXISTS));
    }
}
