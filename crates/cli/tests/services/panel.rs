//! The panel in a user's browser: a session at the stack's gateway, and the panel's server functions with
//! what its pages send.
use crate::tenant::Tenant;
use portico_domain::panel::lifecycle::{ClusterJournal, EnrolmentOutcome};
use portico_testkit::TestUser;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, RequestBuilder, Response, StatusCode};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

/// Maximum time of an enrolment: kube-auth learns of a new cluster within ten seconds.
const ENROLMENT_TIMEOUT: Duration = Duration::from_secs(60);
/// Pause between two tries of the page.
const ENROLMENT_INTERVAL: Duration = Duration::from_secs(3);

/// A signed-in browser with a page of the project.
pub struct Panel {
    client: Client,
    origin: String,
    project: String,
    /// The token that a page has for its scripts.
    csrf: String,
    cookies: BTreeMap<String, String>,
}

impl Panel {
    /// Signs the member in with the form of the gateway, and opens the first page of the project.
    pub async fn sign_in(tenant: &Tenant) -> Self {
        Self::sign_in_as(tenant, &tenant.member).await
    }

    /// Does the same with another user.
    pub async fn sign_in_as(tenant: &Tenant, user: &TestUser) -> Self {
        let mut client = Client::builder().redirect(Policy::none());
        if let Some(file) = tenant.env.optional("PORTICO_CA_FILE") {
            let pem = std::fs::read(file).unwrap();
            client = client.add_root_certificate(Certificate::from_pem(&pem).unwrap());
        }
        let origin = tenant.env.get("PORTICO_URL").unwrap();
        let mut panel = Self {
            client: client.build().unwrap(),
            origin: origin.trim_end_matches('/').to_owned(),
            project: tenant.project.clone(),
            csrf: String::new(),
            cookies: BTreeMap::new(),
        };
        let form = panel.page("/oauth2/sign_in?rd=/").await;
        let fields = [
            ("csrf_token", value(&form, "name=\"csrf_token\"", "value")),
            ("rd", value(&form, "name=\"rd\"", "value")),
            ("name", user.name.as_str()),
            ("password", user.password.expose_secret()),
            ("domain", "Default"),
        ];
        let request = panel
            .client
            .post(format!("{}/oauth2/sign_in", panel.origin))
            .header("sec-fetch-mode", "navigate")
            .header("origin", panel.origin.as_str())
            .form(fields.as_slice());
        let response = panel.send(request).await;
        let status = response.status();
        let text = response.text().await.unwrap();
        assert_eq!(status, StatusCode::SEE_OTHER, "{text}");
        let page = panel.page(&format!("/projects/{}", tenant.project)).await;
        panel.csrf = value(&page, "name=\"csrf-token\"", "content").to_owned();
        panel
    }

    /// Enrols a cluster, as its page does.
    pub async fn enrol(&mut self, cluster: Uuid) {
        let deadline = Instant::now() + ENROLMENT_TIMEOUT;
        loop {
            let outcome = self.call("enrol", &json!({"cluster": cluster})).await;
            let parsed: EnrolmentOutcome = serde_json::from_str(&outcome).unwrap();
            match parsed {
                EnrolmentOutcome::Enrolled { .. } => return,
                EnrolmentOutcome::Later { .. } | EnrolmentOutcome::WaitingForConfiguration(_) => {}
                EnrolmentOutcome::Refused { reason, .. } => panic!("{reason}"),
            }
            assert!(Instant::now() < deadline, "{outcome}");
            sleep(ENROLMENT_INTERVAL).await;
        }
    }

    /// Removes the record of an enrolled cluster that was deleted; returns whether there was one.
    pub async fn remove_record(&mut self, cluster: Uuid) -> bool {
        let body = json!({"cluster": cluster});
        let removed = self.call("remove_record", &body).await;
        serde_json::from_str(&removed).unwrap()
    }

    /// Returns a cluster and its running operation, as its page asks for it.
    pub async fn progress(&mut self, cluster: Uuid) -> Value {
        let body = json!({"cluster": cluster, "version": null});
        let update = self.call("progress", &body).await;
        let mut update: Value = serde_json::from_str(&update).unwrap();
        update["changed"].take()
    }

