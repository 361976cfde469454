//! The upstream of all contenders: an nginx with two files, and a page that returns the received
//! identity.
use super::nginx;
use crate::process::Forking;
use anyhow::Result;
use std::net::SocketAddr;
use std::path::Path;

pub const SMALL: (&str, usize) = ("/1k", 1024);
pub const LARGE: (&str, usize) = ("/1m", 1024 * 1024);
/// Responds with the identity headers, one per line.
pub const WHOAMI: &str = "/whoami";

/// A running upstream.
pub struct Upstream {
    pub address: SocketAddr,
    _nginx: Forking,
}

impl Upstream {
    /// Starts it.
    pub async fn start(dir: &Path) -> Result<Self> {
        Self::start_named(dir, "upstream").await
    }

    /// Starts another one, whose configuration and logs are in a directory of this name.
    pub async fn start_named(dir: &Path, name: &str) -> Result<Self> {
        let files = dir.join("files");
        std::fs::create_dir_all(&files)?;
        for (path, length) in [SMALL, LARGE] {
            std::fs::write(files.join(&path[1..]), vec![b'x'; length])?;
        }
        let address = nginx::free_port()?;
        let server = format!(
            r#"
    access_log off;
    underscores_in_headers on;
    server {{
        listen {address};
        root {files};
        location = {WHOAMI} {{
            return 200 "$http_portico_assertion\n$http_x_auth_request_user\n$http_oidc_claim_sub\n";
        }}
    }}
"#,
            files = files.display()
        );
        let nginx = nginx::start(dir, name, address, &server).await?;
        Ok(Self {
            address,
            _nginx: nginx,
        })
    }
}
