//! nginx: the upstream, a plain proxy, and a proxy that asks the gateway with `auth_request`.
use super::portico::APP_HOST;
use crate::process::Forking;
use anyhow::Result;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;

/// As many as the machine of the other contenders has threads for.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// A port that nobody listens at.
pub fn free_port() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// What passes a request on over kept connections.
fn pass_on(to: &str) -> String {
    format!(
        "proxy_pass http://{to};\n            \
         proxy_http_version 1.1;\n            \
         proxy_set_header Connection \"\";\n            \
         proxy_set_header Host $http_host;\n            \
         proxy_set_header X-Forwarded-For $remote_addr;\n            \
         proxy_set_header X-Forwarded-Proto $scheme;\n"
    )
}

/// An `upstream` block whose connections are kept.
fn kept(name: &str, address: SocketAddr) -> String {
    format!(
        "\n    upstream {name} {{ server {address}; keepalive 64; keepalive_requests 1000000000; }}\n"
    )
}

/// The plain proxy's part of a configuration.
pub fn plain(address: SocketAddr, upstream: SocketAddr) -> String {
    format!(
        "{}\n    server {{\n        listen {address};\n        location / {{\n            {}        }}\n    }}\n",
        kept("app", upstream),
        pass_on("app")
    )
}

/// The same, asking the gateway about each request.
pub fn auth_request(address: SocketAddr, upstream: SocketAddr, gateway: SocketAddr) -> String {
    format!(
        r#"{app}{check}
    server {{
        listen {address};
        location / {{
            auth_request /check;
            auth_request_set $user $upstream_http_x_auth_request_user;
            {pass_on}            proxy_set_header X-Auth-Request-User $user;
        }}
        location = /check {{
            internal;
            proxy_pass http://check/oauth2/auth;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host {APP_HOST};
            proxy_set_header X-Forwarded-Uri $request_uri;
            proxy_set_header X-Forwarded-Method $request_method;
            proxy_set_header X-Real-IP $remote_addr;
            proxy_set_header Content-Length "";
            proxy_pass_request_body off;
        }}
    }}
"#,
        app = kept("app", upstream),
        check = kept("check", gateway),
        pass_on = pass_on("app"),
    )
}

/// Starts one with these blocks in its `http` section. What is not said here is as Debian has it.
pub async fn start(dir: &Path, name: &str, address: SocketAddr, blocks: &str) -> Result<Forking> {
    let prefix = dir.join(name);
    std::fs::create_dir_all(&prefix)?;
    let configuration = format!(
        r#"
daemon off;
user root root;
pid {prefix}/pid;
worker_processes {workers};
events {{ worker_connections 1024; }}
http {{
    default_type text/plain;
    sendfile on;
    tcp_nopush on;
    access_log {prefix}/access.log;
    error_log {prefix}/error.log;
    client_body_temp_path {prefix}/body;
    proxy_temp_path {prefix}/proxy;
    fastcgi_temp_path {prefix}/fastcgi;
    uwsgi_temp_path {prefix}/uwsgi;
    scgi_temp_path {prefix}/scgi;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
{blocks}}}
"#,
        prefix = prefix.display(),
        workers = workers(),
    );
    let file = prefix.join("nginx.conf");
    std::fs::write(&file, configuration)?;
    let mut command = Command::new("/usr/sbin/nginx");
    command.arg("-p").arg(&prefix).arg("-c").arg(&file);
    command.args(["-e", "stderr"]);
    Forking::start(&mut command, address, &prefix.join("start.log")).await
}