    /// Protects a cluster from deletion, or removes the protection with its name.
    pub async fn set_protection(&mut self, cluster: Uuid, is_on: bool, typed: &str) {
        let body = json!({"cluster": cluster, "is_on": is_on, "typed": typed});
        let set = self.call("set_protection", &body).await;
        let set: Value = serde_json::from_str(&set).unwrap();
        assert_eq!(set["protected"].is_object(), is_on, "{set}");
    }

    /// Looks at a cluster, so that it is followed.
    pub async fn look(&mut self, cluster: Uuid) {
        self.call("progress", &json!({"cluster": cluster, "version": null}))
            .await;
    }

    /// Returns the first page of a cluster's journal.
    pub async fn journal(&mut self, cluster: Uuid) -> ClusterJournal {
        let body = json!({"cluster": cluster, "before": null});
        let journal = self.call("journal", &body).await;
        serde_json::from_str(&journal).unwrap()
    }

    /// Returns the page with the entries of the audit log about the member.
    pub async fn activity(&mut self) -> String {
        self.page("/oauth2/audit").await
    }

    /// Approves the command line that waits with a code.
    pub async fn approve(&mut self, code: &str) {
        let page = self.page(&format!("/oauth2/device?user_code={code}")).await;
        let fields = [
            ("csrf_token", value(&page, "name=\"csrf_token\"", "value")),
            ("user_code", code),
            ("decision", "approve"),
        ];
        let request = self
            .client
            .post(format!("{}/oauth2/device/decision", self.origin))
            .header("sec-fetch-mode", "navigate")
            .header("origin", self.origin.as_str())
            .form(fields.as_slice());
        let response = self.send(request).await;
        let status = response.status();
        let text = response.text().await.unwrap();
        assert!(status.is_success(), "{status} {text}");
    }

    /// Sends a request to the cloud API of the command line as a page of the browser can, and returns its
    /// status.
    pub async fn cloud_api(&mut self, path: &str) -> StatusCode {
        let url = format!("{}/projects/{}/cloud/{path}", self.origin, self.project);
        let request = self
            .client
            .delete(url)
            .header("origin", self.origin.as_str())
            .header("accept", "application/json")
            .header("x-csrf-token", self.csrf.as_str());
        self.send(request).await.status()
    }

    /// Calls a server function for managed clusters, and returns its JSON.
    async fn call(&mut self, function: &str, body: &Value) -> String {
        let function = format!("managed_clusters/{function}");
        let (status, text) = self.request(&function, body).await;
        assert!(status.is_success(), "{function}: {status} {text}");
        text
    }

    /// Calls a server function, and returns the status and the text of the response.
    pub async fn request(&mut self, function: &str, body: &Value) -> (StatusCode, String) {
        let request = self
            .client
            .post(format!("{}/api/{function}", self.origin))
            .header("origin", self.origin.as_str())
            .header("accept", "application/json")
            .header("portico-project", self.project.as_str())
            .header("x-csrf-token", self.csrf.as_str())
            .json(body);
        let response = self.send(request).await;
        (response.status(), response.text().await.unwrap())
    }

    async fn page(&mut self, path: &str) -> String {
        let request = self
            .client
            .get(format!("{}{path}", self.origin))
            .header("sec-fetch-mode", "navigate")
            .header("accept", "text/html");
        let response = self.send(request).await;
        let status = response.status();
        assert_eq!(status, StatusCode::OK, "{path}");
        response.text().await.unwrap()
    }

    /// Sends a request with the cookies, and stores those of the response.
    async fn send(&mut self, request: RequestBuilder) -> Response {
        let cookies: Vec<_> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let request = if cookies.is_empty() {
            request
        } else {
            request.header("cookie", cookies.join("; "))
        };
        let response = request.send().await.unwrap();
        for line in response.headers().get_all("set-cookie") {
            let line = line.to_str().unwrap();
            let (name, rest) = line.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap_or_default();
            if line.to_ascii_lowercase().contains("max-age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        response
    }
}

/// Returns the first attribute of this name after a text of a page.
fn value<'a>(page: &'a str, after: &str, attribute: &str) -> &'a str {
    let found = page.split_once(after).and_then(|(_, rest)| {
        let (_, rest) = rest.split_once(&format!("{attribute}=\""))?;
        Some(rest.split_once('"')?.0)
    });
    found.unwrap_or_else(|| panic!("no {after}: {page}"))
}
