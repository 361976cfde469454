//! The access page: the role bindings of a cluster, one row per subject, granting and revoking.
mod bindings;
mod grant;
mod preview;
mod revoke;
pub mod subject;
mod what_can;
mod who_can;

use crate::{
    api::access::get_access,
    components::{Crumb, ErrorState, NameList, PageHead, use_toasts, who_can_link},
    context::use_session,
    hooks::keep_fresh,
    pages::{not_found::Nowhere, use_cluster_id},
    routes,
    ui::{Banner, SkeletonTable, Tone, icons, suspended},
};
use bindings::Bindings;
use grant::GrantCard;
use leptos::prelude::*;
use portico_domain::panel::{BindingRow, ResourceRef, RightQuestion};
use revoke::RevokeDialog;
use std::time::Duration;
use uuid::Uuid;
use what_can::WhatCan;
use who_can::WhoCan;

#[component]
pub fn Access() -> impl IntoView {
    let cluster = use_cluster_id();
    move || match cluster.get() {
        Some(cluster) => view! { <AccessOf cluster /> }.into_any(),
        None => view! { <Nowhere /> }.into_any(),
    }
}

#[component]
fn AccessOf(cluster: Uuid) -> impl IntoView {
    let session = use_session();
    let data = Resource::new(move || session.project.get(), move |_| get_access(cluster));
    let outdated = RwSignal::new(false);
    keep_fresh(data, Duration::from_secs(20), outdated, move || {
        get_access(cluster)
    });
    let changes = use_toasts().changes;
    Effect::new(move |known: Option<u32>| {
        let now = changes.get();
        if known.is_some_and(|known| known != now) {
            crate::hooks::refresh_quietly(data, outdated, get_access(cluster));
        }
        now
    });
    let retry = Callback::new(move |()| data.refetch());
    let revoking = RwSignal::new(None::<BindingRow>);
    let filter = RwSignal::new(String::new());
    let granting = grant::Entries::default();
    let crumbs = vec![Crumb::new(
        untrack(|| session.cluster_name(cluster)),
        routes::cluster(&session.project.get_untracked(), cluster),
    )];
    view! {
        <PageHead
            title="Access"
            icon=icons::SHIELD
            crumbs
            lede="Role bindings of this cluster, one row for each subject. Keystone authenticates \
                  users; these bindings decide what each user may do."
        />
        <Suspense fallback=|| view! { <SkeletonTable /> }>
            {move || suspended(async move {
                match data.await {
                    Ok(view) => {
                        let refused = view.bindings_refused.clone();
                        let partly = refused.is_none() && !view.not_permitted.is_empty();
                        let missing = partly.then(|| {
                            let names = view.not_permitted.clone();
                            let resource =
                                ResourceRef::new("rbac.authorization.k8s.io", "v1", "rolebindings");
                            let needed = RightQuestion::on("list", &resource, None);
                            view! {
                                <div class="mb-4">
                                    <Banner tone=Tone::Info>
                                        "You can't read the bindings of: "<NameList names />
                                        ". Users may hold rights there that are not listed. "
                                        {who_can_link(Some(&needed))}
                                    </Banner>
                                </div>
                            }
                        });
                        let bindings = view.bindings.clone();
                        let may_grant = view.grant_refused.is_none();
                        let grant = view! { <GrantCard cluster access=view entries=granting /> }
                            .into_any();
                        // a form that is refused moves below the bindings
                        let (first, last) = if may_grant {
                            (Some(grant), None)
                        } else {
                            (None, Some(grant))
                        };
                        view! {
                            {missing}
                            {first}
                            <Bindings cluster bindings refused filter revoking />
                            {last}
                        }
                        .into_any()
                    }
                    Err(error) => view! {
                        <div class="card"><ErrorState error retry /></div>
                    }
                    .into_any(),
                }
            })}
        </Suspense>
        <WhoCan cluster />
        <WhatCan cluster />
        <RevokeDialog cluster revoking />
    }
    .into_any()
}
