//! Checks the OpenID providers: connection and discovery document.
use crate::cli::doctor::fault::Fault;
use crate::cli::doctor::finding::Finding;
use crate::cli::doctor::http;
use gateway::config::{ProviderConfig, ProviderKind};
use portico_runtime::error_chain;

pub(super) async fn check(provider: &ProviderConfig) -> Vec<Finding> {
    let subject = format!("provider {}", provider.id);
    match &provider.issuer {
        Some(issuer) if provider.kind == ProviderKind::Oidc => {
            vec![discovery(provider, issuer, &subject).await]
        }
        _ => Vec::new(),
    }
}

/// Fetches the discovery document (OpenID Connect Discovery 1.0, section 4: the issuer is compared
/// exactly).
async fn discovery(provider: &ProviderConfig, issuer: &str, subject: &str) -> Finding {
    let client = match http::client(provider.ca_file.as_deref()) {
        Ok(client) => client,
        Err(error) => {
            let seen = error_chain(&*error);
            return Finding::fault(Fault::ProviderUnreachable, subject, seen);
        }
    };
    let url = format!(
        "{}/.well-known/openid-configuration",
        issuer.trim_end_matches('/')
    );
    let response = match client.get(&url).send().await {
        Ok(response) => response,
        Err(error) => {
            let remedy = http::fault_of(&error).map(|fault| fault.next_step());
            let seen = format!("{issuer}: {}", http::text_of(error));
            let finding = Finding::fault(Fault::ProviderUnreachable, subject, seen);
            return match remedy {
                Some(remedy) => finding.remedy(remedy),
                None => finding,
            };
        }
    };
    let status = response.status();
    let body = http::body(response).await;
    let wrong = |seen: String| Finding::fault(Fault::ProviderDiscovery, subject, seen);
    if !status.is_success() {
        return wrong(format!("{url}: HTTP {status}"));
    }
    let Ok(document) = serde_json::from_slice::<serde_json::Value>(&body) else {
        return wrong(format!("{url} is not JSON"));
    };
    match document["issuer"].as_str() {
        Some(found) if found == issuer => Finding::ok(subject, format!("{issuer} answers")),
        Some(found) => wrong(format!("the provider calls itself {found}, not {issuer}")),
        None => wrong(format!("{url} names no issuer")),
    }
}
