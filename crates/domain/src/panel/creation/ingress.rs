//! An Ingress in `networking.k8s.io/v1`, which Kubernetes has from 1.19 on.
use super::{
    service::number_or_text,
    validation::{self, Problems},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub const PATH_TYPES: [&str; 3] = ["Prefix", "Exact", "ImplementationSpecific"];

/// The fields of the form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewIngress {
    pub name: String,
    pub namespace: String,
    /// Empty: the default class of the cluster.
    pub class: String,
    pub routes: Vec<NewRoute>,
    /// The Secret with the certificate of all named hosts. Empty: no TLS.
    pub tls_secret: String,
}

/// One path of a host, and the Service behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewRoute {
    /// Empty: every host.
    pub host: String,
    pub path: String,
    /// One of [`PATH_TYPES`].
    pub path_type: String,
    pub service: String,
    /// A number or the name of the Service's port.
    pub port: String,
}

impl Default for NewRoute {
    fn default() -> Self {
        Self {
            host: String::new(),
            path: "/".to_owned(),
            path_type: PATH_TYPES[0].to_owned(),
            service: String::new(),
            port: String::new(),
        }
    }
}

impl NewIngress {
    pub fn in_namespace(namespace: String) -> Self {
        Self {
            name: String::new(),
            namespace,
            class: String::new(),
            routes: vec![NewRoute::default()],
            tls_secret: String::new(),
        }
    }

    pub(super) fn check(&self, found: &mut Problems) {
        let class = self.class.trim();
        if !class.is_empty() {
            found.add("class", validation::subdomain(class));
        }
        if self.routes.is_empty() {
            found.add("routes", Some("Add at least one path.".to_owned()));
        }
        for (index, route) in self.routes.iter().enumerate() {
            let field = |name: &str| format!("routes.{index}.{name}");
            found.add(field("host"), validation::host(&route.host));
            let is_repeated = self.routes.iter().take(index).any(|other| {
                other.host.trim() == route.host.trim()
                    && other.path.trim() == route.path.trim()
                    && other.path_type == route.path_type
            });
            let path_problem = validation::path(&route.path).or_else(|| {
                is_repeated.then(|| format!("The path {} is there twice.", route.path.trim()))
            });
            found.add(field("path"), path_problem);
            let is_known = PATH_TYPES.contains(&route.path_type.as_str());
            found.add(
                field("path_type"),
                (!is_known).then(|| "Choose how the path matches.".to_owned()),
            );
            let service = route.service.trim();
            let service_problem = if service.is_empty() {
                Some("Choose a Service.".to_owned())
            } else {
                validation::object_name(service, true)
            };
            found.add(field("service"), service_problem);
            found.add(field("port"), validation::port(&route.port));
        }
        let secret = self.tls_secret.trim();
        if !secret.is_empty() {
            let problem = validation::subdomain(secret).or_else(|| {
                self.hosts().is_empty().then(|| {
                    "A certificate needs at least one host above that it is for.".to_owned()
                })
            });
            found.add("tls_secret", problem);
        }
    }

    pub(super) fn spec(&self) -> Value {
        let mut rules: Vec<(String, Vec<Value>)> = Vec::new();
        for route in &self.routes {
            let host = route.host.trim();
            let path = route.manifest();
            match rules.iter_mut().find(|(known, _)| known == host) {
                Some((_, paths)) => paths.push(path),
                None => rules.push((host.to_owned(), vec![path])),
            }
        }
        let rules: Vec<Value> = rules
            .into_iter()
            .map(|(host, paths)| {
                let mut rule = json!({ "http": { "paths": paths } });
                if !host.is_empty() {
                    rule["host"] = json!(host);
                }
                rule
            })
            .collect();
        let mut spec = json!({ "rules": rules });
        if !self.class.trim().is_empty() {
            spec["ingressClassName"] = json!(self.class.trim());
        }
        if !self.tls_secret.trim().is_empty() {
            let mut tls = json!({ "secretName": self.tls_secret.trim() });
            let hosts = self.hosts();
            if !hosts.is_empty() {
                tls["hosts"] = json!(hosts);
            }
            spec["tls"] = json!([tls]);
        }
        spec
    }

