//! 7, 13, 14: what a user loses when a role, the account or the project is taken away.
use super::{
    calls::{object, query_of},
    site::Site,
};
use crate::{
    stack::PUBLIC_URL,
    tab::{Socket, connect_with},
};
use axum::http::HeaderMap;
use futures::{SinkExt as _, StreamExt as _};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::Api;
use portico_testkit::{KeystoneAdmin, TestEnv, TestUser};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite;

/// What the design states for streams: a review each minute, and what kube-auth and the API server cache.
const STREAM_BOUND: Duration = Duration::from_secs(110);
/// The same for new requests.
const REQUEST_BOUND: Duration = Duration::from_secs(50);

struct Temporary {
    keystone: KeystoneAdmin,
    user: TestUser,
    role: String,
}

impl Temporary {
    async fn new(site: &Site, role: &str) -> Self {
        let keystone = KeystoneAdmin::sign_in(&TestEnv::load().unwrap())
            .await
            .unwrap();
        let user = keystone.create_user("ending").await.unwrap();
        let role = site.stack.var(role).to_owned();
        keystone.grant(&user.id, site.acme(), &role).await.unwrap();
        // a role that opens nothing stays, so that the user is still one of the project
        let member = site.stack.var("ROLE_ID_MEMBER");
        keystone.grant(&user.id, site.acme(), member).await.unwrap();
        Self {
            keystone,
            user,
            role,
        }
    }

    async fn lose_role(&self, site: &Site) {
        let revoked = self.keystone.revoke(&self.user.id, site.acme(), &self.role);
        revoked.await.unwrap();
    }

    async fn done(self) {
        self.keystone.delete_user(&self.user.id).await.unwrap();
    }
}

fn watch(id: u32, site: &Site, query: &Value) -> Value {
    json!({ "watch": { "id": id, "cluster": site.stack.acme(), "view": { "turn": 1, "query": query, "range": { "offset": 0, "limit": 50 },
            "is_paused": false } } })
}

async fn tab(site: &Site, user: &HeaderMap) -> Socket {
    let path = format!("/projects/{}/stream", site.acme());
    connect_with(user.clone(), &site.address, &path, PUBLIC_URL)
        .await
        .unwrap()
}

async fn ask(socket: &mut Socket, request: &Value) {
    let text = tungstenite::Message::Text(request.to_string().into());
    socket.send(text).await.unwrap();
}

/// The next text that `wanted` takes.
async fn until<T>(
    time: Duration,
    socket: &mut Socket,
    mut wanted: impl FnMut(&str) -> Option<T>,
) -> T {
    let found = async {
        loop {
            let frame = socket.next().await.expect("the stream is open").unwrap();
            if let tungstenite::Message::Text(text) = frame
                && let Some(found) = wanted(&text)
            {
                return found;
            }
        }
    };
    tokio::time::timeout(time, found).await.expect("in time")
}

async fn shop_pod(site: &Site) -> (String, String) {
    let pods = Api::<Pod>::namespaced(site.stack.admin().await, "shop");
    let all = pods.list(&Default::default()).await.unwrap();
    let pod = all.into_iter().find(|pod| {
        let name = pod.metadata.name.as_deref().unwrap_or_default();
        name.starts_with("storefront")
    });
    let pod = pod.unwrap();
    let container = pod.spec.unwrap().containers.remove(0).name;
    (pod.metadata.name.unwrap(), container)
}

#[tokio::test]
async fn flaw_07_terminal_log_and_list_end_when_the_role_is_taken_away() {
    let site = Site::open().await;
    let who = Temporary::new(&site, "ROLE_ID_K8S_DEVELOPER").await;
    let headers = site.stack.headers_of(&who.user).await;
    let (pod, container) = shop_pod(&site).await;
    let mut list = tab(&site, &headers).await;
    ask(
        &mut list,
        &watch(1, &site, &query_of("", "pods", &["shop"], "")),
    )
    .await;
    let mut log = tab(&site, &headers).await;
    let logs = json!({ "logs": { "id": 2, "cluster": site.stack.acme(), "query": {
        "namespace": "shop", "pod": pod, "container": container, "previous": false,
        "follow": true, "timestamps": false, "tail": 5 } } });
    ask(&mut log, &logs).await;
    let exec = format!(
        "/projects/{}/clusters/{}/namespaces/shop/pods/{pod}/exec",
        site.acme(),
        site.stack.acme()
    );
    let mut shell = connect_with(headers.clone(), &site.address, &exec, PUBLIC_URL)
        .await
        .unwrap();
    let soon = Duration::from_secs(10);
    let has = |name: &'static str| {
        move |text: &str| text.starts_with(&format!("{{\"{name}\"")).then_some(())
    };
    until(soon, &mut list, has("snapshot")).await;
    until(soon, &mut log, has("lines")).await;
    until(soon, &mut shell, |text| {
        text.contains("started").then_some(())
    })
    .await;
    // the control case: another user's list continues
    let mut control = tab(&site, &site.user("vera").await).await;
    ask(
        &mut control,
        &watch(1, &site, &query_of("", "pods", &["shop"], "")),
    )
    .await;
    until(soon, &mut control, has("snapshot")).await;

    who.lose_role(&site).await;
    let start = Instant::now();
    tokio::join!(
        until(STREAM_BOUND, &mut list, has("ended")),
        until(STREAM_BOUND, &mut log, has("ended")),
        until(STREAM_BOUND, &mut shell, |text| text
            .contains("\"ended\"")
            .then_some(())),
    );
    assert!(start.elapsed() < STREAM_BOUND);
    ask(
        &mut control,
        &json!({ "object": { "id": 9, "cluster": site.stack.acme(),
        "object": object("", "pods", Some("shop"), "there-is-no-such-pod") } }),
    )
    .await;
    until(soon, &mut control, has("gone")).await;
    who.done().await;
}

