//! The served panel, and requests to it as the gateway would pass them on.
use super::calls::{Body, Call, Target};
use crate::stack::{CSRF, PUBLIC_URL, Stack};
use app::routes::ROUTES;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use k8s_openapi::api::apps::v1::Deployment;
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use tokio_tungstenite::{
    connect_async,
    tungstenite::{self, client::IntoClientRequest},
};
use uuid::Uuid;

pub struct Site {
    pub stack: Stack,
    pub address: String,
    client: reqwest::Client,
}

/// A response, read whole.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.body))
    }

    /// Everything that the client has received.
    pub fn everything(&self) -> String {
        format!("{:?}\n{}", self.headers, self.body)
    }
}

impl Site {
    pub async fn open() -> Self {
        Self::of(Stack::open()).await
    }

    pub async fn of(stack: Stack) -> Self {
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self {
            address: stack.serve().await,
            stack,
            client,
        }
    }

    /// The headers of a user in acme.
    pub async fn user(&self, name: &str) -> HeaderMap {
        self.stack.headers(name, self.acme()).await
    }

    pub fn acme(&self) -> &str {
        self.stack.var("PROJECT_ID_ACME")
    }

    /// Calls a server function as a page's script does.
    pub async fn call(&self, user: &HeaderMap, call: &Call) -> Answer {
        self.call_with(user, call, &[("x-csrf-token", CSRF)]).await
    }

