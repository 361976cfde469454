//! The shipped configurations of proxies in front (`deploy/forward-auth`), with the addresses,
//! ports and paths of a test, and without TLS, which is the same with any app.
use std::net::SocketAddr;

use portico_testkit::{FrontProgram, FrontProxy, shipped};

/// The gateway behind a proxy, and the app that the proxy serves.
pub struct Behind<'a> {
    pub host: &'a str,
    pub portico: SocketAddr,
    pub app: SocketAddr,
}

/// Starts a program with its shipped configuration.
pub fn start(front: &mut FrontProxy, program: FrontProgram, behind: &Behind<'_>) {
    let outage = shipped("outage.html", &[]).expect("page");
    std::fs::create_dir(front.path("portico")).expect("directory");
    front
        .write("portico/outage.html", &outage)
        .expect("written");
    match program {
        FrontProgram::Nginx => nginx(front, behind, ""),
        FrontProgram::Haproxy => haproxy(front, behind),
        FrontProgram::Caddy => caddy(front, behind),
        FrontProgram::Apache => apache(front, behind),
    }
}

/// Starts nginx, with more in the http context.
pub fn nginx(front: &mut FrontProxy, behind: &Behind<'_>, more: &str) {
    let directory = front.directory().display().to_string();
    let (portico, app) = (behind.portico.to_string(), behind.app.to_string());
    let asks = format!("{directory}/portico-asks.conf");
    let text = shipped(
        "nginx/app.conf",
        &[
            ("listen 443 ssl;", &format!("listen {};", front.address())),
            ("grafana.apps.example.org", behind.host),
            ("    ssl_certificate     /etc/nginx/tls/grafana.crt;\n", ""),
            ("    ssl_certificate_key /etc/nginx/tls/grafana.key;\n", ""),
            ("127.0.0.1:8080", &portico),
            ("127.0.0.1:3000", &app),
            ("/etc/nginx/portico-asks.conf", &asks),
            ("/etc/nginx/portico/", &format!("{directory}/portico/")),
        ],
    )
    .expect("configuration");
    front.write("app.conf", &text).expect("written");
    let text = shipped("nginx/portico-asks.conf", &[]).expect("configuration");
    front.write("portico-asks.conf", &text).expect("written");
    start_nginx(front, &format!("include {directory}/app.conf;\n{more}"));
}

/// Starts nginx with this in its http context.
pub fn start_nginx(front: &mut FrontProxy, http: &str) {
    let directory = front.directory().display().to_string();
    let text = format!(
        "daemon off;\nuser root;\nworker_processes 1;\npid {directory}/pid;\nerror_log stderr warn;\n\
         events {{ worker_connections 256; }}\n\
         http {{\naccess_log off;\n\
         client_body_temp_path {directory}/body;\nproxy_temp_path {directory}/proxy;\n\
         fastcgi_temp_path {directory}/fastcgi;\nuwsgi_temp_path {directory}/uwsgi;\n\
         scgi_temp_path {directory}/scgi;\n{http}\n}}\n"
    );
    front.write("nginx.conf", &text).expect("written");
    front
        .start(FrontProgram::Nginx, "nginx.conf")
        .expect("nginx");
}

fn haproxy(front: &mut FrontProxy, behind: &Behind<'_>) {
    let script = front.path("portico.lua").display().to_string();
    let page = front.path("portico/outage.html").display().to_string();
    let text = shipped("haproxy/portico.lua", &[]).expect("script");
    front.write("portico.lua", &text).expect("written");
    let text = shipped(
        "haproxy/haproxy.cfg",
        &[
            (
                "bind :443 ssl crt /etc/haproxy/tls/grafana.pem",
                &format!("bind {}", front.address()),
            ),
            ("/etc/haproxy/portico.lua", &script),
            ("/etc/haproxy/portico/outage.html", &page),
            ("X-Forwarded-Proto https", "X-Forwarded-Proto http"),
            ("127.0.0.1:8080", &behind.portico.to_string()),
            ("127.0.0.1:3000", &behind.app.to_string()),
        ],
    )
    .expect("configuration");
    front.write("haproxy.cfg", &text).expect("written");
    front
        .start(FrontProgram::Haproxy, "haproxy.cfg")
        .expect("haproxy");
}

fn caddy(front: &mut FrontProxy, behind: &Behind<'_>) {
    let site = format!("http://{}:{}", behind.host, front.address().port());
    let pages = front.path("portico").display().to_string();
    let text = shipped(
        "caddy/Caddyfile",
        &[
            ("grafana.apps.example.org {", &format!("{site} {{")),
            (
                "\ttls /etc/caddy/tls/grafana.crt /etc/caddy/tls/grafana.key\n",
                "\tbind 127.0.0.1\n",
            ),
            ("127.0.0.1:8080", &behind.portico.to_string()),
            ("127.0.0.1:3000", &behind.app.to_string()),
            ("/etc/caddy/portico", &pages),
        ],
    )
    .expect("configuration");
    // all Caddys of a machine use the same port for administration
    let text = format!("{{\n\tadmin off\n}}\n\n{text}");
    front.write("Caddyfile", &text).expect("written");
    front
        .start(FrontProgram::Caddy, "Caddyfile")
        .expect("caddy");
}

fn apache(front: &mut FrontProxy, behind: &Behind<'_>) {
    let directory = front.directory().display().to_string();
    let text = shipped(
        "apache/apache.conf",
        &[
            ("*:443", &front.address().to_string()),
            ("portico.example.org", "localhost"),
            ("*.apps.example.org", "*.apps.localhost"),
            ("    SSLEngine on\n", ""),
            (
                "    SSLCertificateFile    /etc/apache2/tls/portico.crt\n",
                "",
            ),
            (
                "    SSLCertificateKeyFile /etc/apache2/tls/portico.key\n",
                "",
            ),
            ("X-Forwarded-Proto https", "X-Forwarded-Proto http"),
            ("/etc/apache2/portico", &format!("{directory}/portico")),
            ("127.0.0.1:8080", &behind.portico.to_string()),
        ],
    )
    .expect("configuration");
    front.write("portico.conf", &text).expect("written");
    let modules: String = [
        "mpm_event",
        "authz_core",
        "alias",
        "dir",
        "headers",
        "mime",
        "proxy",
        "proxy_http",
        "rewrite",
    ]
    .iter()
    .map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"))
    .collect();
    let text = format!(
        "ServerName localhost\nServerRoot {directory}\nPidFile {directory}/pid\n\
         DefaultRuntimeDir {directory}\nErrorLog {directory}/error.log\nUser www-data\nGroup www-data\n\
         Listen {}\nTypesConfig /etc/mime.types\n{modules}\
         <Directory />\nRequire all denied\n</Directory>\nInclude {directory}/portico.conf\n",
        front.address()
    );
    front.write("apache2.conf", &text).expect("written");
    front
        .start(FrontProgram::Apache, "apache2.conf")
        .expect("apache2");
}