#[tokio::test]
async fn flaw_13_a_role_taken_away_in_keystone_ends_requests_and_actions_without_a_new_sign_in() {
    let site = Site::open().await;
    let who = Temporary::new(&site, "ROLE_ID_K8S_DEVELOPER").await;
    // signed in once: the same Keystone token in each request
    let headers = site.stack.headers_of(&who.user).await;
    let cluster = site.stack.acme();
    let caller = site.stack.admit(&headers);
    let panel = site.stack.panel_of_caller(caller);
    use app::ports::{Objects as _, Panel as _};
    use portico_domain::panel::{Action, ObjectRef, ResourceRef, RightQuestion};
    let storefront = ObjectRef {
        resource: ResourceRef::new("apps", "v1", "deployments"),
        namespace: Some("shop".to_owned()),
        name: "storefront".to_owned(),
    };
    let question = RightQuestion {
        verb: "patch".to_owned(),
        group: "apps".to_owned(),
        resource: "deployments".to_owned(),
        subresource: String::new(),
        namespace: Some("shop".to_owned()),
        name: None,
    };
    let may = async || {
        let view = panel.object(cluster, storefront.clone()).await;
        let action = view.as_ref().is_ok_and(|view| {
            let restart =
                |state: &&portico_domain::panel::ActionState| state.action == Action::Restart;
            view.actions
                .iter()
                .find(restart)
                .is_some_and(|state| state.allowed)
        });
        let right = panel.rights(cluster, vec![question.clone()]).await;
        let right = right.is_ok_and(|answers| answers.iter().all(|answer| answer.allowed));
        (view.is_ok(), action, right)
    };
    assert_eq!(may().await, (true, true, true), "the control case");
    who.lose_role(&site).await;
    let start = Instant::now();
    while may().await != (false, false, false) {
        let state = may().await;
        assert!(
            start.elapsed() < REQUEST_BOUND,
            "after {:?}: {state:?}",
            start.elapsed()
        );
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    who.done().await;
}

#[tokio::test]
async fn flaw_14_what_was_issued_ends_when_the_user_is_disabled() {
    let site = Site::open().await;
    let who = Temporary::new(&site, "ROLE_ID_K8S_VIEWER").await;
    let headers = site.stack.headers_of(&who.user).await;
    let caller = site.stack.admit(&headers);
    // what a kubeconfig's plugin gets too: a cluster token
    let (api, _) = site
        .stack
        .services
        .api(&caller, site.stack.acme())
        .await
        .unwrap();
    let shop = "/api/v1/namespaces/shop/pods?limit=1";
    assert!(api.get(shop).await.is_ok(), "the control case");
    let disable = json!({ "user": { "enabled": false } });
    let path = format!("/users/{}", who.user.id);
    who.keystone.patch(&path, disable).await.unwrap();
    let start = Instant::now();
    while api.get(shop).await.is_ok() {
        assert!(
            start.elapsed() < REQUEST_BOUND,
            "a disabled user's token is good"
        );
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    who.done().await;
}

/// The rows that a list has now, as a browser would have them.
fn apply(rows: &mut Option<Vec<String>>, text: &str) {
    let message: Value = serde_json::from_str(text).unwrap();
    let names = |value: Option<&Value>| -> Vec<String> {
        let found = value.and_then(Value::as_array).into_iter().flatten();
        found
            .map(|row| row["name"].as_str().unwrap().to_owned())
            .collect()
    };
    if let Some(snapshot) = message.get("snapshot") {
        *rows = Some(names(snapshot.pointer("/window/rows")));
    } else if let Some(changes) = message.get("rows") {
        rows.get_or_insert_default()
            .extend(names(changes.get("changed")));
    } else if message.get("ended").is_some() {
        *rows = None;
    }
}

#[tokio::test]
async fn a_role_removed_in_keystone_takes_the_rows_of_a_live_list_and_no_event_follows() {
    let site = Site::open().await;
    let own = site.stack.namespace("role").await;
    let who = Temporary::new(&site, "ROLE_ID_K8S_VIEWER").await;
    let maps = Api::<ConfigMap>::namespaced(own.client.clone(), &own.name);
    let make = async |name: &str| {
        let map = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
        maps.create(&Default::default(), &map).await.unwrap();
    };
    make("before").await;
    let query = query_of("", "configmaps", &[&own.name], "");
    let mut list = tab(&site, &site.stack.headers_of(&who.user).await).await;
    let mut vera = tab(&site, &site.user("vera").await).await;
    let mut rows = None;
    for socket in [&mut list, &mut vera] {
        ask(socket, &watch(1, &site, &query)).await;
        until(Duration::from_secs(10), socket, |text| {
            apply(&mut rows, text);
            let shown = rows
                .as_ref()
                .is_some_and(|rows| rows.iter().any(|name| name == "before"));
            shown.then_some(())
        })
        .await;
    }
    who.lose_role(&site).await;
    until(STREAM_BOUND, &mut list, |text| {
        apply(&mut rows, text);
        rows.as_ref().is_none_or(Vec::is_empty).then_some(())
    })
    .await;
    make("after").await;
    // the control case: another viewer of the same list
    until(Duration::from_secs(10), &mut vera, |text| {
        text.contains("\"after\"").then_some(())
    })
    .await;
    let later = tokio::time::timeout(
        Duration::from_secs(5),
        until(Duration::from_secs(60), &mut list, |text| {
            (text.contains("\"after\"") || text.starts_with("{\"rows\"")).then(|| text.to_owned())
        }),
    )
    .await;
    assert!(later.is_err(), "{later:?}");
    who.done().await;
    own.done().await;
}
