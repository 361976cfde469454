//! The owner of a cluster, what depends on the owner, and the rotation of the cluster's credential.
mod rotation;

use super::{cluster_crumb, list_crumb, view_change::use_view_shown, without_scripts};
use crate::{
    api::cluster_repairs::get_ownership,
    components::{Age, ErrorState, NeedsScripts, PageHead},
    context::use_session,
    routes::managed_clusters::ManagedClustersPage,
    ui::{Banner, Card, DescriptionList, SkeletonLines, Status, Tone, Why, icons, suspended},
};
use leptos::{children::ViewFn, prelude::*};
use portico_domain::panel::lifecycle::{OwnerStanding, Ownership};
use uuid::Uuid;

const TITLE: &str = "Credential and ownership";

#[component]
pub fn OwnershipPage(cluster: Uuid) -> impl IntoView {
    let session = use_session();
    let project = session.project.get_untracked();
    let crumbs = vec![list_crumb(&project), cluster_crumb(&project, cluster)];
    use_view_shown(ManagedClustersPage::Ownership(cluster), TITLE.to_owned());
    let data = Resource::new(
        move || session.project.get(),
        move |_| get_ownership(cluster),
    );
    // it stays while the page is read again
    let is_done = RwSignal::new(false);
    let reload = Callback::new(move |()| data.refetch());
    view! {
        <PageHead
            title=TITLE
            icon=icons::KEY
            crumbs
            lede="A cluster uses the cloud with a credential of the user who owns it: the user who created it, or \
                  who took its ownership."
        />
        <div role="status" data-part="done">
            {move || is_done.get().then(|| view! {
                <div class="mt-4">
                    <Banner tone=Tone::Ok>
                        "Magnum has made the new credential. The journal of the cluster has the change, also for \
                         the owner before."
                    </Banner>
                </div>
            })}
        </div>
        <Suspense fallback=|| view! { <SkeletonLines lines=8 /> }>
            {move || suspended(async move {
                match data.await {
                    Ok(page) => content(cluster, page, is_done, reload),
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

fn content(
    cluster: Uuid,
    page: Ownership,
    is_done: RwSignal<bool>,
    reload: Callback<()>,
) -> AnyView {
    let dependencies = page.dependencies.iter();
    let dependencies = dependencies
        .map(|text| view! { <li>{text.clone()}</li> })
        .collect_view();
    let orphaned = page.is_orphaned().then(|| orphaned(&page));
    let rows = facts(&page);
    view! {
        {orphaned}
        <div class="mt-4" data-part="owner">
            <Card title="Owner"><DescriptionList rows /></Card>
        </div>
        <div class="mt-4" data-part="dependencies">
            <Card title="What depends on the owner"><ul class="notes">{dependencies}</ul></Card>
        </div>
        {rotation_card(cluster, page, is_done, reload)}
    }
    .into_any()
}

fn facts(page: &Ownership) -> Vec<(String, AnyView)> {
    let unknown = || "Not known".into_any();
    let name = match (&page.owner, page.is_own) {
        (Some(owner), true) => format!("{} (you)", owner.name).into_any(),
        (Some(owner), false) => owner.name.clone().into_any(),
        (None, _) => unknown(),
    };
    let id = page.owner.as_ref().map_or_else(unknown, |owner| {
        let id = owner.id.clone();
        view! { <code class="wrap-anywhere">{id}</code> }.into_any()
    });
    let mut rows = vec![
        ("Owner", name),
        ("User ID", id),
        ("Role in the project", standing(&page.standing)),
        ("Driver", page.driver.clone().into_any()),
        (
            "Read",
            view! { <Age at=Some(page.read_at) /> " ago" }.into_any(),
        ),
    ];
    if let Some(passed) = page.last_passed.clone() {
        rows.push(("Last change of the owner", passed.into_any()));
    }
    rows.into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn standing(standing: &OwnerStanding) -> AnyView {
    match standing {
        OwnerStanding::Member => view! { <Status tone=Tone::Ok text="Has a role" /> }.into_any(),
        OwnerStanding::Left => {
            view! { <Status tone=Tone::Bad text="Owner left the project" /> }.into_any()
        }
        OwnerStanding::Unknown(reason) => {
            let reason = reason.clone();
            view! {
                <Status tone=Tone::Idle text="Not known" />
                <p class="text-muted wrap-anywhere">{reason}</p>
            }
            .into_any()
        }
    }
}

/// Returns that the cluster needs another owner, and why.
fn orphaned(page: &Ownership) -> AnyView {
    let title = if page.standing == OwnerStanding::Left {
        "Owner left the project: the credential of the cluster is invalid, or will be."
    } else {
        "The credential of the cluster is invalid."
    };
    let text = page.invalid_credential.clone();
    let text = text.map(|text| view! { <p class="mono wrap-anywhere">{text}</p> });
    let next = if page.rotation.is_offered() {
        "Rotate the credential below, before nodes are added or the cluster is changed."
    } else {
        "The credential cannot be rotated here, for the reason below. Contact the operator of the cloud."
    };
    view! {
        <div class="mt-4" data-part="orphaned">
            <Banner tone=Tone::Bad>
                <p class="font-semibold">{title}</p>
                {text}
                <p>{next}</p>
            </Banner>
        </div>
    }
    .into_any()
}

/// Returns the card with what a rotation does, and its form.
fn rotation_card(
    cluster: Uuid,
    page: Ownership,
    is_done: RwSignal<bool>,
    reload: Callback<()>,
) -> AnyView {
    let button = button(page.is_own);
    let effects = page.effects.into_iter();
    let effects = effects.map(|text| view! { <li>{text}</li> }).collect_view();
    let control = match page.rotation.refusal {
        Some(reason) => {
            let text = reason.clone();
            view! {
                <Banner tone=Tone::Info>{text}</Banner>
                <div>
                    <Why
                        id="credential-refusal"
                        label=button
                        reason
                        action="rotate-credential"
                        class="btn btn-danger"
                    />
                </div>
            }
            .into_any()
        }
        None => {
            let notice = without_scripts([format!("portico cluster credential rotate {cluster}")]);
            let form = rotation::Form::new(cluster, page.cluster.name, button);
            let done = Callback::new(move |()| {
                is_done.set(true);
                reload.run(());
            });
            let console = move || rotation::view(&form, done);
            view! { <NeedsScripts notice console=ViewFn::from(console) /> }.into_any()
        }
    };
    let title = if page.is_own {
        "Rotate the credential"
    } else {
        "Take ownership"
    };
    view! {
        <div class="mt-4" data-part="rotation">
            <Card title>
                <div class="grid grid-cols-1 gap-3">
                    <ul class="notes">{effects}</ul>
                    {control}
                </div>
            </Card>
        </div>
    }
    .into_any()
}

fn button(is_own: bool) -> &'static str {
    if is_own {
        "Rotate the credential"
    } else {
        "Take ownership"
    }
}

/// Returns a warning on the page of the cluster if it needs another owner; it is read after the page is
/// shown, because Keystone is asked.
#[component]
pub fn OrphanedWarning(cluster: Uuid) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let page = RwSignal::new(None::<Ownership>);
    Effect::new(move |_| {
        let asked = get_ownership(cluster);
        leptos::task::spawn_local(async move {
            // without it nothing is known; the page of the owner shows why
            if let Ok(read) = asked.await {
                let _ = page.try_set(Some(read));
            }
        });
    });
    view! {
        {move || page.get().filter(Ownership::is_orphaned).map(|page| {
            let href = ManagedClustersPage::Ownership(cluster).address(&project);
            let text = if page.standing == OwnerStanding::Left {
                "Owner left the project"
            } else {
                "The credential of the cluster is invalid"
            };
            view! {
                <div class="mt-4" data-part="owner-left">
                    <Banner tone=Tone::Bad>
                        <p><Status tone=Tone::Bad text /></p>
                        <p>
                            "Changes of the cluster fail as soon as they need its credential. "
                            <a href=href>"Credential and ownership"</a>
                        </p>
                    </Banner>
                </div>
            }
        })}
    }
    .into_any()
}
