//! Running of roles: listeners, the admin port, startup messages, shutdown.
mod certificate_expiry;
mod enrolled_clusters;
mod gateway;
mod keys;
mod kube_auth;
mod panel;
mod reload;
mod rules;
mod store;
mod store_watch;

use super::error::CliError;
use crate::config::{Config, Role};
use anyhow::Context as _;
use keys::OwnVerifier;
use portico_clock::Clock;
use portico_runtime::admin::{self, Readiness, Weight};
use portico_runtime::lifecycle::Lifecycle;
use portico_runtime::listener::{HttpService, Listener};
use portico_runtime::metrics::Metrics;
use portico_runtime::open_files;
use portico_runtime::telemetry::{self, WorkerGuard};
use portico_runtime::tls::{ReloadingTls, TlsFiles};
use portico_runtime::traces::Traces;
use portico_store::Store;
use std::cell::Cell;
use std::net::SocketAddr;
use std::path::PathBuf;
use tokio::sync::OnceCell;
use tokio_util::sync::{CancellationToken, DropGuard};

/// What a role needs from the process.
pub(super) struct Context<'c> {
    pub config: &'c Config,
    /// The files of the configuration.
    pub files: &'c [PathBuf],
    pub roles: &'c [Role],
    pub lifecycle: &'c Lifecycle,
    pub readiness: &'c Readiness,
    /// The source of the time of day for all roles.
    pub clock: Clock,
    /// The verifier of this process's panel, if the gateway's key is its own.
    pub own_verifier: OwnVerifier,
    /// Cancelled when no more requests come through the gateway: in one process with it, after its
    /// last request.
    pub behind: CancellationToken,
    /// The gateway's guard, which cancels `behind`.
    pub front: Cell<Option<DropGuard>>,
    /// See [`store::open`].
    pub store: OnceCell<Store>,
}

/// Runs the roles until the process is stopped. The guard of the log is left in `log`.
pub(super) async fn serve(
    files: &[PathBuf],
    config: Config,
    roles: &[Role],
    log: &mut Option<WorkerGuard>,
) -> Result<(), CliError> {
    let traces = Traces::start(&config.telemetry.traces).context("start tracing")?;
    *log = Some(telemetry::init(&config.log, traces.as_ref()).context("start logging")?);
    let clock = Clock::system();
    let metrics = Metrics::install(clock.now()).context("install metrics")?;
    portico_store::describe_metrics();
    let lifecycle = Lifecycle::ending(&config.shutdown);
    let readiness = Readiness::new();
    let names: Vec<String> = roles.iter().map(ToString::to_string).collect();
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        roles = names.join(", "),
        open_files = open_files::raise(),
        "starting"
    );
    let started = start(
        files, &config, roles, &lifecycle, &readiness, &metrics, clock,
    )
    .await;
    if let Err(error) = started {
        // the roles that did start are stopped in order
        lifecycle.stop();
        lifecycle.drain().await;
        flush(traces).await;
        return Err(error.into());
    }
    if let Some(url) = config.public_url() {
        tracing::info!(%url, "ready");
    } else {
        tracing::info!("ready");
    }
    lifecycle
        .run_until_stopped()
        .await
        .context("receive signals")?;
    flush(traces).await;
    tracing::info!("stopped");
    Ok(())
}

/// Sends the last spans after everything that creates some has ended.
async fn flush(traces: Option<Traces>) {
    if let Some(traces) = traces {
        traces.flush().await;
    }
}

async fn start(
    files: &[PathBuf],
    config: &Config,
    roles: &[Role],
    lifecycle: &Lifecycle,
    readiness: &Readiness,
    metrics: &Metrics,
    clock: Clock,
) -> anyhow::Result<()> {
    // a port in use is found before anything else is started
    let admin = listen("admin.listen", config.admin.listen).await?;
    let (behind, front) = if roles.contains(&Role::Gateway) {
        let behind = CancellationToken::new();
        (behind.clone(), Some(behind.drop_guard()))
    } else {
        (lifecycle.soft_stop().clone(), None)
    };
    let context = Context {
        config,
        files,
        roles,
        lifecycle,
        readiness,
        clock,
        own_verifier: OwnVerifier::default(),
        behind,
        front: Cell::new(front),
        store: OnceCell::new(),
    };
    reload::follow(&context)?;
    for role in roles {
        match role {
            Role::KubeAuth => kube_auth::start(&context).await,
            Role::Panel => panel::start(&context).await,
            Role::Gateway => gateway::start(&context).await,
        }
        .with_context(|| format!("start {role}"))?;
    }
    certificate_expiry::follow(&context)?;
    lifecycle.spawn_background(metrics.clone().run_upkeep());
    serve_on(
        "admin",
        admin,
        None,
        admin::router(
            &config.admin.hosts,
            readiness.clone(),
            metrics.clone(),
            lifecycle.clone(),
        )
        .context("admin.hosts")?,
        lifecycle,
    )
}

/// Binds an address; the error names the key to change.
async fn listen(key: &'static str, address: SocketAddr) -> anyhow::Result<Listener> {
    Listener::bind(address).await.context(key)
}

/// Serves a role on a listener and logs the address.
fn serve_on(
    name: &'static str,
    listener: Listener,
    tls: Option<TlsFiles>,
    service: impl HttpService,
    lifecycle: &Lifecycle,
) -> anyhow::Result<()> {
    let tls = tls.map(ReloadingTls::load).transpose();
    let tls = tls.with_context(|| format!("{name}: TLS"))?;
    serve_with(name, listener, tls, service, lifecycle);
    Ok(())
}

/// Serves with certificates that are loaded already.
fn serve_with(
    name: &'static str,
    listener: Listener,
    tls: Option<ReloadingTls>,
    service: impl HttpService,
    lifecycle: &Lifecycle,
) {
    let scheme = if tls.is_some() { "https" } else { "http" };
    let listener = listener.named(name);
    let listener = match tls {
        Some(tls) => listener.with_tls(tls),
        None => listener,
    };
    tracing::info!(
        role = name,
        "listening on {scheme}://{}",
        listener.address()
    );
    listener.serve(service, lifecycle);
}

/// Reports Keystone's state. An unreachable Keystone does not take the process out of service:
/// sessions and the webhook's answers for an outage still work.
fn report_keystone(readiness: &Readiness, client: portico_openstack::keystone::Client) {
    readiness.add("keystone", Weight::Informs, move || {
        let client = client.clone();
        async move {
            let answer = client.version().await;
            answer.map(drop).map_err(|error| match error.next_step() {
                Some(next_step) => format!("{error}; {next_step}"),
                None => error.to_string(),
            })
        }
    });
}
