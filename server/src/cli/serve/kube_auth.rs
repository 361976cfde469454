use super::{Context, listen, report_keystone, serve_with};
use crate::cli::service_account;
use crate::kube::policy_config_map::PolicyWatch;
use anyhow::Context as _;
use portico_kube_auth::Validator;
use portico_openstack::keystone;
use portico_runtime::tls::ReloadingTls;

pub(super) async fn start(context: &Context<'_>) -> anyhow::Result<()> {
    let (Some(section), Some(keystone)) = (&context.config.kube_auth, &context.config.keystone)
    else {
        anyhow::bail!("[kube_auth] or [keystone] is missing");
    };
    let listener = listen("kube_auth.listen", section.listen).await?;
    let clock = context.clock.clone();
    let client = keystone::Client::new(keystone, clock.clone()).context("keystone")?;
    if !context.roles.contains(&crate::config::Role::Gateway) {
        report_keystone(context.readiness, client.clone());
    }
    let account = service_account::open(keystone, client.clone())?;
    let validator = match (&account, section.ask_with_service_account) {
        (Some(account), true) => Validator::with_account(client.clone(), account.clone()),
        (None, true) => anyhow::bail!(
            "kube_auth.ask_with_service_account: there is no [keystone.service_account]"
        ),
        (_, false) => client.clone().into(),
    };
    if let Some(account) = account {
        // Keystone may be unreachable now: nothing here needs the account at once
        context.lifecycle.spawn_background(async move {
            // logged by the account itself
            let _ = account.check().await;
        });
    }
    let clusters = context.config.clusters.clone();
    let service = portico_kube_auth::service(section, clusters, validator, clock)?;
    for cluster in &context.config.clusters {
        let Some(source) = &cluster.authorization_policy_config_map else {
            continue;
        };
        let watch = PolicyWatch::new(cluster.id, source.clone())
            .await
            .with_context(|| format!("cluster {}: authorization_policy_config_map", cluster.id))?;
        context
            .lifecycle
            .spawn_background(watch.run(service.clone()));
    }
    // reads the saved list: before the listener, so that enrolled clusters are served at once
    if let Some(list) = service.cluster_list() {
        context.lifecycle.spawn_background(list?.run());
    }
    let files = section.tls_files();
    let tls = match service.client_authorities() {
        Some(authorities) => ReloadingTls::load_with(files, authorities),
        None => ReloadingTls::load(files),
    };
    let tls = tls.context("kube-auth: TLS")?;
    serve_with(
        "kube-auth",
        listener,
        Some(tls),
        service.router(),
        context.lifecycle,
    );
    Ok(())
}
