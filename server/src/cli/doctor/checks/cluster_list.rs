//! Checks the files of the signed list of enrolled clusters: of the gateway, which publishes it, and of
//! kube-auth, which follows it.
use super::keys::{private, public, token};
use super::machine::{directory_of, try_writing};
use crate::cli::doctor::context::Context;
use crate::cli::doctor::fault::Fault;
use crate::cli::doctor::finding::Finding;
use portico_assertion::cluster_list::ListVerifier;
use portico_assertion::keys::SigningKey;
use std::fs::File;
use std::io;
use std::path::Path;

pub(super) fn check(context: &Context) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(section) = context.gateway().and_then(|one| one.cluster_list.as_ref()) {
        let subject = "gateway cluster list";
        let file = &section.signing_key_file;
        private(&mut findings, subject, file, || SigningKey::read(file));
        token(&mut findings, subject, &section.token_file);
    }
    if let Some(section) = context
        .kube_auth()
        .and_then(|one| one.cluster_list.as_ref())
    {
        let subject = "kube-auth cluster list";
        let file = &section.keys_file;
        // the issuer matters to lists only, not to keys
        let read = || ListVerifier::read(file, &section.url);
        public(&mut findings, subject, file, read);
        token(&mut findings, subject, &section.token_file);
        if let Some(file) = &section.state_file {
            findings.push(state(subject, file));
        }
    }
    findings
}

/// Checks the file for the last list, which kube-auth replaces as a whole. It is missing before the first
/// list; a list that has expired in it is not a fault.
fn state(subject: &str, file: &Path) -> Finding {
    let name = file.display().to_string();
    match readable(file).and_then(|()| try_writing(directory_of(file))) {
        Ok(()) => Finding::ok(subject, name),
        Err(error) => {
            let seen = format!("{name}: {error}");
            Finding::fault(Fault::ClusterListStateUnusable, subject, seen)
        }
    }
}

fn readable(file: &Path) -> io::Result<()> {
    match File::open(file).and_then(|file| file.metadata()) {
        Ok(found) if found.is_file() => Ok(()),
        Ok(_) => Err(io::Error::other("it is not a file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doctor_checks_the_state_file_of_the_cluster_list_before_and_after_the_first_list() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("list.jws");
        assert_eq!(state("list", &file).fault, None);
        std::fs::write(&file, "an old list").unwrap();
        assert_eq!(state("list", &file).fault, None);
        let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        let unusable = Some(Fault::ClusterListStateUnusable);
        assert_eq!(state("list", directory.path()).fault, unusable);
        let missing = directory.path().join("missing/list.jws");
        assert_eq!(state("list", &missing).fault, unusable);
    }
}
