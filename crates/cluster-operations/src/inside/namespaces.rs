//! Lists of all namespaces for users whose roles are bound in each namespace, and not for the whole cluster.
use super::{ApiServer, List, ReadError, workloads};

const NAMESPACES: &str = "/api/v1/namespaces";
/// Maximum number of namespaces that are read one after another.
const MAX_NAMESPACES: usize = 40;

/// Returns the objects of a kind in all namespaces; `path` is that of the list of the whole cluster. Where the
/// user may not read that list, each namespace is read; those in which it is refused are named.
pub async fn list(api: &impl ApiServer, path: &str) -> Result<List, ReadError> {
    let refused = match super::list(api, path, &[]).await {
        Err(ReadError::Refused(reason)) => reason,
        found => return found,
    };
    let Ok(namespaces) = super::list(api, NAMESPACES, &[]).await else {
        return Err(ReadError::Refused(refused));
    };
    if !namespaces.is_complete || namespaces.items.len() > MAX_NAMESPACES {
        return Err(ReadError::Refused(format!(
            "{refused} The cluster has too many namespaces to read each of them."
        )));
    }
    let mut all = List {
        items: Vec::new(),
        is_complete: true,
        refused: Vec::new(),
    };
    for namespace in &namespaces.items {
        let name = workloads::name(namespace);
        match super::list(api, &within(path, &name), &[]).await {
            Ok(found) => {
                all.is_complete &= found.is_complete;
                all.items.extend(found.items);
            }
            Err(ReadError::Refused(_)) => all.refused.push(name),
            Err(error) => return Err(error),
        }
    }
    if all.refused.len() == namespaces.items.len() {
        return Err(ReadError::Refused(refused));
    }
    Ok(all)
}

/// Returns the path of the list of one namespace.
fn within(path: &str, namespace: &str) -> String {
    match path.rsplit_once('/') {
        Some((group, plural)) => format!("{group}/namespaces/{namespace}/{plural}"),
        None => path.to_owned(),
    }
}
