//! A user in Kubernetes: name, UID, groups and extra keys.
use crate::{
    format,
    pages::access::subject::Words,
    ui::{CopyButton, DescriptionList, Icon, TableRegion, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{KubernetesGroup, KubernetesUser};

/// The group that Kubernetes adds to every authenticated user.
const AUTHENTICATED: &str = "system:authenticated";

/// Returns the same, folded under a summary.
pub fn folded(user: &KubernetesUser, label: &'static str, summary: &'static str) -> AnyView {
    let who = if user.username.is_empty() {
        user.uid.clone()
    } else {
        user.username.clone()
    };
    let body = view(user, label);
    let count = format::counted(user.groups.len(), "group");
    view! {
        <details class="fold">
            <summary>
                <Icon icon=icons::CHEVRON_RIGHT />
                <span class="wrap-anywhere">{format!("{summary}: {who}, {count}")}</span>
            </summary>
            <div class="mt-2">{body}</div>
        </details>
    }
    .into_any()
}

pub fn view(user: &KubernetesUser, label: &'static str) -> AnyView {
    let groups = user.groups.iter().map(group).collect_view();
    let rows = [("Username", &user.username), ("UID", &user.uid)]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), copied(value, name)))
        .collect();
    view! {
        <div class="grid grid-cols-1 gap-4">
            <DescriptionList rows />
            <TableRegion label=format!("Groups of {label}")>
                <thead>
                    <tr>
                        <th scope="col">"Group"</th>
                        <th scope="col">"Meaning"</th>
                    </tr>
                </thead>
                <tbody>{groups}</tbody>
            </TableRegion>
            {(!user.extra.is_empty()).then(|| extra(&user.extra))}
        </div>
    }
    .into_any()
}

fn copied(text: &str, what: &'static str) -> AnyView {
    if text.is_empty() {
        return view! { <span class="text-faint">"none"</span> }.into_any();
    }
    let text = text.to_owned();
    view! {
        <span class="inline-flex items-center gap-1">
            <code class="wrap-anywhere">{text.clone()}</code>
            <CopyButton text what />
        </span>
    }
    .into_any()
}

fn group(group: &KubernetesGroup) -> AnyView {
    let meaning = if group.name == AUTHENTICATED {
        "All users known to the cluster".to_owned()
    } else {
        let words = Words::of(&group.subject);
        match words.kind {
            "Group" => "A group of this cluster's own".to_owned(),
            kind => format!("{kind} {}", words.name),
        }
    };
    view! {
        <tr>
            <th scope="row" class="cell-id">
                <span class="inline-flex items-center gap-1">
                    <code class="font-normal wrap-anywhere">{group.name.clone()}</code>
                    <CopyButton text=group.name.clone() what="group" />
                </span>
            </th>
            <td class="cell-text">{meaning}</td>
        </tr>
    }
    .into_any()
}

fn extra(extra: &[(String, Vec<String>)]) -> AnyView {
    let rows = extra
        .iter()
        .map(|(key, values)| {
            view! {
                <div class="grid grid-cols-1 gap-0.5">
                    <dt><code class="wrap-anywhere">{key.clone()}</code></dt>
                    <dd class="text-muted wrap-anywhere">{values.join(", ")}</dd>
                </div>
            }
        })
        .collect_view();
    view! {
        <details class="fold">
            <summary>
                <Icon icon=icons::CHEVRON_RIGHT />
                {format!("{} extra keys", extra.len())}
            </summary>
            <dl class="grid grid-cols-1 gap-2 mt-2 sm:grid-cols-2">{rows}</dl>
        </details>
    }
    .into_any()
}
