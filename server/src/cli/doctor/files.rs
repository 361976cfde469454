//! Key files, certificates, the built site: whether they are there and fit each other.
use super::report::Report;
use crate::config::Config;
use gateway::rules::{Policy, Severity};
use portico_assertion::keys::{PrivateKey, PublicKey, SigningKey};
use portico_runtime::secret_file::read_secret_file;
use portico_runtime::tls::{ReloadingTls, TlsFiles};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use std::fmt::Display;
use std::path::Path;

const MAKE_KEYS: &str = "`portico keys generate --out DIR` makes what is missing";
const SAME_PAIR: &str = "name the two halves of one pair";

pub(super) fn check(config: &Config, report: &mut Report) {
    gateway(config, report);
    rules(config, report);
    panel(config, report);
    kube_auth(config, report);
    clusters(config, report);
}

fn gateway(config: &Config, report: &mut Report) {
    let Some(section) = &config.gateway else {
        return;
    };
    let file = &section.assertion_key_file;
    told(
        report,
        "gateway keys",
        file,
        SigningKey::read(file),
        MAKE_KEYS,
    );
    let file = &section.panel_sealing_key_file;
    let public = told(
        report,
        "gateway keys",
        file,
        PublicKey::read(file),
        MAKE_KEYS,
    );
    // only where one file configures both
    let private = config
        .panel
        .as_ref()
        .and_then(|panel| PrivateKey::read(&panel.private_key_file).ok());
    if let (Some(public), Some(private)) = (public, private)
        && public.kid() != private.kid()
    {
        report.fail(
            "gateway keys",
            "gateway.panel_sealing_key_file is not the public half of panel.private_key_file",
            SAME_PAIR,
        );
    }
    if let Some(files) = section.tls_files() {
        tls(report, "gateway TLS", files);
    }
    for app in &config.apps {
        let identity = &app.identity;
        let files = [
            &identity.user_file,
            &identity.password_file,
            &identity.token_file,
        ];
        for file in files.into_iter().flatten() {
            let secret = read_secret_file(file);
            told(
                report,
                "apps",
                file,
                secret,
                "write the app's credential into it",
            );
        }
    }
    if let Some(demo) = &section.demo {
        let file = &demo.password_file;
        told(
            report,
            "demo",
            file,
            read_secret_file(file),
            "write the users' password into it",
        );
        report.warn(
            "demo",
            "the sign-in page lists users and their password",
            "remove [gateway.demo] wherever somebody else can reach the gateway",
        );
    }
}

fn rules(config: &Config, report: &mut Report) {
    let Some(section) = &config.gateway else {
        return;
    };
    for app in &config.apps {
        if app.rules.is_empty() && app.rules_file.is_none() {
            continue;
        }
        let subject = format!("rules of {}", app.id);
        match Policy::load(app, &section.providers) {
            Ok(policy) => {
                let (rules, tests) = (policy.len(), policy.tests());
                report.ok(&subject, format!("{rules} rules, {tests} tests passed"));
                let lint = policy.lint();
                for one in lint.iter().filter(|one| one.severity == Severity::Warning) {
                    report.warn(&subject, one.to_string(), "`portico policy explain` says what it does");
                }
            }
            Err(error) => report.fail(
                &subject,
                error.to_string(),
                "`portico policy test` and `lint` name everything; a running gateway keeps the last \
                 good rules",
            ),
        }
    }
}

fn panel(config: &Config, report: &mut Report) {
    let Some(section) = &config.panel else { return };
    let file = &section.private_key_file;
    told(
        report,
        "panel keys",
        file,
        PrivateKey::read(file),
        MAKE_KEYS,
    );
    for file in &section.assertion_public_key_files {
        let read = portico_assertion::Verifier::from_files([file.as_path()]);
        told(report, "panel keys", file, read, MAKE_KEYS);
    }
    if section.site_root.join("pkg").is_dir() {
        report.ok("panel site", section.site_root.display().to_string());
    } else {
        report.fail(
            "panel site",
            format!("{} holds no built site", section.site_root.display()),
            "`cargo xtask site --release` builds it; panel.site_root says where it is",
        );
    }
}

fn kube_auth(config: &Config, report: &mut Report) {
    let Some(section) = &config.kube_auth else {
        return;
    };
    for file in &section.key_files {
        told(
            report,
            "kube-auth keys",
            file,
            PrivateKey::read(file),
            MAKE_KEYS,
        );
    }
    tls(report, "kube-auth TLS", section.tls_files());
}

fn clusters(config: &Config, report: &mut Report) {
    let opened: Option<Vec<String>> = config.kube_auth.as_ref().map(|section| {
        section
            .key_files
            .iter()
            .filter_map(|file| PrivateKey::read(file).ok())
            .map(|key| key.kid().to_owned())
            .collect()
    });
    for cluster in &config.clusters {
        let subject = format!("cluster {}", cluster.name);
        if let Some(file) = &cluster.ca_file {
            let read = std::fs::read(file)
                .map_err(|error| error.to_string())
                .and_then(|pem| {
                    CertificateDer::from_pem_slice(&pem).map_err(|error| error.to_string())
                });
            told(
                report,
                &subject,
                file,
                read,
                "name the API server's authority (PEM)",
            );
        }
        let file = &cluster.sealing_key_file;
        let key = told(report, &subject, file, PublicKey::read(file), MAKE_KEYS);
        if let (Some(key), Some(opened)) = (key, &opened)
            && !opened.iter().any(|kid| kid == key.kid())
        {
            report.fail(
                &subject,
                "kube-auth cannot open what is sealed to clusters.sealing_key_file",
                "put its private half into kube_auth.key_files",
            );
        }
        if cluster.accepted_projects.is_empty() && cluster.accepted_domains.is_empty() {
            report.warn(
                &subject,
                format!(
                    "accepts tokens of its owner project {} only",
                    cluster.owner_project
                ),
                "name accepted_projects where the owner is a project in which nobody has a role",
            );
        }
    }
}

fn tls(report: &mut Report, subject: &str, files: TlsFiles) {
    let file = files.cert_file.clone();
    told(
        report,
        subject,
        &file,
        ReloadingTls::load(files),
        "name a certificate chain, its key and, for kube-auth, the client authority (PEM)",
    );
}

fn told<T, E: Display>(
    report: &mut Report,
    subject: &str,
    file: &Path,
    read: Result<T, E>,
    next: &str,
) -> Option<T> {
    match read {
        Ok(value) => {
            report.ok(subject, file.display().to_string());
            Some(value)
        }
        Err(error) => {
            let text = error.to_string();
            let name = file.display().to_string();
            let text = if text.contains(&name) {
                text
            } else {
                format!("{name}: {text}")
            };
            report.fail(subject, text, next);
            None
        }
    }
}
