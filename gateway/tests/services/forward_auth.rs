//! Real proxies in front with the shipped configurations, and people who sign in at the real Keystone
//! through them. nginx, HAProxy and Caddy serve the app and ask; Apache passes everything on.
use std::time::Duration;

use http::{Method, StatusCode, header};
use portico_testkit::{FrontProgram, FrontProxy, KeystoneAdmin, TestEnv};
use secrecy::ExposeSecret as _;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::support::{
    browser::{Browser, Page},
    form::{enter, sign_out},
    fronts::{self, Behind},
    handover::pass_over,
    stack::{APP_HOST, MAIN, Stack, Wanted},
};

struct Fronted {
    env: TestEnv,
    stack: Stack,
    front: FrontProxy,
    program: FrontProgram,
    /// The app's address, as browsers know it.
    app: String,
}

impl Fronted {
    async fn start(program: FrontProgram) -> Self {
        let env = TestEnv::load().expect("the stack's env file");
        let mut front = FrontProxy::reserve().expect("a port");
        let serves_the_app = program != FrontProgram::Apache;
        let stack = Stack::start(Wanted {
            keystone: env.get("KEYSTONE_URL").expect("address"),
            project: env.get("PROJECT_ID_ACME").expect("acme"),
            gateway: json!({
                "trusted_proxies": ["127.0.0.0/8"],
                "session": { "validate_every": "1s" },
            }),
            app: json!({
                "forward_auth": serves_the_app,
                "host": format!("{APP_HOST}:{}", front.address().port()),
                "rules": [
                    { "name": "closed", "effect": "deny", "paths": ["/closed/"] },
                    {
                        "name": "kept", "effect": "deny", "paths": ["/kept/"],
                        "methods": ["DELETE"],
                    },
                    { "name": "open", "effect": "public", "paths": ["/open/"] },
                ],
            }),
            ..Wanted::default()
        })
        .await;
        let behind = Behind {
            host: APP_HOST,
            portico: stack.address,
            app: stack.app.address,
        };
        fronts::start(&mut front, program, &behind);
        let app = format!("http://{APP_HOST}:{}", front.address().port());
        Self {
            env,
            stack,
            front,
            program,
            app,
        }
    }

