use super::{
    Context, enrolled_clusters, keys, listen, report_keystone, rules, serve_on, store, store_watch,
};
use anyhow::Context as _;
use gateway::{Cluster, Deps, Gateway};
use portico_assertion::{Signer, SigningKey};
use portico_openstack::keystone;

pub(super) async fn start(context: &Context<'_>) -> anyhow::Result<()> {
    let config = context.config;
    let (Some(section), Some(keystone)) = (&config.gateway, &config.keystone) else {
        anyhow::bail!("[gateway] or [keystone] is missing");
    };
    let listener = listen("gateway.listen", section.listen).await?;
    let store = store::open(context).await?;
    let clock = context.clock.clone();
    let client = keystone::Client::new(keystone, clock.clone()).context("keystone")?;
    let signing_key =
        SigningKey::read(&section.assertion_key_file).context("gateway.assertion_key_file")?;
    let clusters: Result<Vec<_>, _> = config.clusters.iter().cloned().map(Cluster::read).collect();
    let built = Gateway::build(
        section.clone(),
        Deps {
            clock,
            store: store.clone(),
            keystone: client.clone(),
            default_domain: keystone.default_domain.clone(),
            signer: Signer::new(signing_key),
            clusters: clusters.context("clusters")?,
            apps: config.apps.clone(),
        },
    )?;
    let following = built.clone();
    enrolled_clusters::follow(context, move |clusters, key| {
        following.replace_enrolled_clusters(clusters, key);
    })
    .await?;
    keys::follow_store_keys(context, store.clone())?;
    rules::follow(context, built.clone())?;
    keys::follow_assertion_key(context, section.assertion_key_file.clone(), built.clone())?;
    store_watch::follow(context, store);
    report_keystone(context.readiness, client);
    let proxies = section.trusted_proxies.clone();
    let mut listener = listener
        .with_limits(section.listener_limits())
        .with_proxies(move |peer| proxies.iter().any(|network| network.contains(&peer)));
    if let Some(front) = context.front.take() {
        listener = listener.notify_when_closed(front);
    }
    let tls = section.tls_files();
    serve_on("gateway", listener, tls, built.service(), context.lifecycle)?;
    let (announced, leaving) = (context.lifecycle.announced().clone(), built.clone());
    context.lifecycle.spawn(async move {
        announced.cancelled().await;
        leaving.leave();
    });
    let stop = context.lifecycle.soft_stop().clone();
    context
        .lifecycle
        .spawn(async move { built.run(stop).await });
    Ok(())
}
