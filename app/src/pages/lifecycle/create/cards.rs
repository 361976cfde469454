//! The templates, as cards of which one is chosen.
use super::{
    fields::{id_of, message},
    state::Wizard,
};
use crate::{
    format,
    ui::{Badge, Icon, StateMessage, Status, Tone, icons},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{CapabilityLine, TemplateOption};

const FIELD: &str = "spec.template";

/// Returns the cards; deprecated and hidden templates are folded.
pub fn of_templates(wizard: Wizard) -> AnyView {
    let templates = wizard
        .options
        .with_value(|options| options.templates.clone());
    if templates.is_empty() {
        return view! {
            <StateMessage
                icon=icons::LAYERS
                title="No cluster templates"
                text="A cluster is made from a template, and this cloud has none that you may use. Ask \
                      the operator of the cloud for one."
                state="empty"
            />
        }
        .into_any();
    }
    let names: Vec<String> = templates
        .iter()
        .map(|template| template.name.clone())
        .collect();
    // the name reads better in the file, but two templates may have the same
    let value_of = |template: &TemplateOption| {
        if names.iter().filter(|name| **name == template.name).count() == 1 {
            template.name.clone()
        } else {
            template.id.to_string()
        }
    };
    let chosen = wizard.form.with_untracked(|form| form.template.clone());
    let (folded, shown): (Vec<_>, Vec<_>) = templates
        .into_iter()
        .map(|template| (value_of(&template), template))
        .partition(|(value, template)| template.is_folded && *value != chosen);
    let count = folded.len();
    let card_of = move |(value, template)| card(wizard, value, template);
    let shown = shown.into_iter().map(card_of).collect_view();
    let folded = (count > 0).then(|| {
        view! {
            <details class="fold">
                <summary>
                    <Icon icon=icons::CHEVRON_RIGHT />
                    {format!("{} deprecated or hidden", format::counted(count, "template"))}
                </summary>
                <div class="grid-cards">{folded.into_iter().map(card_of).collect_view()}</div>
            </details>
        }
    });
    let error = wizard.problem(FIELD);
    let error_id = format!("{}-error", id_of(FIELD));
    let describedby = {
        let error_id = error_id.clone();
        move || error.with(Option::is_some).then(|| error_id.clone())
    };
    view! {
        <fieldset class="form-group min-w-0" aria-describedby=describedby>
            <legend>"Cluster template"</legend>
            {message(error, error_id)}
            <div class="grid-cards">{shown}</div>
            {folded}
        </fieldset>
    }
    .into_any()
}

fn card(wizard: Wizard, value: String, template: TemplateOption) -> AnyView {
    let TemplateOption {
        id,
        name,
        version,
        driver,
        capabilities,
        fixed,
        add_ons,
        used_by,
        refusal,
        ..
    } = template;
    let id = id.to_string();
    let is_refused = refusal.is_some();
    let is_chosen = {
        let value = value.clone();
        move || {
            wizard
                .form
                .with(|form| form.template == value || form.template == id)
        }
    };
    let choose = move |_| {
        let value = value.clone();
        wizard.change(|form| form.template = value);
    };
    let support = version.map(|version| {
        view! {
            <span>"Kubernetes "{version.version}</span>
            <Status tone=Tone::from(version.health) text=version.support />
        }
    });
    let add_ons = add_ons
        .into_iter()
        .map(|text| view! { <span class="chip">{text}</span> })
        .collect_view();
    let fixed = fixed
        .into_iter()
        .map(|text| view! { <span class="text-muted">{text}</span> })
        .collect_view();
    let used = (used_by > 0).then(|| {
        let clusters = format::counted(used_by as usize, "cluster");
        view! { <span class="text-muted">{format!("Used by {clusters} of this project")}</span> }
    });
    let class = if is_refused {
        "card card-muted"
    } else {
        "card"
    };
    let template_name = name.clone();
    view! {
        <div class=class data-template=template_name>
            <label class="card-link h-auto">
                <span class="card-title">
                    <input
                        type="radio"
                        name="cluster-template"
                        disabled=is_refused
                        prop:checked=is_chosen
                        on:change=choose
                    />
                    {name}
                </span>
                <span class="flex flex-wrap gap-2">
                    {support}
                    <Badge text=driver />
                </span>
                {refusal.map(|text| view! { <Status tone=Tone::Bad text /> })}
                <span class="chips">{add_ons}</span>
                {fixed}
                {used}
            </label>
            {abilities(capabilities)}
        </div>
    }
    .into_any()
}

/// Returns what the driver of a template can do.
pub fn abilities(lines: Vec<CapabilityLine>) -> Option<AnyView> {
    if lines.is_empty() {
        return None;
    }
    let lines = lines
        .into_iter()
        .map(|line| {
            let tone = if line.is_offered {
                Tone::Ok
            } else {
                Tone::Idle
            };
            view! {
                <li>
                    <Status tone text=line.feature />
                    <p class="text-muted">{line.reason}</p>
                </li>
            }
        })
        .collect_view();
    Some(
        view! {
            <details class="fold card-body">
                <summary>
                    <Icon icon=icons::CHEVRON_RIGHT />
                    "What its driver can do"
                </summary>
                <ul class="form-group">{lines}</ul>
            </details>
        }
        .into_any(),
    )
}