    fn browser(&self) -> Browser {
        let mut browser = Browser::new(self.stack.address);
        browser.find(APP_HOST, self.front.address());
        browser
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.app)
    }

    fn password(&self) -> &str {
        self.env.get("DEMO_PASSWORD").expect("password")
    }

    /// Opens a page without a session, signs in, and comes back to it.
    async fn signed_in(&self, name: &str, path: &str) -> (Browser, Page) {
        self.signs_in(name, self.password(), path).await
    }

    async fn signs_in(&self, name: &str, password: &str, path: &str) -> (Browser, Page) {
        let mut browser = self.browser();
        let page = browser.open(&self.url(path)).await;
        assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
        let handover = page.location().to_string();
        assert!(
            handover.starts_with(&format!("{MAIN}/oauth2/handover?")),
            "{handover}"
        );
        let page = browser.open(&handover).await;
        assert_eq!(page.location().path(), "/oauth2/sign_in");
        let rd = page
            .location()
            .query_pairs()
            .find(|(name, _)| name == "rd")
            .map(|(_, rd)| rd.into_owned())
            .expect("rd");
        let rd: String = url::form_urlencoded::byte_serialize(rd.as_bytes()).collect();
        let page = enter(&mut browser, &rd, name, password).await;
        assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
        let page = browser.open(page.location().as_str()).await;
        // without what sign-in has added to the address
        let handover = page.location().to_string();
        let page = browser.open(&handover).await;
        if page.status == StatusCode::FORBIDDEN {
            return (browser, page);
        }
        let page = pass_over(&mut browser, &self.app, &handover).await;
        assert_eq!(page.location().as_str(), self.url(path));
        let page = browser.open(&self.url(path)).await;
        (browser, page)
    }

    async fn everything_holds(self) {
        self.calls_get_401().await;
        let (mut browser, page) = self.signed_in("devi", "/graph?g0.expr=up&g0.expr=x").await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        assert_eq!(page.json()["target"], "/graph?g0.expr=up&g0.expr=x");
        self.only_our_claims_arrive(&mut browser).await;
        self.changes_come_from_the_apps_own_pages(&mut browser)
            .await;
        self.each_path_and_method_has_its_rule(&mut browser).await;
        self.sockets_pass(&browser).await;
        self.our_endpoints_tell_a_browser_nothing(&mut browser)
            .await;
        self.who_may_not_sees_why().await;
        self.sign_out_ends_it(&mut browser).await;
        self.no_request_gets_in_without_portico().await;
    }

    async fn calls_get_401(&self) {
        let mut anonymous = self.browser();
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let answer = anonymous
                .call(method.clone(), &self.url("/api/x"), "{}")
                .await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method}");
            assert!(!answer.headers.contains_key(header::LOCATION));
        }
        let plain = [("accept", "application/json")];
        let answer = anonymous
            .send(Method::GET, &self.url("/api/x"), &plain, String::new())
            .await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        assert_eq!(self.stack.app.asked(), 0, "the app was asked");
    }

    async fn only_our_claims_arrive(&self, browser: &mut Browser) {
        browser.set_cookie(APP_HOST, "theme", "dark");
        let user = self.env.get("USER_ID_DEVI").expect("devi");
        let claims = [
            ("x-auth-request-user", "admin"),
            ("x-auth-request-email", "admin@example.org"),
            ("x-auth-request-groups", "admins"),
            ("x_auth_request_user", "admin"),
            ("portico-assertion", "forged-admin"),
            ("authorization", "Bearer admin"),
            ("x-forwarded-user", "admin"),
            ("remote-user", "admin"),
            ("x-remote-user", "admin"),
            ("x-webauth-user", "admin"),
            ("x-forwarded-host", "admin.example"),
            ("x-forwarded-uri", "/admin"),
            ("x-original-url", "/admin"),
            ("sec-fetch-mode", "cors"),
            ("sec-fetch-site", "same-origin"),
        ];
        let page = browser
            .send(Method::GET, &self.url("/claims"), &claims, String::new())
            .await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        assert!(!page.body.contains("admin"), "{}", page.body);
        assert!(!page.body.contains("portico="), "our cookie: {}", page.body);
        let headers: Vec<(String, String)> =
            serde_json::from_value(page.json()["headers"].clone()).expect("headers");
        let all = |wanted: &str| -> Vec<&str> {
            let found = headers.iter().filter(|(name, _)| name == wanted);
            found.map(|(_, value)| value.as_str()).collect()
        };
        assert_eq!(all("cookie"), ["theme=dark"]);
        assert_eq!(all("portico-assertion").len(), 1);
        assert_eq!(all("portico-assertion")[0].split('.').count(), 3, "a JWT");
        if self.program != FrontProgram::Apache {
            assert_eq!(all("x-auth-request-user"), [user]);
            assert_eq!(all("x-auth-request-preferred-username"), ["devi@Default"]);
        }
        // without any of it the same person arrives
        let page = browser.open(&self.url("/claims?x=1")).await;
        assert_eq!(page.status, StatusCode::OK);
        assert_eq!(page.json()["target"], "/claims?x=1");
    }

    async fn changes_come_from_the_apps_own_pages(&self, browser: &mut Browser) {
        let page = browser
            .call(Method::POST, &self.url("/api/x"), r#"{"a":1}"#)
            .await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        assert_eq!(page.json()["method"], "POST");
        assert_eq!(page.json()["body"], r#"{"a":1}"#);
        let asked = self.stack.app.asked();
        let foreign = [
            ("origin", "https://evil.example"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "cors"),
        ];
        let answer = browser
            .send(
                Method::POST,
                &self.url("/api/x"),
                &foreign,
                "a=b".to_owned(),
            )
            .await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        assert_eq!(self.stack.app.asked(), asked, "the app was asked");
    }

    async fn each_path_and_method_has_its_rule(&self, browser: &mut Browser) {
        for (method, path, status) in [
            (Method::GET, "/closed/x?y=/open/", StatusCode::FORBIDDEN),
            (Method::DELETE, "/kept/x", StatusCode::FORBIDDEN),
            (Method::GET, "/kept/x", StatusCode::OK),
            (Method::POST, "/kept/x", StatusCode::OK),
        ] {
            let asked = self.stack.app.asked();
            let answer = browser.call(method.clone(), &self.url(path), "").await;
            assert_eq!(answer.status, status, "{method} {path}");
            let arrived = self.stack.app.asked() > asked;
            assert_eq!(arrived, status == StatusCode::OK, "{method} {path}");
        }
        let mut anonymous = self.browser();
        let page = anonymous.call(Method::GET, &self.url("/open/x"), "").await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        assert!(!page.body.contains("devi"), "{}", page.body);
    }

    async fn sockets_pass(&self, browser: &Browser) {
        let ask = |cookies: String, origin: String| async move {
            let mut stream = TcpStream::connect(self.front.address())
                .await
                .expect("front");
            let head = format!(
                "GET /socket HTTP/1.1\r\nHost: {}\r\nCookie: {cookies}\r\nOrigin: {origin}\r\n\
                 Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-Fetch-Mode: websocket\r\n\
                 Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                self.app.trim_start_matches("http://"),
            );
            stream.write_all(head.as_bytes()).await.expect("written");
            let mut answer = Vec::new();
            while !answer.ends_with(b"\r\n\r\n") {
                answer.push(stream.read_u8().await.expect("a head"));
            }
            (stream, String::from_utf8_lossy(&answer).into_owned())
        };
        let cookies = browser.cookie_line(APP_HOST);
        let (_, answer) = ask(String::new(), self.app.clone()).await;
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
        let (_, answer) = ask(cookies.clone(), "https://evil.example".to_owned()).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
        let (mut stream, answer) = ask(cookies, self.app.clone()).await;
        assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
        stream
            .write_all(&[0x81, 0x82, 0, 0, 0, 0, b'h', b'i'])
            .await
            .expect("written");
        let mut echoed = [0; 4];
        stream.read_exact(&mut echoed).await.expect("echo");
        assert_eq!(&echoed, &[0x81, 2, b'h', b'i']);
    }

    /// Scripts of the app's own may call what is passed on to us.
    async fn our_endpoints_tell_a_browser_nothing(&self, browser: &mut Browser) {
        for path in [
            "/oauth2/auth",
            "/oauth2/auth/redirect",
            "/oauth2/ext_authz/x",
        ] {
            let tricks = [
                ("x-forwarded-uri", "/x"),
                ("x-original-url", "/x"),
                ("sec-fetch-mode", "cors"),
                ("sec-fetch-site", "same-origin"),
            ];
            let answer = browser
                .send(Method::GET, &self.url(path), &tricks, String::new())
                .await;
            assert!(!answer.headers.contains_key("portico-assertion"), "{path}");
            assert!(!answer.headers.contains_key(header::COOKIE), "{path}");
        }
    }

    async fn who_may_not_sees_why(&self) {
        let (_, page) = self.signed_in("vera", "/graph").await;
        assert_eq!(page.status, StatusCode::FORBIDDEN);
        assert!(
            page.body.contains("You may not open Prometheus"),
            "{}",
            page.body
        );
        // a user who might, until Keystone takes the role away
        let admin = KeystoneAdmin::sign_in(&self.env).await.expect("admin");
        let user = admin.create_user("fronted").await.expect("user");
        let project = self.env.get("PROJECT_ID_ACME").expect("acme");
        let developer = self.env.get("ROLE_ID_K8S_DEVELOPER").expect("role");
        for role in [developer, self.env.get("ROLE_ID_MEMBER").expect("role")] {
            let granted = admin.grant(&user.id, project, role).await;
            granted.expect("granted");
        }
        let password = user.password.expose_secret();
        let (mut browser, page) = self.signs_in(&user.name, password, "/graph").await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        let revoked = admin.revoke(&user.id, project, developer).await;
        revoked.expect("revoked");
        let refused = async {
            loop {
                let page = browser.open(&self.url("/graph")).await;
                if page.status == StatusCode::FORBIDDEN {
                    return page;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        let page = tokio::time::timeout(Duration::from_secs(15), refused).await;
        let page = page.expect("the role still opens the app");
        assert!(
            page.body.contains("You may not open Prometheus"),
            "{}",
            page.body
        );
        let asked = self.stack.app.asked();
        let answer = browser.call(Method::GET, &self.url("/api/x"), "").await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        assert_eq!(self.stack.app.asked(), asked, "the app was asked");
        admin.delete_user(&user.id).await.expect("deleted");
    }

    async fn sign_out_ends_it(&self, browser: &mut Browser) {
        let page = browser.open(&self.url("/oauth2/sign_out")).await;
        assert_eq!(page.location().as_str(), format!("{MAIN}/oauth2/sign_out"));
        sign_out(browser).await;
        let asked = self.stack.app.asked();
        let answer = browser.call(Method::GET, &self.url("/api/x"), "").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        assert_eq!(self.stack.app.asked(), asked, "the app was asked");
    }

    async fn no_request_gets_in_without_portico(&self) {
        let (mut browser, page) = self.signed_in("devi", "/graph").await;
        assert_eq!(page.status, StatusCode::OK);
        self.stack.lifecycle.stop();
        self.stack.lifecycle.drain().await;
        assert!(TcpStream::connect(self.stack.address).await.is_err());
        let asked = self.stack.app.asked();
        let mut anonymous = self.browser();
        for browser in [&mut browser, &mut anonymous] {
            let page = browser.open(&self.url("/graph")).await;
            assert_eq!(
                page.status,
                StatusCode::SERVICE_UNAVAILABLE,
                "{}",
                page.body
            );
            assert!(
                page.body.contains("Not available right now"),
                "{}",
                page.body
            );
            assert!(!page.headers.contains_key(header::LOCATION));
            let answer = browser.call(Method::POST, &self.url("/api/x"), "").await;
            assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
        }
        assert_eq!(self.stack.app.asked(), asked, "the app was asked");
    }
}

#[tokio::test]
async fn nginx_asks_and_serves() {
    Fronted::start(FrontProgram::Nginx)
        .await
        .everything_holds()
        .await;
}

#[tokio::test]
async fn haproxy_asks_and_serves() {
    Fronted::start(FrontProgram::Haproxy)
        .await
        .everything_holds()
        .await;
}

#[tokio::test]
async fn caddy_asks_and_serves() {
    Fronted::start(FrontProgram::Caddy)
        .await
        .everything_holds()
        .await;
}

#[tokio::test]
async fn apache_passes_on_and_portico_serves() {
    Fronted::start(FrontProgram::Apache)
        .await
        .everything_holds()
        .await;
}
