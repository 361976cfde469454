//! The first page of a project: what needs attention, then clusters and apps.
use crate::{
    api::session::get_launchpad,
    cluster_states::use_cluster_states,
    components::{AttentionList, ErrorState, FormOutcome, NameList, PageHead},
    context::use_session,
    format,
    hooks::keep_fresh,
    routes,
    ui::{
        Badge, Banner, Icon, SkeletonCards, SkeletonLines, StateMessage, Status, Tone, icons,
        suspended,
    },
};
use leptos::prelude::*;
use portico_domain::panel::{
    AppCard, AppKind, Attention, AttentionGap, ClusterCard, Launchpad as Data,
};
use std::time::Duration;

#[component]
pub fn Launchpad() -> impl IntoView {
    let session = use_session();
    let data = Resource::new(move || session.project.get(), |_| get_launchpad());
    let outdated = RwSignal::new(false);
    keep_fresh(data, Duration::from_secs(15), outdated, get_launchpad);
    let retry = Callback::new(move |()| data.refetch());
    let name = move || {
        let id = session.project.get();
        session.view.with(|view| {
            view.projects
                .iter()
                .find(|project| project.id == id)
                .map_or_else(|| "Launchpad".to_owned(), |project| project.name.clone())
        })
    };
    let lede = move || {
        session.view.with(|view| match &view.project {
            None => "You have no role in this project.".to_owned(),
            Some(project) => format!("Project in domain {}", project.domain.name),
        })
    };
    let roles = move || {
        session.view.with(|view| {
            let names: Vec<String> = view.roles.iter().map(|role| role.name.clone()).collect();
            if view.project.is_none() || names.is_empty() {
                return ().into_any();
            }
            view! { " · your roles here: "<NameList names /> }.into_any()
        })
    };
    view! {
        <main id="main" tabindex="-1" class="page">
            {move || view! { <PageHead title=name() icon=icons::FOLDER lede=lede() lede_end=roles() /> }}
            <FormOutcome />
            {move || outdated.get().then(|| view! {
                <div class="mb-4">
                    <Banner tone=Tone::Warn>
                        "This page could not refresh; retrying."
                    </Banner>
                </div>
            })}
            <Suspense fallback=loading>
                {move || suspended(async move {
                    match data.await {
                        Ok(data) => full(data, &session.project.get_untracked()),
                        Err(error) => view! {
                            <div class="card"><ErrorState error retry /></div>
                        }
                        .into_any(),
                    }
                })}
            </Suspense>
        </main>
    }
    .into_any()
}

fn loading() -> AnyView {
    view! {
        <div class="card card-body">
            <SkeletonLines lines=4 />
        </div>
        <div class="section">
            <SkeletonCards />
        </div>
    }
    .into_any()
}

fn full(data: Data, project: &str) -> AnyView {
    // a cluster without permissions shows that in its hint
    let nothing_open = data.clusters.iter().all(|card| card.rights_hint.is_some())
        && !data.apps.iter().any(|app| app.allowed);
    let first = if nothing_open {
        nothing(&data.asks_for)
    } else {
        attention(data.attention, data.attention_gaps)
    };
    let states = use_cluster_states();
    for card in &data.clusters {
        states.note(card);
    }
    let clusters = data
        .clusters
        .into_iter()
        .map(|card| view! { <li class="card">{cluster_card(card, project)}</li> })
        .collect_view();
    view! {
        {first}
        <section class="section">
            <div class="section-head">
                <h2>"Clusters"</h2>
                <a href=routes::managed_clusters::list(project)>"Manage clusters"</a>
            </div>
            <ul class="grid-cards">{clusters}</ul>
        </section>
        {apps(data.apps, project, &data.support_contact)}
    }
    .into_any()
}

fn attention(items: Vec<Attention>, gaps: Vec<AttentionGap>) -> AnyView {
    view! {
        <section aria-labelledby="attention">
            <div class="section-head">
                <h2 id="attention">"Needs attention"</h2>
            </div>
            <div class="card">
                <AttentionList items gaps with_cluster=true />
            </div>
        </section>
    }
    .into_any()
}

