//! Apache with mod_auth_openidc: its session in shared memory, started at a real OpenID Provider.
use super::nginx::free_port;
use crate::browser::Browser;
use crate::process::Forking;
use anyhow::{Context as _, Result, ensure};
use portico_testkit::{CLIENT_ID, CLIENT_SECRET, OidcPerson, OidcProvider};
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

/// The subject of alice at the provider.
pub const SUBJECT: &str = "alice";
const MODULES: &str = "/usr/lib/apache2/modules";
/// The lifetime of the provider's access tokens: longer than any run.
const TOKEN_TTL_SECONDS: u32 = 3600;

/// A running Apache.
pub struct Apache {
    pub address: SocketAddr,
    pub server: Forking,
    _provider: OidcProvider,
}

impl Apache {
    /// Starts it in front of the upstream.
    pub async fn start(dir: &Path, upstream: SocketAddr) -> Result<Self> {
        let prefix = dir.join("apache");
        std::fs::create_dir_all(&prefix)?;
        let address = free_port()?;
        let origin = origin(address);
        let redirect = format!("{origin}/redirect_uri");
        let provider = OidcProvider::start(&redirect, &origin, TOKEN_TTL_SECONDS).await?;
        let file = prefix.join("apache.conf");
        let text = configuration(&prefix, address, upstream, &provider.issuer);
        std::fs::write(&file, text)?;
        let mut command = Command::new("/usr/sbin/apache2");
        command.arg("-DFOREGROUND").arg("-f").arg(&file);
        let log = prefix.join("start.log");
        Ok(Self {
            address,
            server: Forking::start(&mut command, address, &log).await?,
            _provider: provider,
        })
    }

    /// Returns the `Host` of its requests.
    pub fn host(&self) -> String {
        format!("localhost:{}", self.address.port())
    }

    /// Signs alice in at the provider.
    pub async fn sign_in(&self) -> Result<Session> {
        let mut browser = Browser::new(self.address);
        let origin = origin(self.address);
        let away = browser.open(&format!("{origin}/1k")).await?.location()?;
        let back = OidcPerson::default()
            .sign_in(away.as_str(), "alice")
            .await?;
        let page = browser.open(&back).await?;
        ensure!(page.status.is_redirection(), "not signed in: {}", page.body);
        let cookie = browser.cookies("localhost");
        ensure!(!cookie.is_empty(), "no session");
        Ok(Session {
            browser,
            origin,
            cookie,
        })
    }
}

/// A signed-in user's session.
pub struct Session {
    browser: Browser,
    origin: String,
    /// The `Cookie` line.
    pub cookie: String,
}

impl Session {
    /// Signs out.
    pub async fn sign_out(&mut self) -> Result<()> {
        let url = format!("{}/redirect_uri?logout=get", self.origin);
        let page = self.browser.open(&url).await?;
        ensure!(
            !page.status.is_server_error(),
            "not signed out: {}",
            page.body
        );
        Ok(())
    }
}

fn origin(address: SocketAddr) -> String {
    format!("http://localhost:{}", address.port())
}

fn configuration(prefix: &Path, address: SocketAddr, upstream: SocketAddr, issuer: &str) -> String {
    let mut text = String::new();
    for module in [
        "mpm_event",
        "authn_core",
        "authz_core",
        "authz_user",
        "proxy",
        "proxy_http",
        "auth_openidc",
    ] {
        // writing to a String cannot fail
        let _ = writeln!(text, "LoadModule {module}_module {MODULES}/mod_{module}.so");
    }
    let _ = write!(
        text,
        r#"
ServerName localhost
Listen {address}
DefaultRuntimeDir {prefix}
PidFile {prefix}/pid
ErrorLog {prefix}/error.log
LogLevel warn
LogFormat "%h %l %u %t \"%r\" %>s %O \"%{{Referer}}i\" \"%{{User-Agent}}i\"" combined
CustomLog {prefix}/access.log combined
User www-data
Group www-data
KeepAlive On
KeepAliveTimeout 3600
MaxKeepAliveRequests 0
# what Debian has, and no children that come and go during a round
StartServers 2
ServerLimit 2
ThreadsPerChild 25
MaxRequestWorkers 50
MinSpareThreads 1
MaxSpareThreads 50

OIDCProviderMetadataURL {issuer}/.well-known/openid-configuration
OIDCClientID {CLIENT_ID}
OIDCClientSecret {CLIENT_SECRET}
OIDCRedirectURI {origin}/redirect_uri
OIDCCryptoPassphrase bench-bench-bench-bench-bench-bench
OIDCScope "openid profile"
OIDCPKCEMethod S256
OIDCSessionType server-cache
OIDCCacheType shm
OIDCSessionInactivityTimeout 7200

<Location />
    AuthType openid-connect
    Require valid-user
    ProxyPass http://{upstream}/
</Location>
"#,
        prefix = prefix.display(),
        origin = origin(address),
    );
    text
}

/// Returns the file of its access log.
pub fn access_log(dir: &Path) -> Result<std::path::PathBuf> {
    let file = dir.join("apache/access.log");
    file.canonicalize().context("Apache's access log")
}
