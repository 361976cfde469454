//! The certificates of a cluster: its authority, the signing of requests, and the rotation.
mod authority;
mod others;
mod record;
mod rotation;
mod signing;

use super::{cluster_crumb, list_crumb, view_change::use_view_shown, without_scripts};
use crate::{
    api::lifecycle::get_cluster_certificates,
    components::{ErrorState, NeedsScripts, PageHead},
    context::use_session,
    routes::managed_clusters::ManagedClustersPage,
    ui::{SkeletonLines, icons, suspended},
};
use leptos::{children::ViewFn, prelude::*};
use portico_domain::panel::lifecycle::ClusterCertificates;
use uuid::Uuid;

const TITLE: &str = "Certificates";

#[component]
pub fn Certificates(cluster: Uuid) -> impl IntoView {
    let session = use_session();
    let project = session.project.get_untracked();
    let crumbs = vec![list_crumb(&project), cluster_crumb(&project, cluster)];
    use_view_shown(ManagedClustersPage::Certificates(cluster), TITLE.to_owned());
    let data = Resource::new(
        move || session.project.get(),
        move |_| get_cluster_certificates(cluster),
    );
    let reload = Callback::new(move |()| data.refetch());
    view! {
        <PageHead
            title=TITLE
            icon=icons::SHIELD
            crumbs
            lede="Magnum makes a certificate authority for each cluster. Sign-in through Portico needs no \
                  certificate of it."
        />
        <Suspense fallback=|| view! { <SkeletonLines lines=8 /> }>
            {move || suspended(async move {
                match data.await {
                    Ok(page) => content(cluster, page, reload),
                    Err(error) => view! {
                        <div class="card"><ErrorState error retry=reload /></div>
                    }
                    .into_any(),
                }
            })}
        </Suspense>
    }
    .into_any()
}

fn content(cluster: Uuid, page: ClusterCertificates, reload: Callback<()>) -> AnyView {
    let name = page.cluster.name;
    let signing = page.signing.refusal;
    let notice = without_scripts([
        format!("portico cluster cert sign {cluster} --csr FILE"),
        format!("portico cluster ca rotate {cluster}"),
    ]);
    let (effects, rotation) = (page.rotation_effects, page.rotation.refusal);
    let forms = move || {
        let form = rotation::Form::new(cluster, name.clone());
        view! {
            {signing::card(cluster, name.clone(), signing.clone())}
            {rotation::card(form, effects.clone(), rotation.clone())}
        }
        .into_any()
    };
    view! {
        {record::banner(cluster, page.record, reload)}
        {authority::card(page.authority, page.is_own, page.creator)}
        {others::card(page.other_authorities)}
        <NeedsScripts notice console=ViewFn::from(forms) />
    }
    .into_any()
}
