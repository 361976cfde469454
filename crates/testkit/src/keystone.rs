//! What a test makes in the real Keystone, as its administrator.
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
    /// When Keystone does not answer, or refuses.
    pub async fn sign_in(env: &TestEnv) -> Result<Self> {
        let url = env.get("KEYSTONE_URL")?.trim_end_matches('/').to_owned();
        let client = client()?;
        let password = env.get("KEYSTONE_ADMIN_PASSWORD")?;
        let scope = json!({ "project": { "name": "admin", "domain": { "id": "default" } } });
        let token = issue(&client, &url, "admin", password, &scope).await?;
        Ok(Self { client, url, token })
    }

    /// A new user in the domain `Default`; the name starts with `prefix`.
    ///
    /// # Errors
    /// When Keystone refuses.
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

    /// A new domain; returns its ID. The name starts with `prefix`.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn create_domain(&self, prefix: &str) -> Result<TestDomain> {
        let name = unique(prefix);
        let domain = json!({ "domain": { "name": name } });
        let created = self.post("/domains", domain).await?;
        Ok(TestDomain {
            id: text(&created, "/domain/id")?,
            name,
        })
    }

    /// A new user of exactly this name, in a domain of the test's own.
    ///
    /// # Errors
    /// When Keystone refuses.
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

    /// A new project of exactly this name; returns its ID.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn create_project_called(&self, name: &str, domain: &TestDomain) -> Result<String> {
        let project = json!({ "project": { "name": name, "domain_id": domain.id } });
        let created = self.post("/projects", project).await?;
        text(&created, "/project/id")
    }

    /// Disables a domain and deletes it with all that is in it.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn delete_domain(&self, domain: &TestDomain) -> Result<()> {
        let path = format!("/domains/{}", domain.id);
        self.patch(&path, json!({ "domain": { "enabled": false } }))
            .await?;
        self.delete(&path).await
    }

    /// `GET` below the API's version.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn get(&self, path: &str) -> Result<Value> {
        self.call(Method::GET, path, None).await
    }

    /// `POST` below the API's version.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn post(&self, path: &str, body: Value) -> Result<Value> {
        self.call(Method::POST, path, Some(body)).await
    }

    /// `PATCH` below the API's version.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn patch(&self, path: &str, body: Value) -> Result<Value> {
        self.call(Method::PATCH, path, Some(body)).await
    }

    /// `PUT` without a body, below the API's version.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn put(&self, path: &str) -> Result<Value> {
        self.call(Method::PUT, path, None).await
    }

    /// `DELETE` below the API's version.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn delete(&self, path: &str) -> Result<()> {
        self.call(Method::DELETE, path, None).await.map(drop)
    }

    /// The same calls with somebody else's token.
    #[must_use]
    pub fn as_user(&self, token: &SecretString) -> Self {
        Self {
            token: token.clone(),
            ..self.clone()
        }
    }

    /// The administrator's own token, scoped to the project `admin`.
    pub fn token(&self) -> &SecretString {
        &self.token
    }

    /// A new project in the domain `Default`; returns its ID.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn create_project(&self, prefix: &str) -> Result<String> {
        let project = json!({ "project": { "name": unique(prefix), "domain_id": "default" } });
        let created = self.call(Method::POST, "/projects", Some(project)).await?;
        text(&created, "/project/id")
    }

    /// Gives a user a role in a project, all by ID.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn grant(&self, user: &str, project: &str, role: &str) -> Result<()> {
        let path = format!("/projects/{project}/users/{user}/roles/{role}");
        self.call(Method::PUT, &path, None).await.map(drop)
    }

    /// Gives a user a role in the whole cloud, by the role's name.
    ///
    /// # Errors
    /// When Keystone refuses, or has no such role.
    pub async fn grant_system(&self, user: &str, role_name: &str) -> Result<()> {
        let role = self.role_id(role_name).await?;
        let path = format!("/system/users/{user}/roles/{role}");
        self.call(Method::PUT, &path, None).await.map(drop)
    }

    /// Gives a user a role in the domain `Default`, by the role's name.
    ///
    /// # Errors
    /// When Keystone refuses, or has no such role.
    pub async fn grant_domain(&self, user: &str, role_name: &str) -> Result<()> {
        let role = self.role_id(role_name).await?;
        let path = format!("/domains/default/users/{user}/roles/{role}");
        self.call(Method::PUT, &path, None).await.map(drop)
    }

    /// The ID of a role that every cloud has.
    ///
    /// # Errors
    /// When Keystone refuses, or has no such role.
    pub async fn role_id(&self, name: &str) -> Result<String> {
        let path = format!("/roles?name={name}");
        let found = self.call(Method::GET, &path, None).await?;
        text(&found, "/roles/0/id")
    }

    /// A new role; returns its ID. Roles are the whole cloud's: delete it again.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn create_role(&self, name: &str) -> Result<String> {
        let role = json!({ "role": { "name": name } });
        let created = self.call(Method::POST, "/roles", Some(role)).await?;
        text(&created, "/role/id")
    }

    /// Deletes a role, and with it all its assignments.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn delete_role(&self, role: &str) -> Result<()> {
        let path = format!("/roles/{role}");
        self.call(Method::DELETE, &path, None).await.map(drop)
    }

    /// Changes a project, for example `{"enabled": false}`.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn change_project(&self, project: &str, change: Value) -> Result<()> {
        let path = format!("/projects/{project}");
        let body = json!({ "project": change });
        self.call(Method::PATCH, &path, Some(body)).await.map(drop)
    }

    /// Deletes a project, and with it the role assignments in it.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn delete_project(&self, project: &str) -> Result<()> {
        let path = format!("/projects/{project}");
        self.call(Method::DELETE, &path, None).await.map(drop)
    }

    /// Takes a role away again.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn revoke(&self, user: &str, project: &str, role: &str) -> Result<()> {
        let path = format!("/projects/{project}/users/{user}/roles/{role}");
        self.call(Method::DELETE, &path, None).await.map(drop)
    }

    /// Asks a user for a one-time code at each sign-in; returns the secret (base32) of the codes.
    ///
    /// # Errors
    /// When Keystone refuses.
    pub async fn require_totp(&self, user: &str) -> Result<String> {
        // any 20 bytes will do: the user is one test's own
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

    /// Deletes a user, which also ends their tokens.
    ///
    /// # Errors
    /// When Keystone refuses.
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
