//! An API server over HTTPS, asked with bearer tokens as kubectl does.
use crate::TestEnv;
use anyhow::{Context, Result};
use reqwest::{Certificate, Client, Method, RequestBuilder};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;
use uuid::Uuid;

/// One cluster's API.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Portico's name for it.
    pub id: Uuid,
    /// kube-auth's public key for its tokens.
    pub sealing_key_file: PathBuf,
    url: String,
    client: Client,
}

/// The API as one user.
#[derive(Clone, Debug)]
pub struct Bearer<'c> {
    cluster: &'c Cluster,
    token: SecretString,
}

impl Cluster {
    /// Returns the stack's cluster with nodes.
    ///
    /// # Errors
    /// If the stack has none.
    pub fn of_stack(env: &TestEnv) -> Result<Self> {
        let ca = std::fs::read(env.get("KUBE_CA_FILE")?)?;
        Ok(Self {
            id: env.get("CLUSTER_ID")?.parse()?,
            sealing_key_file: env.installation().join("keys/kube-auth-1.pub"),
            url: env.get("KUBE_API_URL")?.to_owned(),
            client: client(&ca)?,
        })
    }

    /// Returns the API of another API server.
    ///
    /// # Errors
    /// If the authority is not PEM.
    pub fn at(url: &str, ca_pem: &str, id: Uuid, sealing_key_file: &Path) -> Result<Self> {
        Ok(Self {
            id,
            sealing_key_file: sealing_key_file.to_owned(),
            url: url.to_owned(),
            client: client(ca_pem.as_bytes())?,
        })
    }

    /// Returns the API with a bearer token.
    pub fn with_token(&self, token: &str) -> Bearer<'_> {
        Bearer {
            cluster: self,
            token: token.to_owned().into(),
        }
    }
}

impl Bearer<'_> {
    /// Returns the status and body of a `GET`.
    ///
    /// # Errors
    /// If the API server does not answer.
    pub async fn get(&self, path: &str) -> Result<(u16, Value)> {
        self.send(Method::GET, path, None).await
    }

    /// Sends the same with more headers.
    ///
    /// # Errors
    /// If the API server does not answer.
    pub async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Result<(u16, Value)> {
        let mut request = self.request(Method::GET, path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        answer(request).await
    }

    /// Returns the status and body of a `POST`.
    ///
    /// # Errors
    /// If the API server does not answer.
    pub async fn post(&self, path: &str, body: Value) -> Result<(u16, Value)> {
        self.send(Method::POST, path, Some(body)).await
    }

    /// Returns the status and body of a `PUT`.
    ///
    /// # Errors
    /// If the API server does not answer.
    pub async fn put(&self, path: &str, body: Value) -> Result<(u16, Value)> {
        self.send(Method::PUT, path, Some(body)).await
    }

    /// Returns the status and body of a `PATCH` with a JSON Patch (RFC 6902).
    ///
    /// # Errors
    /// If the API server does not answer.
    pub async fn patch(&self, path: &str, patch: &Value) -> Result<(u16, Value)> {
        let request = self
            .request(Method::PATCH, path)
            .header("content-type", "application/json-patch+json")
            .body(patch.to_string());
        answer(request).await
    }

    /// Returns the status and body of a `DELETE`.
    ///
    /// # Errors
    /// If the API server does not answer.
    pub async fn delete(&self, path: &str) -> Result<(u16, Value)> {
        self.send(Method::DELETE, path, None).await
    }

    /// Returns whether the API server authenticates the user: any response but 401.
    ///
    /// # Errors
    /// If the API server does not answer.
    pub async fn is_known(&self) -> Result<bool> {
        Ok(self.get("/api/v1/nodes").await?.0 != 401)
    }

    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Result<(u16, Value)> {
        let request = self.request(method, path);
        answer(match body {
            Some(body) => request.json(&body),
            None => request,
        })
        .await
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.cluster
            .client
            .request(method, format!("{}{path}", self.cluster.url))
            .bearer_auth(self.token.expose_secret())
    }
}

async fn answer(request: RequestBuilder) -> Result<(u16, Value)> {
    let response = request.send().await.context("ask the API server")?;
    let status = response.status().as_u16();
    let bytes = response.bytes().await?;
    Ok((status, serde_json::from_slice(&bytes).unwrap_or_default()))
}

fn client(ca: &[u8]) -> Result<Client> {
    // a second installation fails, and means that there is one already
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .timeout(Duration::from_secs(40))
        .tls_built_in_root_certs(false);
    for certificate in Certificate::from_pem_bundle(ca)? {
        builder = builder.add_root_certificate(certificate);
    }
    Ok(builder.build()?)
}
