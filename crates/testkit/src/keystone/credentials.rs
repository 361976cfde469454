//! Tokens and application credentials.
use super::{KeystoneAdmin, TestUser, accepted, text, unique};
use anyhow::{Context, Result, bail};
use reqwest::{Client, Method, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

impl KeystoneAdmin {
    /// Returns a token of a user, scoped to a project.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn token_of(&self, user: &TestUser, project: &str) -> Result<SecretString> {
        let scope = json!({ "project": { "id": project } });
        let password = user.password.expose_secret();
        issue(&self.client, &self.url, &user.name, password, &scope).await
    }

    /// Returns a token of a user with a scope in the API's own words, or without one.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn token_with_scope(&self, user: &TestUser, scope: Value) -> Result<SecretString> {
        let user = json!({ "id": user.id, "password": user.password.expose_secret() });
        token(&self.client, &self.url, user, scope).await
    }

    /// Returns whether Keystone still accepts a token.
    ///
    /// # Errors
    /// If Keystone does not respond, or the response is neither.
    pub async fn token_is_good(&self, token: &SecretString) -> Result<bool> {
        let response = self
            .client
            .get(format!("{}/auth/tokens?nocatalog", self.url))
            .header("x-auth-token", self.token.expose_secret())
            .header("x-subject-token", token.expose_secret())
            .send()
            .await?;
        match response.status() {
            StatusCode::OK => Ok(true),
            StatusCode::NOT_FOUND => Ok(false),
            other => bail!("Keystone answered {other} to a validation"),
        }
    }

    /// Creates an application credential of a user for a project, as that user; returns ID and
    /// secret.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn application_credential(
        &self,
        user: &TestUser,
        project: &str,
        access_rules: Option<Value>,
    ) -> Result<(String, SecretString)> {
        let own = self.as_user(&self.token_of(user, project).await?);
        let mut credential = json!({ "name": unique("ci") });
        if let Some(rules) = access_rules {
            credential["access_rules"] = rules;
        }
        let path = format!("/users/{}/application_credentials", user.id);
        let body = json!({ "application_credential": credential });
        let created = own.call(Method::POST, &path, Some(body)).await?;
        Ok((
            text(&created, "/application_credential/id")?,
            text(&created, "/application_credential/secret")?.into(),
        ))
    }

    /// Issues a token for a body of `POST /auth/tokens`.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn issue(&self, body: &Value) -> Result<SecretString> {
        issued(&self.client, &self.url, body).await
    }

    /// Revokes any user's token.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn revoke_token(&self, token: &SecretString) -> Result<()> {
        let response = self
            .client
            .delete(format!("{}/auth/tokens", self.url))
            .header("x-auth-token", self.token.expose_secret())
            .header("x-subject-token", token.expose_secret())
            .send()
            .await?;
        accepted(response, "/auth/tokens").map(drop)
    }
}

pub(super) async fn issue(
    client: &Client,
    url: &str,
    name: &str,
    password: &str,
    scope: &Value,
) -> Result<SecretString> {
    let user = json!({ "name": name, "domain": { "id": "default" }, "password": password });
    token(client, url, user, scope.clone()).await
}

async fn token(client: &Client, url: &str, user: Value, scope: Value) -> Result<SecretString> {
    let identity = json!({ "methods": ["password"], "password": { "user": user } });
    let body = json!({ "auth": { "identity": identity, "scope": scope } });
    issued(client, url, &body).await
}

async fn issued(client: &Client, url: &str, body: &Value) -> Result<SecretString> {
    let response = client
        .post(format!("{url}/auth/tokens?nocatalog"))
        .json(body)
        .send()
        .await?;
    let response = accepted(response, "/auth/tokens")?;
    let token = response
        .headers()
        .get("x-subject-token")
        .context("Keystone's answer has no X-Subject-Token")?;
    Ok(token.to_str()?.into())
}
