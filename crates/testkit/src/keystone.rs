//! Objects that a test creates in the real Keystone, as its administrator.
mod credentials;
mod federation;

use crate::TestEnv;
use anyhow::{Context, Result, bail};
use credentials::issue;
pub use federation::{FederatedPerson, TestIdentityProvider, single_sign_on};
use reqwest::{Client, Method, Response};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// An administrator's token and what it can do.
#[derive(Clone, Debug)]
pub struct KeystoneAdmin {
    client: Client,
    url: String,
    token: SecretString,
}

/// A user of one test's own.
#[derive(Clone, Debug)]
pub struct TestUser {
    pub id: String,
    pub name: String,
    pub password: SecretString,
}

/// A domain of one test's own.
#[derive(Clone, Debug)]
pub struct TestDomain {
    pub id: String,
    pub name: String,
}

impl KeystoneAdmin {
    /// Signs in with `KEYSTONE_ADMIN_PASSWORD`.
    ///
    /// # Errors
    /// If Keystone does not answer, or refuses.
    pub async fn sign_in(env: &TestEnv) -> Result<Self> {
        let url = env.get("KEYSTONE_URL")?.trim_end_matches('/').to_owned();
        let client = client()?;
        let password = env.get("KEYSTONE_ADMIN_PASSWORD")?;
        let scope = json!({ "project": { "name": "admin", "domain": { "id": "default" } } });
        let token = issue(&client, &url, "admin", password, &scope).await?;
        Ok(Self { client, url, token })
    }

