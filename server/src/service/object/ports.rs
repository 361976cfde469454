//! The ports of an object that `kubectl port-forward` reaches.
use portico_domain::panel::ResourceRef;
use serde_json::Value;

/// Maximum number of ports.
const MAX_PORTS: usize = 20;

/// Returns the TCP ports of a pod's containers, or of a Service that selects pods: kubectl forwards
/// neither UDP nor Services without a selector.
pub fn forwardable(resource: &ResourceRef, value: &Value) -> Vec<u16> {
    let spec = &value["spec"];
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (ports, field) = if *resource == ResourceRef::core("services") {
        let has_pods = spec["selector"]
            .as_object()
            .is_some_and(|selector| !selector.is_empty());
        let ports = if has_pods {
            array(&spec["ports"])
        } else {
            Vec::new()
        };
        (ports, "port")
    } else if *resource == ResourceRef::core("pods") {
        let containers = array(&spec["containers"]);
        let ports = containers
            .iter()
            .flat_map(|container| array(&container["ports"]));
        (ports.collect(), "containerPort")
    } else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for port in ports {
        let is_tcp = port["protocol"].as_str().is_none_or(|name| name == "TCP");
        let number = port[field]
            .as_u64()
            .and_then(|port| u16::try_from(port).ok());
        if let Some(number) = number.filter(|number| is_tcp && !found.contains(number)) {
            found.push(number);
        }
    }
    found.truncate(MAX_PORTS);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn need_14_ports_are_those_of_a_service_with_pods_and_of_containers() {
        let ports = json!([{"port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}, {"port": 443}]);
        let service = json!({"spec": {"selector": {"app": "web"}, "ports": ports}});
        let services = ResourceRef::core("services");
        assert_eq!(forwardable(&services, &service), [80, 443]);
        let without_pods = json!({"spec": {"ports": ports}});
        assert!(forwardable(&services, &without_pods).is_empty());
        let pod = json!({"spec": {"containers": [
            {"ports": [{"containerPort": 8080}, {"containerPort": 9090, "protocol": "SCTP"}]},
            {"ports": [{"containerPort": 8080}, {"containerPort": 9100}]},
            {}]}});
        assert_eq!(forwardable(&ResourceRef::core("pods"), &pod), [8080, 9100]);
        assert!(forwardable(&ResourceRef::new("apps", "v1", "deployments"), &pod).is_empty());
    }

    #[test]
    fn the_number_of_ports_is_bounded() {
        let ports: Vec<_> = (1..100).map(|port| json!({"port": port})).collect();
        let service = json!({"spec": {"selector": {"app": "web"}, "ports": ports}});
        let found = forwardable(&ResourceRef::core("services"), &service);
        assert_eq!(found.len(), MAX_PORTS);
    }
}
