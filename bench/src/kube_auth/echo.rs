//! The upper limit: kube-auth's listener, a body that is read, and a constant response.
use crate::kube_auth::pki::server_files;
use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::routing::post;
use portico_runtime::lifecycle::Lifecycle;
use portico_runtime::listener::Listener;
use portico_runtime::tls::ReloadingTls;
use std::path::Path;
use std::time::Duration;

/// The file with the response, in the folder of the certificates.
pub const ANSWER: &str = "answer.json";

/// Serves until it is stopped.
pub async fn serve(dir: &Path) -> Result<()> {
    let answer = Bytes::from(std::fs::read(dir.join(ANSWER)).context(ANSWER)?);
    let reply = move |_body: Bytes| async move {
        let headers = [
            (header::CONTENT_TYPE, "application/json"),
            (header::CACHE_CONTROL, "no-store"),
        ];
        (headers, answer)
    };
    let router = Router::new().route("/clusters/{id}/tokenreview", post(reply));
    let lifecycle = Lifecycle::new(Duration::from_secs(1));
    let listener = Listener::bind(([127, 0, 0, 1], 0).into())
        .await?
        .with_tls(ReloadingTls::load(server_files(dir))?);
    eprintln!("listening on https://{}", listener.address());
    listener.serve(router, &lifecycle);
    lifecycle.run_until_stopped().await?;
    Ok(())
}
