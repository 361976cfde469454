//! The backends of an Ingress, in `networking.k8s.io/v1` and the version before it.
use super::pod_template::items;
use portico_domain::panel::DetailCell;
use serde_json::Value;
use std::collections::BTreeSet;

/// Returns the names of the Services to which an Ingress routes.
pub fn services(ingress: &Value) -> BTreeSet<String> {
    let spec = &ingress["spec"];
    let paths = items(&spec["rules"]).flat_map(|rule| items(&rule["http"]["paths"]));
    paths
        .map(|path| &path["backend"])
        .chain([&spec["defaultBackend"], &spec["backend"]])
        .filter_map(|backend| backend_of(backend).map(|(name, _)| name))
        .collect()
}

/// Returns the names of the Secrets with the certificates of an Ingress.
pub fn certificates(ingress: &Value) -> BTreeSet<String> {
    items(&ingress["spec"]["tls"])
        .filter_map(|tls| tls["secretName"].as_str().map(str::to_owned))
        .collect()
}

/// Returns the Service and port of a backend; `None` for a backend that is a resource.
fn backend_of(backend: &Value) -> Option<(String, String)> {
    let service = &backend["service"];
    let (name, port) = match service["name"].as_str() {
        Some(name) => {
            let port = &service["port"];
            (
                name,
                if port["name"].is_null() {
                    &port["number"]
                } else {
                    &port["name"]
                },
            )
        }
        None => (backend["serviceName"].as_str()?, &backend["servicePort"]),
    };
    let port = port
        .as_str()
        .map_or_else(|| port.to_string(), str::to_owned);
    Some((name.to_owned(), port))
}

/// One path of an Ingress: its address, and the Service behind it.
pub struct Route {
    pub address: String,
    pub path_type: String,
    pub service: Option<String>,
    pub port: String,
    pub certificate: Option<String>,
}

/// Returns the routes of an Ingress in its order, the default one last.
pub fn routes(ingress: &Value) -> Vec<Route> {
    let spec = &ingress["spec"];
    let mut found = Vec::new();
    for rule in items(&spec["rules"]) {
        let host = rule["host"].as_str().unwrap_or("*");
        let certificate = items(&spec["tls"]).find(|tls| {
            let mut hosts = items(&tls["hosts"]).peekable();
            hosts.peek().is_none() || hosts.any(|covered| covered.as_str() == Some(host))
        });
        let scheme = if certificate.is_some() {
            "https"
        } else {
            "http"
        };
        for path in items(&rule["http"]["paths"]) {
            let backend = backend_of(&path["backend"]);
            found.push(Route {
                address: format!("{scheme}://{host}{}", path["path"].as_str().unwrap_or("/")),
                path_type: path["pathType"].as_str().unwrap_or("Prefix").to_owned(),
                port: backend
                    .as_ref()
                    .map_or_else(String::new, |(_, port)| port.clone()),
                service: backend.map(|(name, _)| name),
                certificate: certificate
                    .and_then(|tls| tls["secretName"].as_str().map(str::to_owned)),
            });
        }
    }
    for backend in [&spec["defaultBackend"], &spec["backend"]] {
        if let Some((service, port)) = backend_of(backend) {
            found.push(Route {
                address: "All other requests".to_owned(),
                path_type: String::new(),
                service: Some(service),
                port,
                certificate: None,
            });
        }
    }
    found
}

/// Returns the addresses at which an Ingress or a Service of type LoadBalancer is reachable.
pub fn addresses(value: &Value) -> Vec<DetailCell> {
    items(&value["status"]["loadBalancer"]["ingress"])
        .filter_map(|entry| entry["ip"].as_str().or(entry["hostname"].as_str()))
        .map(DetailCell::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn backends_of_both_versions_are_read() {
        let ingress = json!({"spec": {
        "tls": [{"hosts": ["shop.example.org"], "secretName": "shop-tls"}],
        "defaultBackend": {"service": {"name": "fallback", "port": {"name": "http"}}},
        "rules": [
            {"host": "shop.example.org", "http": {"paths": [
                {"path": "/cart", "pathType": "Exact", "backend": {"service": {"name": "cart", "port": {"number": 80}}}}]}},
            {"host": "old.example.org", "http": {"paths": [
                {"backend": {"serviceName": "old", "servicePort": 8080}}]}},
        ]}});
        let names: Vec<_> = services(&ingress).into_iter().collect();
        assert_eq!(names, ["cart", "fallback", "old"]);
        let routes: Vec<_> = routes(&ingress)
            .into_iter()
            .map(|route| {
                format!(
                    "{} {} {}",
                    route.address,
                    route.service.unwrap(),
                    route.port
                )
            })
            .collect();
        assert_eq!(
            routes,
            [
                "https://shop.example.org/cart cart 80",
                "http://old.example.org/ old 8080",
                "All other requests fallback http",
            ]
        );
        assert_eq!(certificates(&ingress).len(), 1);
    }

    #[test]
    fn a_backend_that_is_not_a_service_has_no_name() {
        let ingress = json!({"spec": {"rules": [{"http": {"paths": [
            {"path": "/", "backend": {"resource": {"kind": "Bucket", "name": "b"}}}]}}]}});
        assert!(services(&ingress).is_empty());
        assert!(routes(&ingress)[0].service.is_none());
    }
}
