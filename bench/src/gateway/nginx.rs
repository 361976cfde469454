//! nginx: the upstream, a plain proxy with Debian's own configuration, and a proxy that asks the
//! gateway with `auth_request`.
use super::portico::APP_HOST;
use crate::process::{Forking, wrapped};
use anyhow::{Context as _, Result, ensure};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

/// The configuration that Debian's package installs.
const SHIPPED: &str = "/etc/nginx/nginx.conf";

/// Keeps clients' connections open for a whole round; nginx would close them after 1000 requests.
const KEEP_CONNECTIONS: &str = "keepalive_requests 1000000000;\n    keepalive_timeout 1h;\n";

/// Returns the number of workers: as many as the other contenders' machine has threads.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// Returns a port without a listener.
pub fn free_port() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// Returns the directives that pass a request on over persistent connections.
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

/// Returns an `upstream` block with persistent connections.
fn kept(name: &str, address: SocketAddr) -> String {
    format!(
        "\n    upstream {name} {{ server {address}; keepalive 64; keepalive_requests 1000000000; }}\n"
    )
}

/// Returns the plain proxy's part of a configuration.
pub fn plain(address: SocketAddr, upstream: SocketAddr) -> String {
    format!(
        "{}\n    server {{\n        listen {address};\n        location / {{\n            {}        }}\n    }}\n",
        kept("app", upstream),
        pass_on("app")
    )
}

/// Returns the same, with a subrequest to the gateway for each request.
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

/// Starts one with these blocks in its `http` section. All other settings are Debian's.
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
    {KEEP_CONNECTIONS}{blocks}}}
"#,
        prefix = prefix.display(),
        workers = workers(),
    );
    launch(&prefix, address, &configuration, &[]).await
}

/// Starts one with Debian's own configuration, in which `blocks` take the place of the sites.
///
/// # Errors
/// If the package's file is absent or does not have the lines that are replaced.
pub async fn start_as_shipped(
    dir: &Path,
    name: &str,
    address: SocketAddr,
    blocks: &str,
) -> Result<Forking> {
    let prefix = dir.join(name);
    std::fs::create_dir_all(&prefix)?;
    let shipped = std::fs::read_to_string(SHIPPED).context(SHIPPED)?;
    let configuration = relocated(&shipped, &prefix, blocks)?;
    launch(&prefix, address, &configuration, &[]).await
}

/// Starts the same behind `wrapper` (a program and its arguments) and as one process, which does
/// all the work.
///
/// # Errors
/// Those of [`start_as_shipped`].
pub async fn start_one_process(
    dir: &Path,
    name: &str,
    address: SocketAddr,
    blocks: &str,
    wrapper: &[String],
) -> Result<Forking> {
    let prefix = dir.join(name);
    std::fs::create_dir_all(&prefix)?;
    let shipped = std::fs::read_to_string(SHIPPED).context(SHIPPED)?;
    let configuration = format!(
        "master_process off;\n{}",
        relocated(&shipped, &prefix, blocks)?
    );
    launch(&prefix, address, &configuration, wrapper).await
}

/// Returns Debian's configuration with its files below `prefix`, and with `blocks` instead of the
/// sites. Every other directive stays.
fn relocated(shipped: &str, prefix: &Path, blocks: &str) -> Result<String> {
    let prefix = prefix.display();
    let mut sites = 0;
    let mut configuration = String::from("daemon off;\n");
    for line in shipped.lines() {
        let directive = line.trim_start();
        let replaced = match directive.split_whitespace().next() {
            // the benchmark's directories belong to its user
            Some("user") => "user root root;".to_owned(),
            Some("pid") => format!("pid {prefix}/pid;"),
            Some(log @ ("error_log" | "access_log")) => {
                format!("{log} {prefix}/{}.log;", log.trim_end_matches("_log"))
            }
            Some("include") if directive.contains("/sites-enabled/") => {
                sites += 1;
                format!("{KEEP_CONNECTIONS}{blocks}")
            }
            // additions of the machine's administrator
            Some("include") if directive.contains("-enabled/") => String::new(),
            Some("include") if directive.contains("/conf.d/") => String::new(),
            _ => line.to_owned(),
        };
        configuration.push_str(&replaced);
        configuration.push('\n');
    }
    ensure!(
        sites == 1,
        "{SHIPPED} has {sites} includes of sites-enabled, not one"
    );
    Ok(configuration)
}

async fn launch(
    prefix: &Path,
    address: SocketAddr,
    configuration: &str,
    wrapper: &[String],
) -> Result<Forking> {
    let file = prefix.join("nginx.conf");
    std::fs::write(&file, configuration)?;
    let mut command = wrapped(wrapper, "/usr/sbin/nginx");
    command.arg("-p").arg(prefix).arg("-c").arg(&file);
    command.args(["-e", "stderr"]);
    Forking::start(&mut command, address, &prefix.join("start.log")).await
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
mod tests {
    use super::*;

    const DEBIAN: &str = "user www-data;\nworker_processes auto;\npid /run/nginx.pid;\n\
        include /etc/nginx/modules-enabled/*.conf;\nhttp {\n\taccess_log /var/log/nginx/access.log;\n\
        \tgzip on;\n\tinclude /etc/nginx/mime.types;\n\tinclude /etc/nginx/conf.d/*.conf;\n\
        \tinclude /etc/nginx/sites-enabled/*;\n}\n";

    #[test]
    fn finding_o18_debians_configuration_is_kept_but_for_paths_and_sites() {
        let here = relocated(DEBIAN, Path::new("/run/bench"), "    server {}\n").unwrap();
        for kept in [
            "worker_processes auto;",
            "\tgzip on;",
            "\tinclude /etc/nginx/mime.types;",
        ] {
            assert!(here.contains(kept), "{kept} in {here}");
        }
        assert!(here.contains("access_log /run/bench/access.log;") && here.contains("server {}"));
        for gone in [
            "www-data",
            "modules-enabled",
            "conf.d",
            "sites-enabled",
            "/var/log",
        ] {
            assert!(!here.contains(gone), "{gone} in {here}");
        }
        assert!(relocated("http {}", Path::new("/run/bench"), "").is_err());
    }
}
