//! The kubeconfig's files.
use super::document::Document;
use super::entry::is_ours;
use crate::CommandError;
use std::path::{Path, PathBuf};

/// Returns the files, in kubectl's order: the given one, else all of `$KUBECONFIG`, else
/// `~/.kube/config`.
pub fn all(asked: Option<PathBuf>) -> Result<Vec<PathBuf>, CommandError> {
    if let Some(path) = asked {
        return Ok(vec![path]);
    }
    let listed: Vec<PathBuf> = std::env::var_os("KUBECONFIG")
        .map(|list| std::env::split_paths(&list).collect())
        .unwrap_or_default();
    let listed: Vec<PathBuf> = listed
        .into_iter()
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    if !listed.is_empty() {
        return Ok(listed);
    }
    std::env::var_os("HOME")
        .map(|home| vec![PathBuf::from(home).join(".kube/config")])
        .ok_or(CommandError::NoHome)
}

/// Returns the file to write a context to: the first that has it, else the first. If another entry
/// has a context with that name in any of the files, kubectl would take one for the other.
pub fn target(files: &[PathBuf], context: &str) -> Result<PathBuf, CommandError> {
    let mut holder = None;
    for path in files {
        let Some(known) = Document::read(path)?.context(context) else {
            continue;
        };
        if !is_ours(&known.user) {
            return Err(CommandError::ContextTaken {
                context: context.to_owned(),
                path: path.clone(),
            });
        }
        holder.get_or_insert(path);
    }
    let path = holder.or(files.first()).ok_or(CommandError::NoHome)?;
    Ok(behind_links(path))
}

/// Returns the target of a symbolic link, so that the link is kept; the target may not exist yet.
pub fn behind_links(path: &Path) -> PathBuf {
    if let Ok(found) = std::fs::canonicalize(path) {
        return found;
    }
    match std::fs::read_link(path) {
        Ok(pointed) => match path.parent() {
            Some(directory) => directory.join(pointed),
            None => pointed,
        },
        Err(_) => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(directory: &Path, name: &str, text: &str) -> PathBuf {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn a_context_is_written_where_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let first = write(&root, "first", "");
        let ours = "contexts: [{name: prod, context: {cluster: c, user: portico/h/prod}}]";
        let second = write(&root, "second", ours);
        let files = [first.clone(), second.clone(), root.join("missing")];
        assert_eq!(target(&files, "prod").unwrap(), second);
        assert_eq!(target(&files, "new").unwrap(), first);
        let theirs = "contexts: [{name: new, context: {cluster: c, user: u}}]";
        let third = write(&root, "third", theirs);
        assert!(target(&[first, third], "new").is_err());
    }

    #[test]
    fn a_link_stays_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let link = root.join("config");
        std::os::unix::fs::symlink("real", &link).unwrap();
        assert_eq!(behind_links(&link), root.join("real"));
        std::fs::write(root.join("real"), "").unwrap();
        assert_eq!(behind_links(&link), root.join("real"));
    }
}
