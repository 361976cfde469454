//! The stack's API server as an app that gets the user's own cluster token.
use gateway::Cluster;
use http::{Method, StatusCode};
use portico_testkit::TestEnv;
use serde_json::json;

use crate::{
    browser::Browser,
    form::enter,
    keystone::Running,
    stack::{APP, MAIN, Stack, Wanted},
};

/// Starts the stack with the API server as an app that viewers may open, too.
pub async fn in_front_of_the_api_server() -> Running {
    let env = TestEnv::load().expect("the stack's env file");
    let of = |name: &str| env.get(name).expect("a stack with it").to_owned();
    let acme = of("PROJECT_ID_ACME");
    let record = serde_json::from_value(json!({
        "id": of("CLUSTER_ID"), "name": "acme-prod", "owner_project": acme,
        "api_url": of("KUBE_API_URL"),
        "sealing_key_file": env.installation().join("keys/kube-auth-1.pub"),
    }))
    .expect("cluster");
    let stack = Stack::start(Wanted {
        keystone: &of("KEYSTONE_URL"),
        project: &acme,
        roles: &["k8s_admin", "k8s_developer", "k8s_viewer"],
        cluster: Some(Cluster::read(record).expect("cluster")),
        app: json!({
            "url": of("KUBE_API_URL"),
            "upstream": { "ca_file": of("KUBE_CA_FILE") },
            "identity": { "kind": "cluster", "cluster": "acme-prod" },
        }),
        ..Wanted::default()
    })
    .await;
    Running { env, stack, acme }
}

/// Returns the browser of a user who has signed in with a password and opened the app.
pub async fn signed_in(running: &Running, name: &str) -> Browser {
    let mut browser = Browser::new(running.stack.address);
    let page = enter(&mut browser, "/x", name, running.password()).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    let page = browser.follow(&format!("{APP}/version")).await;
    let code = page.field("code");
    let url = format!("{APP}/oauth2/handover");
    browser.submit(MAIN, &url, &[("code", &code)]).await;
    browser
}

/// A Secret that does not exist: viewers must not learn even that.
pub const SECRET: &str = "/api/v1/namespaces/kube-system/secrets/none";

/// Returns the user that the API server identified, from its message about a refusal.
pub async fn taken_for(browser: &mut Browser, headers: &[(&str, &str)]) -> String {
    let url = format!("{APP}{SECRET}");
    let mut all = vec![("accept", "application/json")];
    all.extend(headers);
    let answer = browser.send(Method::GET, &url, &all, String::new()).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let body = answer.json();
    let message = body["message"].as_str().expect("a message").to_owned();
    assert!(
        message.starts_with("secrets \"none\" is forbidden"),
        "{message}"
    );
    let user = message.split('"').nth(3).expect("a user");
    user.to_owned()
}
