//! What a subject can do: the rules that its bindings give it, by place. The subject is in the address,
//! so that a binding can lead here; without scripts the form is a plain GET.
use super::{preview, subject, subject::Words, who_can::binding_object};
use crate::{
    api::access,
    components::{InlineError, who_can_link},
    context::use_session,
    routes,
    ui::{Card, Choice, Field, Icon, SelectField, SkeletonTable, icons, suspended},
};
use leptos::prelude::*;
use leptos_router::hooks::{use_navigate, use_query_map};
use portico_domain::panel::{
    BoundKind, BoundName, BoundRules, PermissionScope, PlaceRights, Subject, WhatCanView,
};
use uuid::Uuid;

/// Returns the link from a subject to what it can do.
pub fn link(subject: &Subject, cluster: Uuid) -> AnyView {
    let project = use_session().project.get_untracked();
    let href = routes::what_can(&project, cluster, &BoundName::from(subject));
    let name = Words::of(subject).name;
    view! {
        <a class="block font-normal" href=href>
            "Rights" <span class="visually-hidden">{format!(" of {name}")}</span>
        </a>
    }
    .into_any()
}

#[component]
pub fn WhatCan(cluster: Uuid) -> impl IntoView {
    let session = use_session();
    let query = use_query_map();
    let asked = Memo::new(move |_| {
        query
            .with(|query| ["subject_kind", "subject"].map(|key| query.get(key).unwrap_or_default()))
    });
    let [kind, name] = asked.get_untracked();
    let kind = RwSignal::new(
        BoundKind::parse(&kind)
            .unwrap_or(BoundKind::Group)
            .as_str()
            .to_owned(),
    );
    let name = RwSignal::new(name);
    // a link on this page leads to another subject
    Effect::new(move |known: Option<()>| {
        let [asked_kind, asked_name] = asked.get();
        if known.is_some() && !asked_name.is_empty() {
            kind.set(asked_kind);
            name.set(asked_name);
        }
    });
    let answer = Resource::new(
        move || (session.project.get(), asked.get()),
        move |(_, [kind, name]): (String, [String; 2])| async move {
            let kind = BoundKind::parse(&kind)?;
            if name.is_empty() {
                return None;
            }
            Some(access::what_can(cluster, BoundName { kind, name }).await)
        },
    );
    let page = routes::access(&session.project.get_untracked(), cluster);
    let navigate = use_navigate();
    let target = page.clone();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let query: Vec<String> = [("subject_kind", kind), ("subject", name)]
            .into_iter()
            .map(|(key, value)| format!("{key}={}", routes::escaped(value.get_untracked().trim())))
            .collect();
        let options = leptos_router::NavigateOptions {
            scroll: false,
            ..Default::default()
        };
        navigate(&format!("{target}?{}", query.join("&")), options);
    };
    let choices: Vec<Choice> = [
        (BoundKind::Group, "Group or role ID"),
        (BoundKind::User, "User"),
        (BoundKind::ServiceAccount, "ServiceAccount"),
    ]
    .into_iter()
    .map(|(kind, label)| Choice::new(kind.as_str(), label))
    .collect();
    view! {
        <div class="mt-4" id="what-can">
            <Card title="What can … do">
                <form class="editor-head" method="get" action=page on:submit=submit>
                    <SelectField
                        id="what-kind"
                        name="subject_kind"
                        label="Kind of subject"
                        value=kind
                        choices=Signal::stored(choices)
                    />
                    <Field
                        id="what-subject"
                        name="subject"
                        label="Subject"
                        value=name
                        required=true
                        placeholder="ada@Default, shop/default"
                    />
                    <button type="submit" class="btn btn-primary">"Show"</button>
                </form>
                <Suspense fallback=|| view! { <SkeletonTable rows=3 /> }>
                    {move || suspended(async move {
                        match answer.await {
                            None => help(),
                            Some(Ok(view)) => found(view, cluster),
                            Some(Err(error)) => view! { <InlineError error /> }.into_any(),
                        }
                    })}
                </Suspense>
            </Card>
        </div>
    }
    .into_any()
}

fn help() -> AnyView {
    view! {
        <p class="text-muted">
            "Lists the rules that bindings give to a subject, in the whole cluster and in each namespace. \
             A user is named name@domain, a group by the ID of a Keystone role or as portico:user:ID and \
             portico:project:ID, a ServiceAccount namespace/name."
        </p>
    }
    .into_any()
}

fn found(view: WhatCanView, cluster: Uuid) -> AnyView {
    let name = Words::of(&view.subject).name;
    let also: Vec<_> = view.also.iter().map(|one| Words::of(one).name).collect();
    let also = (!also.is_empty()).then(|| {
        let text = format!("Bindings of these groups count too: {}.", also.join(", "));
        view! { <p class="text-muted wrap-anywhere">{text}</p> }
    });
    let is_empty = view.places.is_empty();
    let places = view
        .places
        .into_iter()
        .map(|place| place_rights(place, cluster))
        .collect_view();
    let none = is_empty.then(|| {
        view! {
            <p class="text-muted">
                "No binding that you may read gives this subject a right. A user also has the rights of the \
                 Keystone roles that they have, each of which is a group."
            </p>
        }
    });
    let dangling = view
        .dangling
        .into_iter()
        .map(|dangling| {
            let text = format!(
                "{} refers to role {}, which does not exist or which you may not read.",
                dangling.binding.name, dangling.role.name
            );
            view! { <li>{text}</li> }
        })
        .collect_view();
    let gaps = view
        .gaps
        .into_iter()
        .map(|gap| {
            let link = who_can_link(gap.missing.as_deref());
            view! { <li>{gap.reason} " " {link}</li> }
        })
        .collect_view();
    view! {
        <h3 class="who-title wrap-anywhere">{format!("{name} can")}</h3>
        {also}
        {none}
        {places}
        <ul class="text-muted mt-2">{gaps}{dangling}</ul>
    }
    .into_any()
}

fn place_rights(place: PlaceRights, cluster: Uuid) -> AnyView {
    let title = match place.scope {
        PermissionScope::Cluster => "In the whole cluster".to_owned(),
        PermissionScope::Namespace { name } => format!("In {name}"),
    };
    let grants = place
        .grants
        .into_iter()
        .map(|grant| bound_rules(grant, &title, cluster))
        .collect_view();
    let label = title.clone();
    view! {
        <section aria-label=label>
            <h4 class="font-semibold mt-4">{title}</h4>
            {grants}
        </section>
    }
    .into_any()
}

fn bound_rules(grant: BoundRules, place: &str, cluster: Uuid) -> AnyView {
    let project = use_session().project.get_untracked();
    let binding = routes::object(&project, cluster, &binding_object(&grant.binding));
    let label = format!("Rules of {}, {place}", grant.binding.name);
    let role = format!(
        "{} {}",
        if grant.role.cluster {
            "ClusterRole"
        } else {
            "Role"
        },
        grant.role.name
    );
    let through = grant.through.map(|subject| {
        view! { <p class="text-muted">"Through " {subject::view(&subject, None)}</p> }
    });
    view! {
        <div class="mt-2">
            <p class="wrap-anywhere">
                <a href=binding>{grant.binding.name}</a>
                <Icon icon=icons::CHEVRON_RIGHT />
                {role}
            </p>
            {through}
            {preview::rules(&grant.rules, label)}
        </div>
    }
    .into_any()
}