    /// Creates a user in the domain `Default`; the name starts with `prefix`.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn create_user(&self, prefix: &str) -> Result<TestUser> {
        let name = unique(prefix);
        let password = unique("password");
        let user =
            json!({ "user": { "name": name, "domain_id": "default", "password": password } });
        let created = self.call(Method::POST, "/users", Some(user)).await?;
        Ok(TestUser {
            id: text(&created, "/user/id")?,
            name,
            password: password.into(),
        })
    }

    /// Creates a domain; returns its ID. The name starts with `prefix`.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn create_domain(&self, prefix: &str) -> Result<TestDomain> {
        let name = unique(prefix);
        let domain = json!({ "domain": { "name": name } });
        let created = self.post("/domains", domain).await?;
        Ok(TestDomain {
            id: text(&created, "/domain/id")?,
            name,
        })
    }

    /// Creates a user with exactly this name, in a domain of the test's own.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn create_user_called(&self, name: &str, domain: &TestDomain) -> Result<TestUser> {
        let password = unique("password");
        let user =
            json!({ "user": { "name": name, "domain_id": domain.id, "password": password } });
        let created = self.post("/users", user).await?;
        Ok(TestUser {
            id: text(&created, "/user/id")?,
            name: name.to_owned(),
            password: password.into(),
        })
    }

    /// Creates a project with exactly this name; returns its ID.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn create_project_called(&self, name: &str, domain: &TestDomain) -> Result<String> {
        let project = json!({ "project": { "name": name, "domain_id": domain.id } });
        let created = self.post("/projects", project).await?;
        text(&created, "/project/id")
    }

    /// Disables a domain and deletes it with everything in it.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn delete_domain(&self, domain: &TestDomain) -> Result<()> {
        let path = format!("/domains/{}", domain.id);
        self.patch(&path, json!({ "domain": { "enabled": false } }))
            .await?;
        self.delete(&path).await
    }

    /// Sends a `GET` below the API's version.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn get(&self, path: &str) -> Result<Value> {
        self.call(Method::GET, path, None).await
    }

    /// Sends a `POST` below the API's version.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn post(&self, path: &str, body: Value) -> Result<Value> {
        self.call(Method::POST, path, Some(body)).await
    }

    /// Sends a `PATCH` below the API's version.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn patch(&self, path: &str, body: Value) -> Result<Value> {
        self.call(Method::PATCH, path, Some(body)).await
    }

    /// Sends a `PUT` without a body, below the API's version.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn put(&self, path: &str) -> Result<Value> {
        self.call(Method::PUT, path, None).await
    }

    /// Sends a `DELETE` below the API's version.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn delete(&self, path: &str) -> Result<()> {
        self.call(Method::DELETE, path, None).await.map(drop)
    }

    /// Returns the same client with another user's token.
    #[must_use]
    pub fn as_user(&self, token: &SecretString) -> Self {
        Self {
            token: token.clone(),
            ..self.clone()
        }
    }

    /// Returns the administrator's own token, scoped to the project `admin`.
    pub fn token(&self) -> &SecretString {
        &self.token
    }

    /// Creates a project in the domain `Default`; returns its ID.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn create_project(&self, prefix: &str) -> Result<String> {
        let project = json!({ "project": { "name": unique(prefix), "domain_id": "default" } });
        let created = self.call(Method::POST, "/projects", Some(project)).await?;
        text(&created, "/project/id")
    }

    /// Gives a user a role in a project, all by ID.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn grant(&self, user: &str, project: &str, role: &str) -> Result<()> {
        let path = format!("/projects/{project}/users/{user}/roles/{role}");
        self.call(Method::PUT, &path, None).await.map(drop)
    }

    /// Gives a user a role in the whole cloud, by the role's name.
    ///
    /// # Errors
    /// If Keystone refuses, or has no such role.
    pub async fn grant_system(&self, user: &str, role_name: &str) -> Result<()> {
        let role = self.role_id(role_name).await?;
        let path = format!("/system/users/{user}/roles/{role}");
        self.call(Method::PUT, &path, None).await.map(drop)
    }

    /// Gives a user a role in the domain `Default`, by the role's name.
    ///
    /// # Errors
    /// If Keystone refuses, or has no such role.
    pub async fn grant_domain(&self, user: &str, role_name: &str) -> Result<()> {
        let role = self.role_id(role_name).await?;
        let path = format!("/domains/default/users/{user}/roles/{role}");
        self.call(Method::PUT, &path, None).await.map(drop)
    }

    /// Returns the ID of a role that every cloud has.
    ///
    /// # Errors
    /// If Keystone refuses, or has no such role.
    pub async fn role_id(&self, name: &str) -> Result<String> {
        let path = format!("/roles?name={name}");
        let found = self.call(Method::GET, &path, None).await?;
        text(&found, "/roles/0/id")
    }

    /// Creates a role; returns its ID. Roles belong to the whole cloud: delete it again.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn create_role(&self, name: &str) -> Result<String> {
        let role = json!({ "role": { "name": name } });
        let created = self.call(Method::POST, "/roles", Some(role)).await?;
        text(&created, "/role/id")
    }

    /// Deletes a role, and with it all its assignments.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn delete_role(&self, role: &str) -> Result<()> {
        let path = format!("/roles/{role}");
        self.call(Method::DELETE, &path, None).await.map(drop)
    }

    /// Changes a project, for example `{"enabled": false}`.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn change_project(&self, project: &str, change: Value) -> Result<()> {
        let path = format!("/projects/{project}");
        let body = json!({ "project": change });
        self.call(Method::PATCH, &path, Some(body)).await.map(drop)
    }

    /// Deletes a project, and with it the role assignments in it.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn delete_project(&self, project: &str) -> Result<()> {
        let path = format!("/projects/{project}");
        self.call(Method::DELETE, &path, None).await.map(drop)
    }

    /// Revokes a role.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn revoke(&self, user: &str, project: &str, role: &str) -> Result<()> {
        let path = format!("/projects/{project}/users/{user}/roles/{role}");
        self.call(Method::DELETE, &path, None).await.map(drop)
    }

    /// Requires a one-time code from a user at each sign-in; returns the secret (base32) of the
    /// codes.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn require_totp(&self, user: &str) -> Result<String> {
        // any 20 bytes are sufficient: the user belongs to one test
        let secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP";
        let credential =
            json!({ "credential": { "type": "totp", "user_id": user, "blob": secret } });
        self.call(Method::POST, "/credentials", Some(credential))
            .await?;
        let options = json!({
            "multi_factor_auth_enabled": true,
            "multi_factor_auth_rules": [["password", "totp"]],
        });
        let path = format!("/users/{user}");
        let body = json!({ "user": { "options": options } });
        self.call(Method::PATCH, &path, Some(body)).await?;
        Ok(secret.to_owned())
    }

    /// Deletes a user, which also revokes their tokens.
    ///
    /// # Errors
    /// If Keystone refuses.
    pub async fn delete_user(&self, user: &str) -> Result<()> {
        // deleted with the user, they leave rows behind on SQLite that the next ones inherit
        let path = format!("/users/{user}/application_credentials");
        let listed = self.call(Method::GET, &path, None).await?;
        let credentials = listed["application_credentials"].as_array();
        for credential in credentials.into_iter().flatten() {
            let path = format!("{path}/{}", text(credential, "/id")?);
            self.call(Method::DELETE, &path, None).await?;
        }
        self.call(Method::DELETE, &format!("/users/{user}"), None)
            .await
            .map(drop)
    }

    async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value> {
        let request = self
            .client
            .request(method, format!("{}{path}", self.url))
            .header("x-auth-token", self.token.expose_secret());
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        let response = accepted(request.send().await?, path)?;
        let bytes = response.bytes().await?;
        if bytes.is_empty() {
            return Ok(Value::Null);
        }
        Ok(serde_json::from_slice(&bytes)?)
    }
}

fn client() -> Result<Client> {
    // a second installation fails, and means that there is one already
    let _ = rustls::crypto::ring::default_provider().install_default();
    Ok(Client::builder().timeout(Duration::from_secs(20)).build()?)
}

fn accepted(response: Response, path: &str) -> Result<Response> {
    let status = response.status();
    if !status.is_success() {
        bail!("Keystone answered {status} to {path}");
    }
    Ok(response)
}

fn text(value: &Value, pointer: &str) -> Result<String> {
    let found = value.pointer(pointer).and_then(Value::as_str);
    Ok(found
        .with_context(|| format!("no {pointer} in the answer"))?
        .to_owned())
}

fn unique(prefix: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let moment = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default()
        .as_nanos();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}-{moment:x}-{number}")
}
