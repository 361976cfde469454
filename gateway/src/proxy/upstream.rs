//! An upstream's address and the client that reaches it.
use std::time::Duration;

use axum::body::Body;
use http::{
    Uri,
    uri::{Authority, PathAndQuery, Scheme},
};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use url::Url;

/// Where a request goes.
#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    /// The audience of assertions for it, and the label of its metrics.
    pub id: String,
    /// The name that people know it by.
    pub name: String,
    authority: Authority,
    /// Path in front of every request's path, without a slash at the end.
    prefix: String,
}

/// The address of an upstream cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0} is not the address of an upstream")]
pub struct InvalidUpstream(Url);

impl Upstream {
    pub fn new(id: &str, name: &str, url: &Url) -> Result<Self, InvalidUpstream> {
        let invalid = || InvalidUpstream(url.clone());
        let host = url.host_str().ok_or_else(invalid)?;
        let authority = match url.port_or_known_default() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        Ok(Self {
            id: id.to_owned(),
            name: name.to_owned(),
            authority: authority.parse().map_err(|_| invalid())?,
            prefix: url.path().trim_end_matches('/').to_owned(),
        })
    }

    /// The address of a request's target at the upstream.
    pub fn target(&self, uri: &Uri) -> Result<Uri, http::Error> {
        let original = uri
            .path_and_query()
            .cloned()
            .unwrap_or(PathAndQuery::from_static("/"));
        let path = if self.prefix.is_empty() {
            original
        } else {
            format!("{}{original}", self.prefix).parse()?
        };
        Uri::builder()
            .scheme(Scheme::HTTP)
            .authority(self.authority.clone())
            .path_and_query(path)
            .build()
    }
}

/// Speaks HTTP/1.1 to every upstream and keeps connections open between requests.
pub(crate) type UpstreamClient = Client<HttpConnector, Body>;

pub(crate) fn client(connect: Duration) -> UpstreamClient {
    let mut connector = HttpConnector::new();
    connector.set_connect_timeout(Some(connect));
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new())
        .pool_idle_timeout(Duration::from_secs(30))
        .pool_timer(TokioTimer::new())
        .set_host(false)
        .build(connector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_raw() {
        let url = Url::parse("http://127.0.0.1:9090/prometheus/").expect("url");
        let upstream = Upstream::new("p", "P", &url).expect("upstream");
        let target = upstream
            .target(&"/graph?a=%2F".parse().expect("uri"))
            .expect("target");
        assert_eq!(target, "http://127.0.0.1:9090/prometheus/graph?a=%2F");
    }
}
