//! Terminals: a shell in a container, over the API server's own WebSocket protocol.
use super::{Api, KubeError, path};
use portico_domain::panel::{ObjectRef, ResourceRef};

/// Tried in this order by `sh`, which every image has, so that one request is enough.
const SHELL: [&str; 3] = [
    "/bin/sh",
    "-c",
    "TERM=xterm-256color; export TERM; command -v bash >/dev/null 2>&1 && exec bash; exec sh",
];

/// Opens a terminal in a container.
pub async fn open(
    api: &Api,
    namespace: &str,
    pod: &str,
    container: &str,
) -> Result<kube::client::Connection, KubeError> {
    let pod = path::object(&ObjectRef {
        resource: ResourceRef::core("pods"),
        namespace: Some(namespace.to_owned()),
        name: pod.to_owned(),
    })?;
    let mut pairs = vec![
        ("container", container),
        ("stdin", "true"),
        ("stdout", "true"),
        ("tty", "true"),
    ];
    pairs.extend(SHELL.map(|argument| ("command", argument)));
    api.connect(&path::with_query(&format!("{pod}/exec"), &pairs))
        .await
}
