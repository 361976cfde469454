//! The effect of a grant: verbs on resources in namespaces, dangers in red.
use super::subject::Words;
use crate::ui::{Badge, Banner, TableRegion, Tone, icons};
use leptos::prelude::*;
use portico_domain::panel::{GainedRule, GrantPreview};

pub fn view(preview: &GrantPreview, role: &str) -> AnyView {
    let words = Words::of(&preview.subject);
    let dangers = preview
        .dangers
        .iter()
        .map(|danger| {
            view! { <Badge tone=Tone::Bad icon=icons::WARNING text=in_words(danger).to_owned() /> }
        })
        .collect_view();
    view! {
        <p>
            <strong class="wrap-anywhere">{words.name}</strong>
            {format!(" ({}) gains ", words.kind)}
            <strong>{role.to_owned()}</strong>
            " in "
            <strong class="wrap-anywhere">{preview.namespaces.clone()}</strong>
            ". The binding names the group "
            <code class="wrap-anywhere">{preview.group.clone()}</code>
            "."
        </p>
        {preview.unverified.clone().map(|why| view! {
            <Banner tone=Tone::Warn>
                <p class="font-semibold">"Couldn't verify this ID"</p>
                <p>{why}</p>
            </Banner>
        })}
        {preview.exists.then(|| view! {
            <Banner tone=Tone::Info>"This grant exists already; there is nothing to save."</Banner>
        })}
        {(!preview.dangers.is_empty()).then(|| view! { <div class="chips">{dangers}</div> })}
        {rules(&preview.gained, "Rights gained".to_owned())}
    }
    .into_any()
}

/// Returns the table of rules.
pub fn rules(gained: &[GainedRule], label: String) -> AnyView {
    let rules = gained.iter().map(rule).collect_view();
    view! {
        <TableRegion label>
            <thead>
                <tr>
                    <th scope="col">"May"</th>
                    <th scope="col">"On"</th>
                    <th scope="col">"Only these names"</th>
                </tr>
            </thead>
            <tbody>{rules}</tbody>
        </TableRegion>
    }
    .into_any()
}

fn rule(rule: &GainedRule) -> AnyView {
    let names = if rule.names.is_empty() {
        "Any".to_owned()
    } else {
        rule.names.join(", ")
    };
    view! {
        <tr>
            <th scope="row" class="cell-text">
                <span class="flex flex-wrap gap-x-2">
                    {rule.verbs.join(", ")}
                    {rule.dangerous.then(|| view! {
                        <Badge tone=Tone::Bad icon=icons::WARNING text="Dangerous" />
                    })}
                </span>
            </th>
            <td class="cell-text wrap-anywhere">{rule.resources.join(", ")}</td>
            <td class="cell-text wrap-anywhere">{names}</td>
        </tr>
    }
    .into_any()
}

/// Returns what a danger means for the subject of the grant.
fn in_words(danger: &str) -> &str {
    match danger {
        "secrets" => "Reads secrets",
        "exec" => "Runs commands in pods",
        "escalate" => "Can give itself more rights",
        "bind" => "Can hand out roles",
        "impersonate" => "Can impersonate other users",
        "wildcard" => "Everything, also what is added later",
        other => other,
    }
}
