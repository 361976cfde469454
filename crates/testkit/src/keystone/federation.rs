//! Federation by header, as the web server in front of Keystone would do it.
use super::{KeystoneAdmin, accepted, client, unique};
use anyhow::{Context, Result};
use reqwest::Method;
use serde_json::{Value, json};

/// A user, as an OpenID Connect provider describes them to Keystone's web server.
#[derive(Clone, Debug)]
pub struct FederatedPerson<'a> {
    pub issuer: &'a str,
    pub name: &'a str,
    /// Separated by `;`.
    pub groups: &'a str,
}

/// An identity provider in Keystone, of one test's own.
#[derive(Clone, Debug)]
pub struct TestIdentityProvider {
    pub id: String,
    /// The protocol's ID; also the name of the method in tokens.
    pub protocol: String,
}

impl KeystoneAdmin {
    /// Trusts an issuer as an identity provider of one test's own: name, e-mail and groups from
    /// the headers that `mod_auth_openidc` sets, groups by their name in the domain `Default`.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn trust_issuer(&self, issuer: &str) -> Result<TestIdentityProvider> {
        let id = unique("op");
        let provider = format!("/OS-FEDERATION/identity_providers/{id}");
        let trusted = json!({ "remote_ids": [issuer], "enabled": true });
        let trusted = json!({ "identity_provider": trusted });
        self.call(Method::PUT, &provider, Some(trusted)).await?;
        let mapping = format!("/OS-FEDERATION/mappings/{id}");
        let rules = json!({ "mapping": { "rules": mapping_rules(issuer) } });
        self.call(Method::PUT, &mapping, Some(rules)).await?;
        let protocol = json!({ "protocol": { "mapping_id": id } });
        let path = format!("{provider}/protocols/openid");
        self.call(Method::PUT, &path, Some(protocol)).await?;
        Ok(TestIdentityProvider {
            id,
            protocol: "openid".to_owned(),
        })
    }
}

fn mapping_rules(issuer: &str) -> Value {
    json!([{
        "local": [
            { "user": { "name": "{0}", "email": "{1}" } },
            { "groups": "{2}", "domain": { "id": "default" } },
        ],
        "remote": [
            { "type": "HTTP_OIDC_CLAIM_PREFERRED_USERNAME" },
            { "type": "HTTP_OIDC_CLAIM_EMAIL" },
            { "type": "HTTP_OIDC_CLAIM_GROUPS", "whitelist": ["developers", "k8s-admins"] },
            { "type": "HTTP_OIDC_ISS", "any_one_of": [issuer] },
        ],
    }])
}

/// Signs a user in by Keystone's single sign-on (at `url`) and returns the token in its page.
///
/// # Errors
/// If Keystone refuses, or its page has no token.
pub async fn single_sign_on(url: &str, person: &FederatedPerson<'_>) -> Result<String> {
    let response = client()?
        .get(url)
        .header("OIDC-ISS", person.issuer)
        .header("OIDC-CLAIM-PREFERRED-USERNAME", person.name)
        .header("OIDC-CLAIM-EMAIL", format!("{}@example.test", person.name))
        .header("OIDC-CLAIM-GROUPS", person.groups)
        .send()
        .await?;
    let page = accepted(response, "single sign-on")?.text().await?;
    let marker = "name=\"token\" id=\"token\" value=\"";
    let (_, rest) = page.split_once(marker).context("no token in the page")?;
    let (token, _) = rest.split_once('"').context("no end of the token")?;
    Ok(token.to_owned())
}