fn cluster_card(card: ClusterCard, project: &str) -> AnyView {
    let nodes = match (card.nodes_ready, card.nodes_total) {
        // without nodes the status is "No nodes" already
        (Some(ready), Some(total)) if total > 0 => Some(format!(
            "{ready} of {} ready",
            format::counted(total as usize, "node")
        )),
        _ => None,
    };
    let version = card.version.map(|version| view! { <Badge text=version /> });
    view! {
        <a class="card-link" data-row="" href=routes::cluster(project, card.id)>
            <span class="flex flex-wrap items-center justify-between gap-2">
                <span class="card-title">
                    <Icon icon=icons::BOXES />
                    {card.name}
                </span>
                {version}
            </span>
            <span class="flex flex-wrap gap-x-3">
                <Status tone=Tone::from(card.health) text=card.status />
                {nodes.map(|nodes| view! { <span class="text-muted">{nodes}</span> })}
            </span>
            <span class="text-muted">"You may: "{card.you_may}</span>
            {card.rights_hint.map(|hint| view! { <span class="text-muted">{hint}</span> })}
        </a>
    }
    .into_any()
}

fn apps(apps: Vec<AppCard>, project: &str, contact: &str) -> AnyView {
    if apps.is_empty() {
        return ().into_any();
    }
    let cards = apps
        .into_iter()
        .map(|app| {
            let class = if app.allowed {
                "card"
            } else {
                "card card-muted"
            };
            view! { <li class=class>{app_card(app, project, contact)}</li> }
        })
        .collect_view();
    view! {
        <section class="section">
            <div class="section-head">
                <h2>"Apps"</h2>
            </div>
            <ul class="grid-cards">{cards}</ul>
        </section>
    }
    .into_any()
}

fn app_card(app: AppCard, project: &str, contact: &str) -> AnyView {
    let icon = match app.kind {
        AppKind::Web => icons::GRID,
        AppKind::Registry => icons::PACKAGE,
        AppKind::Alertmanager => icons::BELL,
    };
    let title = view! {
        <span class="card-title">
            <Icon icon />
            {app.name}
        </span>
    };
    if !app.allowed {
        let roles = app.opened_by.join(" or ");
        let how = if app.closed_by_rule {
            format!("A rule of this app denies you access. Ask {contact}.")
        } else if roles.is_empty() {
            format!("No role of this project grants access. Ask {contact}.")
        } else {
            format!("Requires the role {roles}. Ask {contact} for it.")
        };
        return view! {
            <div class="card-link" data-app=app.id aria-disabled="true">
                <span class="flex flex-wrap items-center justify-between gap-2">
                    {title}
                    <Badge text="No access" icon=icons::LOCK />
                </span>
                <span class="text-muted">{app.description}</span>
                <span class="text-muted">{how}</span>
            </div>
        }
        .into_any();
    }
    let outside = app.kind == AppKind::Web;
    let href = if outside {
        app.url
    } else {
        routes::app(project, &app.id)
    };
    view! {
        <a class="card-link" data-row="" data-app=app.id href=href rel=outside.then_some("external")>
            <span class="flex flex-wrap items-center justify-between gap-2">
                {title}
                {outside.then(|| view! { <Icon icon=icons::EXTERNAL /> })}
            </span>
            <span class="text-muted">{app.description}</span>
            <Status tone=Tone::from(app.health) text=app.status />
        </a>
    }
    .into_any()
}

/// Returns the message for a user without any access: what to request, and from whom.
fn nothing(asks_for: &str) -> AnyView {
    let text = format!(
        "Your roles in this project grant access to no cluster and no app. {asks_for} A new role \
         takes effect as soon as it is assigned in Keystone; you do not need to sign in again."
    );
    view! {
        <div class="card">
            <StateMessage
                icon=icons::KEY
                title="You have no access to anything here yet"
                text
                state="no-rights"
            />
        </div>
    }
    .into_any()
}
