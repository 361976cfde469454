//! The authentication page: how a cluster authenticates users, whom it accepts, and tests of both.
mod accepted;
mod attempt;
mod commands;
mod figures;
mod identity;
mod programs;
mod self_test;
mod user;
mod user_test;

use crate::{
    api::authentication::get_authentication,
    components::{Crumb, ErrorState, FormOutcome, PageHead},
    context::use_session,
    pages::{not_found::Nowhere, use_cluster_id},
    routes,
    ui::{Badge, SkeletonPage, Tone, icons, suspended},
};
use figures::FiguresCard;
use leptos::prelude::*;
use portico_domain::{cluster::RawTokens, panel::AuthenticationView};
use programs::ProgramsCard;
use self_test::SelfTestCard;
use user_test::UserTestCard;
use uuid::Uuid;

#[component]
pub fn Authentication() -> impl IntoView {
    let cluster = use_cluster_id();
    move || match cluster.get() {
        Some(cluster) => view! { <AuthenticationOf cluster /> }.into_any(),
        None => view! { <Nowhere /> }.into_any(),
    }
}

#[component]
fn AuthenticationOf(cluster: Uuid) -> impl IntoView {
    let session = use_session();
    let data = Resource::new(
        move || session.project.get(),
        move |_| get_authentication(cluster),
    );
    let retry = Callback::new(move |()| data.refetch());
    view! {
        <FormOutcome />
        <Suspense fallback=|| view! { <SkeletonPage /> }>
            {move || suspended(async move {
                match data.await {
                    Ok(page) => full(cluster, page),
                    Err(error) => view! {
                        <PageHead title="Authentication" />
                        <div class="card"><ErrorState error retry /></div>
                    }
                    .into_any(),
                }
            })}
        </Suspense>
    }
    .into_any()
}

fn full(cluster: Uuid, page: AuthenticationView) -> AnyView {
    let session = use_session();
    let crumbs = vec![Crumb::new(
        untrack(|| session.cluster_name(cluster)),
        routes::cluster(&session.project.get_untracked(), cluster),
    )];
    let risk = (page.raw_tokens != RawTokens::Off).then(|| {
        view! {
            <Badge tone=Tone::Warn icon=icons::WARNING text="Bare Keystone tokens accepted" />
        }
        .into_any()
    });
    let aside = risk.unwrap_or_else(|| ().into_any());
    view! {
        <PageHead
            title="Authentication"
            icon=icons::KEY
            crumbs
            aside
            lede="How this cluster authenticates you. kube-auth validates your token with Keystone \
                  and passes your identity to the API server. The Access page shows what each user \
                  may do."
        />
        <div class="grid grid-cols-1 gap-4">
            {identity::card(&page)}
            {accepted::card(&page)}
            <SelfTestCard cluster last=page.last_self_test.clone() />
            <UserTestCard cluster form=page.user_test.clone() last=page.last_user_test.clone() />
            <FiguresCard cluster />
            {commands::cards(cluster, &page)}
            <ProgramsCard />
        </div>
    }
    .into_any()
}
