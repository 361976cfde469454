//! Checks key files and files with secrets: existence, permissions, and whether the two halves of a
//! pair match.
use crate::cli::doctor::context::Context;
use crate::cli::doctor::fault::Fault;
use crate::cli::doctor::finding::Finding;
use crate::config::Role;
use portico_assertion::keys::{PrivateKey, PublicKey, SigningKey};
use portico_runtime::secret_file::{read_secret_file, read_token_file};
use portico_store::KeyRing;
use std::fmt::Display;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

pub(super) fn check(context: &Context) -> Vec<Finding> {
    let mut findings = Vec::new();
    store(context, &mut findings);
    gateway(context, &mut findings);
    panel(context, &mut findings);
    kube_auth(context, &mut findings);
    apps(context, &mut findings);
    findings
}

fn store(context: &Context, findings: &mut Vec<Finding>) {
    let Some(section) = context.store() else {
        return;
    };
    for file in &section.key_files {
        let key = || {
            let text = read_secret_file(file).map_err(|error| error.to_string())?;
            KeyRing::from_base64(&[text]).map_err(|error| error.to_string())
        };
        private(findings, "store keys", file, key);
    }
}

fn gateway(context: &Context, findings: &mut Vec<Finding>) {
    let Some(section) = context.gateway() else {
        return;
    };
    let subject = "gateway keys";
    let file = &section.assertion_key_file;
    let signing = private(findings, subject, file, || SigningKey::read(file));
    let file = &section.panel_sealing_key_file;
    let public = public(findings, subject, file, || PublicKey::read(file));
    // the other halves belong to the panel: only where it is checked too
    let Some(panel) = context.panel() else { return };
    let private = PrivateKey::read(&panel.private_key_file).ok();
    if let (Some(public), Some(private)) = (public, private)
        && public.kid() != private.kid()
    {
        findings.push(Finding::fault(Fault::PanelKeyMismatch, subject, ""));
    }
    let own = signing.and_then(|key| key.public_pem().ok());
    if let (Some(own), false) = (own, panel.assertion_public_key_files.is_empty())
        && !panel
            .assertion_public_key_files
            .iter()
            .any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.trim() == own.trim()))
    {
        findings.push(Finding::fault(Fault::AssertionKeyMismatch, subject, ""));
    }
}

fn panel(context: &Context, findings: &mut Vec<Finding>) {
    let Some(section) = context.panel() else {
        return;
    };
    let subject = "panel keys";
    let file = &section.private_key_file;
    private(findings, subject, file, || PrivateKey::read(file));
    for file in &section.assertion_public_key_files {
        let read = || portico_assertion::Verifier::from_files([file.as_path()]);
        public(findings, subject, file, read);
    }
}

fn kube_auth(context: &Context, findings: &mut Vec<Finding>) {
    let subject = "kube-auth keys";
    let opened: Option<Vec<String>> = context.kube_auth().map(|section| {
        let keys = section.key_files.iter();
        keys.filter_map(|file| private(findings, subject, file, || PrivateKey::read(file)))
            .map(|key| key.kid().to_owned())
            .collect()
    });
    let of_clusters = context.config.clusters.iter().map(|cluster| {
        let subject = super::clusters::subject(cluster);
        (subject, &cluster.sealing_key_file)
    });
    let of_enrolled = context.config.enrolment.iter().map(|section| {
        let subject = "enrolled clusters".to_owned();
        (subject, &section.sealing_key_file)
    });
    for (subject, file) in of_clusters.chain(of_enrolled) {
        let key = public(findings, &subject, file, || PublicKey::read(file));
        if let (Some(key), Some(opened)) = (key, &opened)
            && !opened.is_empty()
            && !opened.iter().any(|kid| kid == key.kid())
        {
            let seen = format!("{} has key {}", file.display(), key.kid());
            findings.push(Finding::fault(Fault::ClusterKeyMismatch, subject, seen));
        }
    }
}

/// Checks the credentials of apps, of providers and of the demo; all belong to the gateway.
fn apps(context: &Context, findings: &mut Vec<Finding>) {
    let Some(section) = context.gateway() else {
        return;
    };
    let mut files: Vec<(String, &PathBuf)> = Vec::new();
    for app in &context.config.apps {
        let identity = &app.identity;
        let of_app = [
            &identity.user_file,
            &identity.password_file,
            &identity.token_file,
        ];
        let of_app = of_app.into_iter().flatten();
        files.extend(of_app.map(|file| (format!("app {}", app.id), file)));
    }
    for provider in &section.providers {
        let secret = provider.client_secret_file.iter();
        files.extend(secret.map(|file| (format!("provider {}", provider.id), file)));
    }
    if let Some(demo) = &section.demo {
        files.push(("demo".to_owned(), &demo.password_file));
        findings.push(Finding::fault(Fault::DemoUsers, "demo", ""));
    }
    for (subject, file) in files {
        secret(findings, &subject, file);
    }
    // the service account, for what a user's token cannot do: its secret belongs to kube-auth
    if let Some(account) = context
        .keystone()
        .and_then(|section| section.service_account.as_ref())
        .filter(|_| context.has(Role::KubeAuth))
    {
        for file in [&account.secret_file, &account.password_file]
            .into_iter()
            .flatten()
        {
            secret(findings, "service account", file);
        }
    }
}

fn secret(findings: &mut Vec<Finding>, subject: &str, file: &Path) {
    let read = || read_secret_file(file);
    look(
        findings,
        Fault::SecretFileUnusable,
        subject,
        file,
        true,
        read,
    );
}

/// Checks a token that two services share.
pub(super) fn token(findings: &mut Vec<Finding>, subject: &str, file: &Path) {
    let read = || read_token_file(file);
    look(
        findings,
        Fault::SecretFileUnusable,
        subject,
        file,
        true,
        read,
    );
}

pub(super) fn private<T, E: Display>(
    findings: &mut Vec<Finding>,
    subject: &str,
    file: &Path,
    read: impl FnOnce() -> Result<T, E>,
) -> Option<T> {
    look(findings, Fault::KeyFileUnusable, subject, file, true, read)
}

pub(super) fn public<T, E: Display>(
    findings: &mut Vec<Finding>,
    subject: &str,
    file: &Path,
    read: impl FnOnce() -> Result<T, E>,
) -> Option<T> {
    look(findings, Fault::KeyFileUnusable, subject, file, false, read)
}

fn look<T, E: Display>(
    findings: &mut Vec<Finding>,
    fault: Fault,
    subject: &str,
    file: &Path,
    is_private: bool,
    read: impl FnOnce() -> Result<T, E>,
) -> Option<T> {
    let name = file.display().to_string();
    if is_private && let Some(mode) = open_mode(file) {
        let seen = format!("{name} has mode {mode:04o}");
        findings.push(Finding::fault(Fault::KeyFilePermissions, subject, seen));
        return None;
    }
    match read() {
        Ok(value) => {
            findings.push(Finding::ok(subject, name));
            Some(value)
        }
        Err(error) => {
            let text = error.to_string();
            let seen = if text.contains(&name) {
                text
            } else {
                format!("{name}: {text}")
            };
            findings.push(Finding::fault(fault, subject, seen));
            None
        }
    }
}

/// Returns the mode of a file that users outside its group can access.
pub(super) fn open_mode(file: &Path) -> Option<u32> {
    let mode = std::fs::metadata(file).ok()?.permissions().mode() & 0o7777;
    (mode & 0o007 != 0).then_some(mode)
}