    /// Returns the named hosts, each once, in the order of the form.
    fn hosts(&self) -> Vec<&str> {
        let mut hosts: Vec<&str> = Vec::new();
        for route in &self.routes {
            let host = route.host.trim();
            if !host.is_empty() && !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        hosts
    }
}

impl NewRoute {
    fn manifest(&self) -> Value {
        let port = match number_or_text(&self.port) {
            Value::String(name) => json!({ "name": name }),
            number => json!({ "number": number }),
        };
        json!({
            "path": self.path.trim(),
            "pathType": self.path_type,
            "backend": { "service": { "name": self.service.trim(), "port": port } },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::NewObject;

    fn route(host: &str, path: &str, service: &str, port: &str) -> NewRoute {
        NewRoute {
            host: host.to_owned(),
            path: path.to_owned(),
            service: service.to_owned(),
            port: port.to_owned(),
            ..NewRoute::default()
        }
    }

    fn ingress(routes: Vec<NewRoute>, tls_secret: &str) -> NewIngress {
        NewIngress {
            name: "shop".to_owned(),
            routes,
            tls_secret: tls_secret.to_owned(),
            ..NewIngress::in_namespace("shop".to_owned())
        }
    }

    fn problems(ingress: NewIngress) -> Vec<(String, String)> {
        let problems = NewObject::Ingress(ingress).problems();
        problems
            .into_iter()
            .map(|one| (one.field, one.message))
            .collect()
    }

    #[test]
    fn paths_of_a_host_are_one_rule_and_its_certificate_covers_it() {
        let routes = vec![
            route("shop.example.org", "/", "web", "80"),
            route("", "/health", "web", "80"),
            route("shop.example.org", "/cart", "cart", "http"),
        ];
        let new = NewObject::Ingress(NewIngress {
            class: "nginx".to_owned(),
            ..ingress(routes, "shop-tls")
        });
        assert!(new.problems().is_empty());
        let path = |path: &str, service: &str, port: Value| {
            json!({ "path": path, "pathType": "Prefix",
                "backend": { "service": { "name": service, "port": port } } })
        };
        assert_eq!(
            new.manifest(),
            json!({
                "apiVersion": "networking.k8s.io/v1",
                "kind": "Ingress",
                "metadata": { "name": "shop", "namespace": "shop" },
                "spec": {
                    "ingressClassName": "nginx",
                    "rules": [
                        { "host": "shop.example.org", "http": { "paths": [
                            path("/", "web", json!({ "number": 80 })),
                            path("/cart", "cart", json!({ "name": "http" })),
                        ] } },
                        { "http": { "paths": [path("/health", "web", json!({ "number": 80 }))] } },
                    ],
                    "tls": [{ "hosts": ["shop.example.org"], "secretName": "shop-tls" }],
                },
            })
        );
    }

    #[test]
    fn a_path_of_a_host_is_there_once() {
        let twice = vec![
            route("a.example.org", "/cart", "web", "80"),
            route("b.example.org", "/cart", "web", "80"),
            route("a.example.org", "/cart", "cart", "80"),
        ];
        let found = problems(ingress(twice, ""));
        let expected = ("routes.2.path", "The path /cart is there twice.");
        assert_eq!(found, [(expected.0.to_owned(), expected.1.to_owned())]);
    }

    #[test]
    fn a_route_needs_its_service_and_a_certificate_its_host() {
        let found = problems(ingress(vec![route("", "cart", "", "")], "shop-tls"));
        let fields: Vec<_> = found.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(
            fields,
            [
                "routes.0.path",
                "routes.0.service",
                "routes.0.port",
                "tls_secret"
            ]
        );
        assert_eq!(problems(ingress(Vec::new(), ""))[0].0, "routes");
    }
}
