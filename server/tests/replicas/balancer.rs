//! The shipped configurations of load balancers (`deploy/load-balancer`) in front of two gateways, with other addresses
//! and without TLS: what they show while the store is away, and while no gateway runs.
use std::time::{Duration, Instant};

use http::StatusCode;
use portico_testkit::{FrontProgram, FrontProxy, PostgresServer, TestEnv, shipped};

use crate::{
    browser::{Browser, Page},
    process::{MAIN, Process, Shared, sign_in},
};

/// Of the balancer's own page.
const NONE_RUNS: &str = "No Portico server answers at the moment";
const START_TIMEOUT: Duration = Duration::from_secs(60);

struct Balanced {
    postgres: PostgresServer,
    /// The keys, which a gateway reads again when it starts.
    _shared: Shared,
    gateways: [Process; 2],
    front: FrontProxy,
    browser: Browser,
}

impl Balanced {
    async fn start(program: FrontProgram) -> Self {
        let env = TestEnv::load().expect("the stack's env file");
        let postgres = PostgresServer::start().expect("PostgreSQL");
        let mut shared =
            Shared::new(postgres.url(), env.get("KEYSTONE_URL").expect("Keystone")).await;
        shared.more = "trusted_proxies = [\"127.0.0.0/8\"]\n".to_owned();
        shared.migrate().await;
        let gateways = [Process::start(&shared).await, Process::start(&shared).await];
        let mut front = FrontProxy::reserve().expect("a port");
        configure(&mut front, program, &gateways);
        let browser = sign_in(front.address(), &env, "devi").await;
        Self {
            postgres,
            _shared: shared,
            gateways,
            front,
            browser,
        }
    }

    async fn page(&mut self) -> Page {
        self.browser.open(&format!("{MAIN}/projects/x")).await
    }

    /// The first page of this status; until then there may be others.
    async fn until(&mut self, status: StatusCode) -> Page {
        let started = Instant::now();
        loop {
            let page = self.page().await;
            if page.status == status {
                return page;
            }
            assert!(
                started.elapsed() < START_TIMEOUT,
                "{} instead of {status}: {}\n{}",
                page.status,
                page.body,
                self.front.log()
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn everything_holds(mut self) {
        let page = self.page().await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        self.one_gateway_is_enough().await;
        self.an_outage_is_explained_by_portico().await;
        self.without_a_gateway_the_balancer_says_so().await;
    }

    async fn one_gateway_is_enough(&mut self) {
        self.gateways[0].kill().await;
        for _ in 0..20 {
            let page = self.page().await;
            assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        }
        self.gateways[0].start_again().await;
    }

    async fn an_outage_is_explained_by_portico(&mut self) {
        self.postgres.kill().expect("killed");
        self.until(StatusCode::SERVICE_UNAVAILABLE).await;
        // the other gateway may still answer from its session cache, which it trusts for a second
        let noticed = Instant::now() + Duration::from_secs(3);
        while Instant::now() < noticed {
            let page = self.page().await;
            let expected = [StatusCode::OK, StatusCode::SERVICE_UNAVAILABLE];
            assert!(expected.contains(&page.status), "{}", page.status);
        }
        // longer than any balancer takes to notice that no gateway is ready
        let until = Instant::now() + Duration::from_secs(5);
        while Instant::now() < until {
            let page = self.page().await;
            assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
            assert!(page.headers.contains_key("x-request-id"), "{}", page.body);
            assert!(page.body.contains("<h1"), "{}", page.body);
            assert!(!page.body.contains(NONE_RUNS), "{}", page.body);
        }
        self.postgres.start_again().expect("PostgreSQL");
        // still signed in
        self.until(StatusCode::OK).await;
    }

    async fn without_a_gateway_the_balancer_says_so(&mut self) {
        for gateway in &mut self.gateways {
            gateway.kill().await;
        }
        let page = self.page().await;
        assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(page.body.contains(NONE_RUNS), "{}", page.body);
        assert!(page.headers.contains_key("retry-after"));
        self.gateways[1].start_again().await;
        self.until(StatusCode::OK).await;
    }
}

fn configure(front: &mut FrontProxy, program: FrontProgram, gateways: &[Process; 2]) {
    let outage = shipped("../load-balancer/outage.html", &[]).expect("page");
    front.write("outage.html", &outage).expect("written");
    let page = front.path("outage.html").display().to_string();
    let listen = front.address().to_string();
    let [one, other] = [0, 1].map(|number: usize| gateways[number].address.to_string());
    match program {
        FrontProgram::Haproxy => {
            let changes = [
                (
                    ":443 ssl crt /etc/haproxy/tls/portico.pem alpn h2,http/1.1",
                    listen.as_str(),
                ),
                ("X-Forwarded-Proto https", "X-Forwarded-Proto http"),
                ("portico.example.org", "localhost:8080"),
                ("/etc/haproxy/portico/outage.html", &page),
                ("10.0.0.11:8080", &one),
                ("10.0.0.12:8080", &other),
            ];
            let text = shipped("../load-balancer/haproxy.cfg", &changes).expect("configuration");
            front.write("haproxy.cfg", &text).expect("written");
            front.start(program, "haproxy.cfg").expect("haproxy");
        }
        _ => {
            let listen = format!("listen {listen};");
            let changes = [
                ("listen 443 ssl;", listen.as_str()),
                (
                    "portico.example.org *.apps.portico.example.org",
                    "localhost",
                ),
                ("    ssl_certificate     /etc/nginx/tls/portico.crt;\n", ""),
                ("    ssl_certificate_key /etc/nginx/tls/portico.key;\n", ""),
                ("/etc/nginx/portico/outage.html", &page),
                ("10.0.0.11:8080", &one),
                ("10.0.0.12:8080", &other),
            ];
            let text = shipped("../load-balancer/nginx.conf", &changes).expect("configuration");
            front.write("portico.conf", &text).expect("written");
            let directory = front.directory().display().to_string();
            let main = format!(
                "daemon off;\nuser root;\nworker_processes 1;\npid {directory}/pid;\nerror_log stderr warn;\n\
                 events {{ worker_connections 256; }}\nhttp {{\naccess_log off;\n\
                 client_body_temp_path {directory}/body;\nproxy_temp_path {directory}/proxy;\n\
                 fastcgi_temp_path {directory}/fastcgi;\nuwsgi_temp_path {directory}/uwsgi;\n\
                 scgi_temp_path {directory}/scgi;\ninclude {directory}/portico.conf;\n}}\n"
            );
            front.write("nginx.conf", &main).expect("written");
            front.start(program, "nginx.conf").expect("nginx");
        }
    }
}

#[tokio::test]
async fn finding_o15_haproxy_shows_porticos_page_while_no_gateway_is_ready() {
    Balanced::start(FrontProgram::Haproxy)
        .await
        .everything_holds()
        .await;
}

#[tokio::test]
async fn finding_o15_nginx_shows_porticos_page_while_no_gateway_is_ready() {
    Balanced::start(FrontProgram::Nginx)
        .await
        .everything_holds()
        .await;
}
