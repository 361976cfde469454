//! The first step: name, key pair, zone and template.
use super::{
    cards,
    fields::{Entry, Head, choose, input, optional},
    file::FilePaste,
    state::Wizard,
};
use crate::ui::{Banner, Choice, Icon, Tone, icons};
use leptos::prelude::*;

pub fn page(wizard: Wizard) -> AnyView {
    let options = wizard.options;
    let (taken, keypairs, zones) = options.with_value(|options| {
        (
            options.taken_names.clone(),
            options.keypairs.clone(),
            options.zones.clone(),
        )
    });
    // Magnum permits it
    let is_taken = Memo::new(move |_| {
        wizard
            .form
            .with(|form| taken.iter().any(|name| name == form.name.trim()))
    });
    view! {
        <details class="fold">
            <summary>
                <Icon icon=icons::CHEVRON_RIGHT />
                "Start from a file"
            </summary>
            <FilePaste wizard text=String::new() />
        </details>
        <div class="creation-fields">
            {input(
                wizard,
                Head::new("metadata.name", "Name").hint("Letters, digits, dots, - and _."),
                Entry::Text,
                |form| form.name.clone(),
                |form, text| text.trim().clone_into(&mut form.name),
            )}
            {choose(
                wizard,
                Head::new("spec.keypair", "Key pair").hint("For SSH to the nodes; one of your own."),
                &keypairs,
                |names| with_empty("The template's, or none", names),
                |form| form.keypair.clone().unwrap_or_default(),
                |form, text| form.keypair = optional(text),
            )}
            {choose(
                wizard,
                Head::new("spec.zone", "Availability zone"),
                &zones,
                |names| with_empty("The cloud's choice", names),
                |form| form.zone.clone().unwrap_or_default(),
                |form, text| form.zone = optional(text),
            )}
        </div>
        {move || is_taken.get().then(|| view! {
            <Banner tone=Tone::Warn>
                "The project has a cluster of this name. Magnum permits a second one; commands must then \
                 name it by its UUID. Enter another name."
            </Banner>
        })}
        {cards::of_templates(wizard)}
    }
    .into_any()
}

/// Returns names to choose from, after the choice that leaves it open.
fn with_empty(label: &str, names: &[String]) -> Vec<Choice> {
    let names = names.iter().map(|name| Choice::new(name, name));
    std::iter::once(Choice::new("", label))
        .chain(names)
        .collect()
}
