use super::{Context, listen, report_keystone, serve_on};
use anyhow::Context as _;
use portico_openstack::keystone;

pub(super) async fn start(context: &Context<'_>) -> anyhow::Result<()> {
    let (Some(section), Some(keystone)) = (&context.config.kube_auth, &context.config.keystone)
    else {
        anyhow::bail!("[kube_auth] or [keystone] is missing");
    };
    let listener = listen("kube_auth.listen", section.listen).await?;
    let keystone = keystone::Client::new(keystone).context("keystone")?;
    if !context.roles.contains(&crate::config::Role::Gateway) {
        report_keystone(context.readiness, keystone.clone());
    }
    let service = portico_kube_auth::service(section, context.config.clusters.clone(), keystone)?;
    serve_on(
        "kube-auth",
        listener,
        Some(section.tls_files()),
        service.router(),
        context.lifecycle,
    )
}
