//! Case 87: what is the operator's only.
use http::{Method, StatusCode};

use crate::{
    browser::Browser,
    program::{Program, Wanted},
    wire::exchange,
};

const PATHS: &[&str] = &[
    "/metrics",
    "/metrics/",
    "/live",
    "/debug/pprof/",
    "/debug/pprof/heap",
    "/debug/vars",
    "/admin",
    "/admin/metrics",
    "/-/metrics",
    "/-/reload",
    "/_/metrics",
    "/oauth2/metrics",
    "/oauth2/live",
    "/.well-known/metrics",
];

async fn unreachable(tls: bool) {
    let program = Program::start(Wanted {
        tls,
        ..Wanted::default()
    })
    .await;
    let mut signed_in = program.sign_in("vera").await;
    for path in PATHS {
        let url = format!("{}{path}", program.main());
        let page = program.browser().open(&url).await;
        assert_ne!(page.status, StatusCode::OK, "{path}");
        assert!(!page.body.contains("portico_"), "{path}: {}", page.body);
        let page = program.browser().call(Method::GET, &url, "").await;
        assert_ne!(page.status, StatusCode::OK, "{path}");
        // for a signed-in user it is the panel's path like any other, or nothing
        let page = signed_in.open(&url).await;
        assert!(!page.body.contains("portico_build_info"), "{path}");
        if page.status == StatusCode::OK {
            assert_eq!(page.json()["target"], *path);
        }
    }
    // nor by asking for the admin port's own name
    for host in [program.admin.to_string(), "127.0.0.1".to_owned()] {
        let mut stream = program.connect().await;
        let request = format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let answer = exchange(&mut stream, request.as_bytes()).await;
        assert_eq!(answer.status(), 421, "{answer:?}");
        assert!(!answer.text.contains("portico_"), "{answer:?}");
    }

    // the control case: on the admin port it is there, and nothing of the gateway is
    let (status, metrics) = program.admin("/metrics").await.expect("the admin port");
    assert_eq!(status, StatusCode::OK);
    assert!(metrics.contains("portico_build_info"));
    assert!(program.admin.ip().is_loopback());
    for path in ["/oauth2/sign_in", "/oauth2/userinfo", "/projects/x"] {
        let (status, _) = program.admin(path).await.expect("the admin port");
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
    }
    let page = Browser::new(program.admin)
        .call(
            Method::POST,
            &format!("http://{}/metrics", program.admin),
            "",
        )
        .await;
    assert_eq!(page.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn attack_87_metrics_and_health_are_on_the_admin_port_only() {
    unreachable(false).await;
}

#[tokio::test]
async fn attack_87_metrics_and_health_are_not_reached_over_tls() {
    unreachable(true).await;
}
