//! `portico kube-auth config` and `portico kube-auth bootstrap`.
use super::arguments::{BootstrapArgs, WebhookArgs};
use super::error::CliError;
use super::{cluster, line, print};
use crate::config::{Config, files};
use anyhow::Context as _;
use portico_cluster_sync::bootstrap;
use portico_kube_auth::authority::{authority_of_chain, only_certificates};
use portico_kube_auth::{
    ReviewKind, WebhookConfig, authorization_configuration, webhook_kubeconfig,
};
use portico_runtime::config::{ConfigError, Problem};
use portico_runtime::lifecycle::Lifecycle;
use portico_runtime::telemetry::{self, WorkerGuard};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Prints the files that the API server of one cluster needs.
pub(super) fn config(config: &Config, arguments: &WebhookArgs) -> Result<(), CliError> {
    let invalid = |key: &str, message: String| {
        CliError::Config(ConfigError::Invalid(vec![Problem::new(key, message)]))
    };
    let section = config
        .kube_auth
        .as_ref()
        .ok_or_else(|| invalid("kube_auth", "the section is missing".to_owned()))?;
    let cluster = cluster::find(config, &arguments.cluster)?;
    if arguments.structured_authorization {
        return print(&authorization_configuration(
            &arguments.config_file,
            arguments.cache_ttl,
        ));
    }
    let url = match &arguments.url {
        Some(url) => url.clone(),
        None => url_of(section.listen)?,
    };
    let ca_pem = match &arguments.ca_file {
        Some(path) => {
            let read = |path| anyhow::Ok(only_certificates(&std::fs::read(path)?)?);
            read(path).with_context(|| format!("read {}", path.display()))?
        }
        None => authority_in(&section.tls_cert_file)?,
    };
    print(&webhook_kubeconfig(
        cluster,
        &WebhookConfig {
            review: if arguments.authorization {
                ReviewKind::Authorization
            } else {
                ReviewKind::Authentication
            },
            url: &url,
            ca_pem: &ca_pem,
            client_cert_file: &arguments.client_cert_file,
            client_key_file: &arguments.client_key_file,
            config_file: &arguments.config_file,
            cache_ttl: arguments.cache_ttl,
        },
    ))
}

/// Returns the address where kube-auth listens, if API servers can connect to it.
fn url_of(listen: SocketAddr) -> anyhow::Result<String> {
    if listen.ip().is_unspecified() || listen.port() == 0 {
        anyhow::bail!(
            "--url is missing: kube_auth.listen is {listen}, which does not tell how an API server \
             reaches this machine. Add --url https://NAME:{}, with a name that the certificate in \
             kube_auth.tls_cert_file is for",
            listen.port()
        );
    }
    Ok(format!("https://{listen}"))
}

/// Returns the authority at the end of the chain in `kube_auth.tls_cert_file`.
fn authority_in(path: &Path) -> anyhow::Result<Vec<u8>> {
    let pem = std::fs::read(path).with_context(|| format!("read {}", path.display()))?;
    authority_of_chain(&pem).with_context(|| {
        format!(
            "--ca-file is missing, and the authority cannot be taken from {}. Add --ca-file with the \
             authority's certificate",
            path.display()
        )
    })
}

/// Binds the pre-defined roles, once or until the process is stopped.
pub(super) async fn bootstrap(
    named: &[PathBuf],
    arguments: BootstrapArgs,
    log: &mut Option<WorkerGuard>,
) -> Result<(), CliError> {
    // it runs beside a cluster, usually without a configuration: only [log] is used
    let log_config = if files(named).is_empty() {
        telemetry::LogConfig::default()
    } else {
        Config::load(named)?.log
    };
    *log = Some(telemetry::init(&log_config, None).context("start logging")?);
    let options = bootstrap::Options {
        kubeconfig: arguments.kubeconfig,
        developer_role: arguments.developer_role,
        viewer_role: arguments.viewer_role,
        projects: arguments.projects,
        exclude_namespaces: arguments.exclude_namespaces,
        state_file: arguments.state_file,
    };
    if arguments.watch {
        let lifecycle = Lifecycle::new(Duration::from_secs(5));
        let stop = lifecycle.soft_stop().clone();
        let failure = std::sync::Arc::new(std::sync::Mutex::new(None));
        let (life, slot) = (lifecycle.clone(), std::sync::Arc::clone(&failure));
        lifecycle.spawn(async move {
            let ended = bootstrap::watch(&options, stop.cancelled_owned()).await;
            if let (Err(error), Ok(mut slot)) = (ended, slot.lock()) {
                *slot = Some(error);
            }
            life.stop();
        });
        lifecycle
            .run_until_stopped()
            .await
            .context("receive signals")?;
        let failed = failure.lock().ok().and_then(|mut slot| slot.take());
        return match failed {
            Some(error) => Err(anyhow::Error::new(error).context("bind the roles").into()),
            None => Ok(()),
        };
    }
    let report = bootstrap::run_once(&options)
        .await
        .context("bind the roles")?;
    let mut text = String::new();
    line(
        &mut text,
        format_args!(
            "{} bound now, {} as they should be, {} namespaces left out",
            report.created.len(),
            report.unchanged,
            report.skipped.len()
        ),
    );
    for difference in &report.differences {
        line(&mut text, format_args!("left as it is: {difference}"));
    }
    print(&text)
}
