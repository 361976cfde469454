//! `portico kubeconfig remove`.
use super::document::{CLUSTERS, CONTEXTS, Document, USERS};
use super::entry::is_ours;
use super::file::behind_links;
use crate::{CommandError, private_file, terminal::say};
use std::path::{Path, PathBuf};

/// Removes a context from the file that has it.
pub async fn remove(context: &str, files: &[PathBuf]) -> Result<(), CommandError> {
    for path in files {
        if Document::read(path)?.context(context).is_none() {
            continue;
        }
        let path = behind_links(path);
        let _lock = private_file::lock_kubeconfig(&path).await?;
        // again, now that no other process writes
        let mut document = Document::read(&path)?;
        take_out(&mut document, context, &path)?;
        document.write(&path)?;
        say(format!(
            "The context {context} was removed from {}.",
            path.display()
        ));
        return Ok(());
    }
    Err(CommandError::NoContext(context.to_owned()))
}

/// Removes the context, and cluster and user unless another context needs them.
fn take_out(document: &mut Document, name: &str, path: &Path) -> Result<(), CommandError> {
    let Some(context) = document.context(name) else {
        return Err(CommandError::NoContext(name.to_owned()));
    };
    if !is_ours(&context.user) {
        return Err(CommandError::ContextTaken {
            context: name.to_owned(),
            path: path.to_owned(),
        });
    }
    document.remove(CONTEXTS, name);
    let left = document.contexts();
    if !left.iter().any(|other| other.user == context.user) {
        document.remove(USERS, &context.user);
    }
    let needed = left.iter().any(|other| other.cluster == context.cluster);
    if !needed && is_ours(&context.cluster) {
        document.remove(CLUSTERS, &context.cluster);
    }
    if document.current_context() == Some(name) {
        document.remove_current_context();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::document::parsed;
    use super::*;

    const TWO: &str = "current-context: prod\n\
        contexts:\n- {name: prod, context: {cluster: portico/h/prod, user: portico/h/prod}}\n\
        - {name: prod-shop, context: {cluster: portico/h/prod, user: portico/h/prod, namespace: shop}}\n\
        - {name: mine, context: {cluster: mine, user: mine}}\n\
        clusters:\n- {name: portico/h/prod, cluster: {server: https://a}}\n- {name: mine, cluster: {server: https://b}}\n\
        users:\n- {name: portico/h/prod, user: {}}\n- {name: mine, user: {token: t}}\n";

    #[test]
    fn what_another_context_needs_stays() {
        let mut document = parsed(TWO);
        let path = Path::new("f");
        take_out(&mut document, "prod", path).unwrap();
        assert!(document.get(USERS, "portico/h/prod").is_some());
        assert_eq!(document.current_context(), Some(""));
        take_out(&mut document, "prod-shop", path).unwrap();
        assert!(document.get(USERS, "portico/h/prod").is_none());
        assert!(document.get(CLUSTERS, "portico/h/prod").is_none());
        assert!(document.get(USERS, "mine").is_some());
        assert!(take_out(&mut document, "mine", path).is_err());
        assert!(take_out(&mut document, "gone", path).is_err());
    }
}
