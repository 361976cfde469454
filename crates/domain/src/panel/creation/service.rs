//! A Service for the pods of a workload.
use super::validation::{self, Problems};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The types of Services that the form creates.
pub const SERVICE_TYPES: [&str; 3] = ["LoadBalancer", "ClusterIP", "NodePort"];
pub const PROTOCOLS: [&str; 3] = ["TCP", "UDP", "SCTP"];

/// The fields of the form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewService {
    pub name: String,
    pub namespace: String,
    /// One of [`SERVICE_TYPES`].
    pub service_type: String,
    /// `app=web,tier=front`.
    pub selector: String,
    pub ports: Vec<NewPort>,
}

/// One port of a Service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPort {
    /// Required if the Service has several ports.
    pub name: String,
    pub port: String,
    /// A number or the name of a container's port. Empty: as `port`.
    pub target: String,
    /// One of [`PROTOCOLS`].
    pub protocol: String,
}

impl Default for NewPort {
    fn default() -> Self {
        Self {
            name: String::new(),
            port: String::new(),
            target: String::new(),
            protocol: PROTOCOLS[0].to_owned(),
        }
    }
}

impl NewService {
    pub fn in_namespace(namespace: String) -> Self {
        Self {
            name: String::new(),
            namespace,
            service_type: SERVICE_TYPES[0].to_owned(),
            selector: String::new(),
            ports: vec![NewPort::default()],
        }
    }

    pub(super) fn check(&self, found: &mut Problems) {
        let is_known = SERVICE_TYPES.contains(&self.service_type.as_str());
        found.add(
            "service_type",
            (!is_known).then(|| "Choose a type.".to_owned()),
        );
        let selector = match validation::labels(&self.selector) {
            Ok(labels) if labels.is_empty() => {
                Some("Choose a workload, or enter the labels of its pods.".to_owned())
            }
            Ok(_) => None,
            Err(error) => Some(error),
        };
        found.add("selector", selector);
        if self.ports.is_empty() {
            found.add("ports", Some("Add at least one port.".to_owned()));
        }
        for (index, port) in self.ports.iter().enumerate() {
            self.check_port(index, port, found);
        }
    }

    fn check_port(&self, index: usize, port: &NewPort, found: &mut Problems) {
        let field = |name: &str| format!("ports.{index}.{name}");
        let earlier = self.ports.iter().take(index);
        let name = port.name.trim();
        let name_problem = if name.is_empty() {
            (self.ports.len() > 1).then(|| "Name each port if there are several.".to_owned())
        } else if earlier.clone().any(|other| other.name.trim() == name) {
            Some(format!("Another port has the name {name}."))
        } else {
            service_port_name(name)
        };
        found.add(field("name"), name_problem);
        let is_repeated = earlier
            .filter(|other| other.protocol == port.protocol)
            .any(|other| other.port.trim() == port.port.trim());
        let number_problem = validation::port_number(&port.port)
            .or_else(|| is_repeated.then(|| format!("Port {} is there twice.", port.port.trim())));
        found.add(field("port"), number_problem);
        if !port.target.trim().is_empty() {
            found.add(field("target"), validation::port(&port.target));
        }
        let is_known = PROTOCOLS.contains(&port.protocol.as_str());
        found.add(
            field("protocol"),
            (!is_known).then(|| "Choose a protocol.".to_owned()),
        );
    }

    pub(super) fn spec(&self) -> Value {
        let selector: Map<String, Value> = match validation::labels(&self.selector) {
            Ok(labels) => labels
                .into_iter()
                .map(|(key, value)| (key, json!(value)))
                .collect(),
            // what is not a list of labels stays visible in the manifest
            Err(_) => Map::from_iter([(self.selector.clone(), json!(""))]),
        };
        let ports: Vec<Value> = self.ports.iter().map(NewPort::manifest).collect();
        json!({ "type": self.service_type, "selector": selector, "ports": ports })
    }
}

impl NewPort {
    /// The protocol is always there: server-side apply of Kubernetes before 1.21 knows no default for it.
    fn manifest(&self) -> Value {
        let mut port = json!({ "port": number_or_text(&self.port), "protocol": self.protocol });
        if !self.name.trim().is_empty() {
            port["name"] = json!(self.name.trim());
        }
        let target = if self.target.trim().is_empty() {
            &self.port
        } else {
            &self.target
        };
        port["targetPort"] = number_or_text(target);
        port
    }
}

/// Checks the name of a Service's port, which is a DNS label.
fn service_port_name(text: &str) -> Option<String> {
    (!crate::namespace_format::is_label(text)).then(|| {
        "Use at most 63 lower-case letters, digits and \"-\"; begin and end with a letter or digit."
            .to_owned()
    })
}

/// Returns a port as a number if it is one, else as it was written.
pub(super) fn number_or_text(text: &str) -> Value {
    let text = text.trim();
    match text.parse::<u16>() {
        Ok(number) if validation::is_port_number(text) => json!(number),
        _ => json!(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::NewObject;

    fn port(name: &str, port: &str, target: &str) -> NewPort {
        NewPort {
            name: name.to_owned(),
            port: port.to_owned(),
            target: target.to_owned(),
            ..NewPort::default()
        }
    }

    fn service(ports: Vec<NewPort>) -> NewService {
        NewService {
            name: "web".to_owned(),
            selector: "app=web".to_owned(),
            ports,
            ..NewService::in_namespace("shop".to_owned())
        }
    }

    fn fields(service: NewService) -> Vec<String> {
        let problems = NewObject::Service(service).problems();
        problems.into_iter().map(|one| one.field).collect()
    }

    #[test]
    fn a_load_balancer_is_written_as_a_manifest() {
        let ports = vec![port("http", "80", "8080"), port("https", "443", "")];
        let new = NewObject::Service(service(ports));
        assert!(new.problems().is_empty());
        assert_eq!(
            new.manifest(),
            json!({
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": { "name": "web", "namespace": "shop" },
                "spec": {
                    "type": "LoadBalancer",
                    "selector": { "app": "web" },
                    "ports": [
                        { "name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080 },
                        { "name": "https", "port": 443, "protocol": "TCP", "targetPort": 443 },
                    ],
                },
            })
        );
    }

    #[test]
    fn several_ports_need_names_and_none_is_there_twice() {
        let unnamed = vec![port("", "80", ""), port("", "81", "")];
        assert_eq!(fields(service(unnamed)), ["ports.0.name", "ports.1.name"]);
        let twice = vec![port("a", "80", ""), port("a", "80", "")];
        assert_eq!(fields(service(twice)), ["ports.1.name", "ports.1.port"]);
        let other_protocol = NewPort {
            protocol: "UDP".to_owned(),
            ..port("dns-udp", "53", "")
        };
        let both = vec![port("dns", "53", ""), other_protocol];
        assert!(fields(service(both)).is_empty());
        assert_eq!(fields(service(Vec::new())), ["ports"]);
    }

    #[test]
    fn a_selector_is_required_and_what_is_not_one_stays_in_the_manifest() {
        let without = NewService {
            selector: String::new(),
            ..service(vec![port("", "80", "http")])
        };
        assert_eq!(fields(without), ["selector"]);
        let wrong = NewService {
            selector: "web".to_owned(),
            ..service(vec![port("", "many", "")])
        };
        assert_eq!(fields(wrong.clone()), ["selector", "ports.0.port"]);
        let manifest = NewObject::Service(wrong).manifest();
        assert_eq!(manifest["spec"]["selector"], json!({ "web": "" }));
        assert_eq!(manifest["spec"]["ports"][0]["port"], "many");
    }
}
