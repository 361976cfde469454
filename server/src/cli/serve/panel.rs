use super::{Context, enrolled_clusters, keys, listen, serve_on, store};
use crate::config::{Config, Role};
use crate::kube::Clusters;
use crate::panel::{PanelParts, router};
use crate::service::enrolment::{self, Enrolment, EnrolmentParts};
use crate::service::lifecycle::{self, MagnumAccess, MagnumParts, StoredAttempts};
use anyhow::Context as _;
use portico_assertion::{SigningKey, Verifier};
use portico_clock::Clock;
use portico_cluster_operations::Clients;
use portico_openstack::keystone;
use portico_openstack::rest::{RestClient, ServiceOptions};
use portico_runtime::request_id::{RequestIdLayer, Trust};
use std::sync::Arc;
use url::Url;

pub(super) async fn start(context: &Context<'_>) -> anyhow::Result<()> {
    let config = context.config;
    let (Some(section), Some(public_url)) = (&config.panel, config.public_url()) else {
        anyhow::bail!("[panel] or panel.public_url is missing");
    };
    let listener = listen("panel.listen", section.listen).await?;
    if !section.site_root.join("pkg").is_dir() {
        tracing::warn!(
            site_root = %section.site_root.display(),
            "no built site there: pages have no styles and no scripts until `cargo xtask site` ran"
        );
    }
    if let Some(downloads) = section.downloads.as_deref().filter(|path| !path.is_dir()) {
        tracing::warn!(
            path = %downloads.display(),
            "panel.downloads is not a directory: only the program that runs here is offered"
        );
    }
    crate::session_budgets::describe_metrics();
    crate::shared_watch::describe_metrics();
    enrolment::describe_metrics();
    lifecycle::describe_metrics();
    let clock = context.clock.clone();
    let keystone = config.keystone.as_ref();
    let keystone = keystone.map(|section| keystone::Client::new(section, clock.clone()));
    let keystone = keystone.transpose().context("keystone")?;
    let clusters = Arc::new(Clusters::new(config.clusters.clone(), clock.clone()));
    let following = Arc::clone(&clusters);
    enrolled_clusters::follow(context, move |clusters, key| {
        following.replace_enrolled(clusters, key);
    })
    .await?;
    let Magnum { enrolment, access } = magnum(context, keystone.clone(), clock.clone()).await?;
    let router = router(PanelParts {
        clock,
        enrolment,
        magnum: access,
        keystone,
        config: section.clone(),
        verifier: verifier(context)?,
        public_url: public_url.clone(),
        apps_domain: apps_domain(config),
        clusters,
        apps: config.apps.clone(),
        kube_auth_metrics_url: section
            .kube_auth_metrics_url
            .clone()
            .or_else(|| own_metrics(context)),
        lifecycle: context.lifecycle.clone(),
    })?;
    // only the gateway connects to the panel, and the panel's logs should have the same request ID
    let router = router.layer(RequestIdLayer::new(Trust::Sender));
    let listener = listener.until(context.behind.clone());
    serve_on("panel", listener, None, router, context.lifecycle)
}

/// The services for clusters that Magnum makes.
#[derive(Default)]
struct Magnum {
    enrolment: Option<Enrolment>,
    access: Option<MagnumAccess>,
}

/// Returns them, if the operator permits it.
async fn magnum(
    context: &Context<'_>,
    keystone: Option<keystone::Client>,
    clock: Clock,
) -> anyhow::Result<Magnum> {
    let config = context.config;
    let Some(section) = &config.enrolment else {
        return Ok(Magnum::default());
    };
    let (Some(keystone), Some(of_keystone)) = (keystone, &config.keystone) else {
        return Ok(Magnum::default());
    };
    let rest = RestClient::new(ServiceOptions {
        region: section.region.clone(),
        interface: section.interface.clone(),
        allow_plain_http: of_keystone.allow_plain_http,
        ca_file: of_keystone.ca_file.clone(),
        ..ServiceOptions::default()
    });
    let clients = Clients::new(&rest.context("enrolment")?, config.magnum.drivers());
    let store = store::open(context).await?;
    let parts = EnrolmentParts {
        magnum: clients.magnum.clone(),
        keystone: keystone.clone(),
        store: store.clone(),
        clock: clock.clone(),
    };
    Ok(Magnum {
        enrolment: Enrolment::new(section.clone(), parts),
        access: MagnumAccess::new(MagnumParts {
            clients,
            keystone,
            section: section.clone(),
            roles: config.magnum.roles.clone(),
            attempts: Arc::new(StoredAttempts::new(store, clock.clone())),
            clock,
        }),
    })
}

/// Returns the admin port of this process, if kube-auth is part of it.
fn own_metrics(context: &Context<'_>) -> Option<Url> {
    if !context.roles.contains(&Role::KubeAuth) {
        return None;
    }
    context.config.own_metrics_url()
}

/// Returns a verifier with the gateway's public keys; if both run in one process, they follow from
/// its own key.
fn verifier(context: &Context<'_>) -> anyhow::Result<Verifier> {
    let files = context
        .config
        .panel
        .as_ref()
        .map(|panel| panel.assertion_public_key_files.as_slice())
        .unwrap_or_default();
    if !files.is_empty() {
        let verifier = Verifier::from_files(files.iter().map(|file| file.as_path()))
            .context("panel.assertion_public_key_files")?;
        keys::follow_public_keys(context, verifier.clone())?;
        return Ok(verifier);
    }
    match &context.config.gateway {
        Some(gateway) if context.roles.contains(&Role::Gateway) => {
            let key = SigningKey::read(&gateway.assertion_key_file)
                .context("gateway.assertion_key_file")?;
            let verifier = Verifier::for_key(&key);
            Ok(context.own_verifier.get_or_init(|| verifier).clone())
        }
        _ => anyhow::bail!("panel.assertion_public_key_files is empty"),
    }
}

/// Returns the apps' domain of the gateway's section; without that section, `apps.` and the panel's
/// own host.
fn apps_domain(config: &Config) -> String {
    match (&config.gateway, config.public_url()) {
        (Some(gateway), _) => gateway.apps_domain.clone(),
        (None, Some(url)) => format!("apps.{}", url.host_str().unwrap_or_default()),
        (None, None) => String::new(),
    }
}