    /// The same with these headers only.
    pub async fn call_with(&self, user: &HeaderMap, call: &Call, more: &[(&str, &str)]) -> Answer {
        let url = format!("http://{}{}", self.address, call.path);
        let mut headers = user.clone();
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        for (name, value) in more {
            headers.insert(
                name.parse::<HeaderName>().unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        let request = self.client.post(url).headers(headers);
        read(match &call.body {
            Body::Json(body) => request.json(body),
            Body::Form(fields) => request.form(fields),
        })
        .await
    }

    pub async fn post(&self, user: &HeaderMap, path: &'static str, body: Value) -> Answer {
        let call = Call {
            path,
            body: Body::Json(body),
            changes: false,
            status: 200,
        };
        self.call(user, &call).await
    }

    pub async fn get(&self, user: &HeaderMap, path: &str) -> Answer {
        let request = self.client.get(format!("http://{}{path}", self.address));
        let headers = user.clone();
        read(request.headers(headers).header("accept", "text/html")).await
    }

    pub async fn raw(&self, user: &HeaderMap, path: &str, kind: &str, body: String) -> Answer {
        let request = self.client.post(format!("http://{}{path}", self.address));
        let request = request.headers(user.clone()).header("x-csrf-token", CSRF);
        read(request.header("content-type", kind).body(body)).await
    }

    /// The HTTP status of the answer to an upgrade with these origins.
    pub async fn upgrade(&self, user: &HeaderMap, path: &str, origins: &[&str]) -> u16 {
        let mut request = format!("ws://{}{path}", self.address)
            .into_client_request()
            .unwrap();
        request.headers_mut().extend(user.clone());
        for origin in origins {
            request
                .headers_mut()
                .append("origin", origin.parse().unwrap());
        }
        match connect_async(request).await {
            Ok((_, answer)) => answer.status().as_u16(),
            Err(tungstenite::Error::Http(answer)) => answer.status().as_u16(),
            Err(error) => panic!("{path}: {error}"),
        }
    }

    /// The addresses of all pages, about one object.
    pub fn pages(&self, cluster: &str, namespace: &str, plural: &str, name: &str) -> Vec<String> {
        pages(self.acme(), cluster, namespace, plural, name)
    }

    /// The addresses of the streams and of the download.
    pub fn streams(&self, project: &str, cluster: &str) -> [String; 3] {
        let base = format!("/projects/{project}/clusters/{cluster}");
        [
            format!("/projects/{project}/stream"),
            format!("{base}/namespaces/shop/pods/any/exec"),
            format!("{base}/kubeconfig"),
        ]
    }

    /// Makes a Deployment without pods that only administrators see.
    pub async fn hidden_deployment(&self) -> Hidden {
        let name = format!("canary-{}", &Uuid::new_v4().simple().to_string()[..12]);
        let api = Api::<Deployment>::namespaced(self.stack.admin().await, "kube-system");
        let object = serde_json::from_value(json!({
            "metadata": { "name": name, "labels": { "app": name } },
            "spec": { "replicas": 0, "selector": { "matchLabels": { "app": name } },
                "template": { "metadata": { "labels": { "app": name } },
                    "spec": { "containers": [{ "name": "c", "image": "none" }] } } },
        }))
        .unwrap();
        let made = api.create(&Default::default(), &object).await.unwrap();
        Hidden {
            target: Target {
                cluster: self.stack.acme().to_string(),
                namespace: "kube-system".to_owned(),
                name,
                uid: made.uid().unwrap(),
            },
            api,
        }
    }

    /// A target that is there for those who may read the namespace `shop`.
    pub fn storefront(&self) -> Target {
        Target {
            cluster: self.stack.acme().to_string(),
            namespace: "shop".to_owned(),
            name: "storefront".to_owned(),
            uid: "00000000-0000-4000-8000-000000000000".to_owned(),
        }
    }
}

/// A Deployment in `kube-system`. Deleted by its test's `done`.
pub struct Hidden {
    pub target: Target,
    api: Api<Deployment>,
}

impl Hidden {
    /// Whether nothing has changed it, its controller's status aside.
    pub async fn is_untouched(&self) -> bool {
        let now = self.api.get(&self.target.name).await.unwrap();
        let template = now.spec.as_ref().unwrap().template.metadata.clone();
        let annotations = template.and_then(|metadata| metadata.annotations);
        now.uid().as_deref() == Some(&self.target.uid)
            && now.metadata.generation == Some(1)
            && annotations.is_none_or(|found| found.is_empty())
    }

    pub async fn done(self) {
        let _ = self
            .api
            .delete(&self.target.name, &Default::default())
            .await;
    }
}

/// The addresses of all pages of the route table, about one object of the core group.
pub fn pages(
    project: &str,
    cluster: &str,
    namespace: &str,
    plural: &str,
    name: &str,
) -> Vec<String> {
    let mut found = Vec::new();
    for route in ROUTES {
        let path = route
            .path
            .replace(":project", project)
            .replace(":cluster", cluster)
            .replace(":namespace", namespace)
            .replace(":group", "core")
            .replace(":version", "v1")
            .replace(":plural", plural)
            .replace(":name", name)
            .replace(":app", "registry")
            .replace(":page", "create");
        if let Some(base) = path.strip_suffix("/:tab?") {
            for tab in ["", "/yaml", "/events", "/logs", "/terminal"] {
                found.push(format!("{base}{tab}"));
            }
        } else {
            found.push(path);
        }
    }
    assert!(found.iter().all(|path| !path.contains(':')), "{found:?}");
    found
}

async fn read(request: reqwest::RequestBuilder) -> Answer {
    let answer = request.send().await.unwrap();
    Answer {
        status: answer.status().as_u16(),
        headers: answer.headers().clone(),
        body: answer.text().await.unwrap(),
    }
}

/// Origins of pages that are not the panel's.
pub fn foreign_origins() -> Vec<Vec<String>> {
    let host = PUBLIC_URL.trim_start_matches("http://");
    let (name, port) = host.split_once(':').unwrap();
    let one = |origin: String| vec![origin];
    vec![
        vec![],
        one("null".to_owned()),
        one("https://evil.example".to_owned()),
        one(format!("{PUBLIC_URL}.evil.example")),
        one(format!("http://{name}.evil.example:{port}")),
        one(format!("http://evil{name}:{port}")),
        one(format!("http://evil.{name}:{port}")),
        one(format!("http://prometheus.apps.{host}")),
        one(format!("http://{name}:1{port}")),
        one(format!("http://{name}")),
        one(format!("https://{host}")),
        one(format!("{PUBLIC_URL}/")),
        one(format!("http://user@{host}")),
        vec![PUBLIC_URL.to_owned(), "https://evil.example".to_owned()],
        vec!["https://evil.example".to_owned(), PUBLIC_URL.to_owned()],
    ]
}
