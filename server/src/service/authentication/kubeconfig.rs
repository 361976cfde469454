//! A separate kubeconfig for one cluster, to download: kubectl gets tokens from `portico
//! credential`, and the file holds no secret. `portico kubeconfig` merges the same entries into a
//! user's own.
use crate::{
    kube::{Authority, Cluster},
    service::error::ServiceError,
};
use app::error::UiErrorKind;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use portico_domain::cluster::ClusterRecord;
use serde_json::json;

/// Returns the file's text.
pub async fn kubeconfig(cluster: &Cluster, portico_url: &str) -> Result<String, ServiceError> {
    let authority = match cluster.authority() {
        Authority::Public => None,
        Authority::Pem(pem) => Some(pem.as_bytes().to_vec()),
        Authority::File(path) => Some(tokio::fs::read(path).await.map_err(|error| {
            let mut unreadable = ServiceError::new(
                UiErrorKind::Unavailable,
                "The authority of this cluster's certificate cannot be read.",
            )
            .next("Its administrators can see why in Portico's log.");
            unreadable.cause = Some(format!("{}: {error}", path.display()));
            unreadable
        })?),
    };
    render(cluster.record(), portico_url, authority.as_deref()).map_err(|error| {
        let mut failed = ServiceError::new(UiErrorKind::Internal, "The file cannot be written.");
        failed.cause = Some(error.to_string());
        failed
    })
}

fn render(
    record: &ClusterRecord,
    portico_url: &str,
    authority: Option<&[u8]>,
) -> Result<String, serde_norway::Error> {
    let host = portico_url.split("://").last().unwrap_or(portico_url);
    // named after Portico and the cluster, so that they do not collide with other programs' entries
    // when files are joined
    let name = format!("portico/{host}/{}", record.name);
    let mut cluster = json!({ "server": record.api_url });
    if let Some(authority) = authority {
        cluster["certificate-authority-data"] = STANDARD.encode(authority).into();
    }
    serde_norway::to_string(&json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": name, "cluster": cluster }],
        "users": [{ "name": name, "user": { "exec": {
            // the version that every kubectl supports
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": "portico",
            "args": ["credential", "--gateway", portico_url, "--cluster", record.id.to_string()],
            "installHint": format!(
                "portico is missing: install it as described in your cloud's documentation, then \
                 run `portico login {portico_url}`."
            ),
            "interactiveMode": "Never",
        }}}],
        "contexts": [{ "name": record.name, "context": { "cluster": name, "user": name } }],
        "current-context": record.name,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::authentication::user::tests::record;

    #[test]
    fn it_names_the_plugin_and_holds_no_secret() {
        let record = record(&["p1"], &[], &[]);
        let text = render(&record, "https://portico.example.org", Some(b"PEM")).unwrap();
        let read: serde_json::Value = serde_norway::from_str(&text).unwrap();
        assert_eq!(read["current-context"], "prod");
        assert_eq!(
            read["clusters"][0]["cluster"]["certificate-authority-data"],
            "UEVN"
        );
        let exec = &read["users"][0]["user"]["exec"];
        assert_eq!(
            exec["args"],
            json!([
                "credential",
                "--gateway",
                "https://portico.example.org",
                "--cluster",
                record.id
            ])
        );
        assert_eq!(read["users"][0]["user"].as_object().unwrap().len(), 1);
        assert_eq!(
            read["clusters"][0]["name"],
            "portico/portico.example.org/prod"
        );
    }
}
