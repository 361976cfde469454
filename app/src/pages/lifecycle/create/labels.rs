//! The labels of the cluster: those with a meaning as choices, the others as text, and what results.
use super::{
    fields::{Entry, Head, input, switch},
    pairs,
    state::Wizard,
};
use crate::ui::{Badge, Icon, TableRegion, Tone, icons};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    AUTO_HEALING_LABEL, AUTO_SCALING_LABEL, AUTO_UPGRADE_LABEL, CreationForm, LabelLine,
    LabelOrigin,
};

/// Labels that are choices of their own in the form.
const FLAGS: [&str; 3] = [AUTO_HEALING_LABEL, AUTO_UPGRADE_LABEL, AUTO_SCALING_LABEL];

pub fn fields(wizard: Wizard) -> AnyView {
    let flag = |label: &'static str, title: &'static str, hint: &'static str| {
        switch(
            wizard,
            Head::new(format!("spec.labels.{label}"), title)
                .hint(format!("{hint} Magnum cannot change this later.")),
            wizard.flag_of_template(label),
            move |form| form.flag(label),
            move |form, value| form.set_flag(label, value),
        )
    };
    let table = move || {
        let lines = wizard
            .review
            .with(|review| review.as_ref().map(|review| review.labels.clone()));
        lines.filter(|lines| !lines.is_empty()).map(table)
    };
    view! {
        <div class="creation-fields">
            {flag(
                AUTO_HEALING_LABEL,
                "Auto-healing",
                "Nodes that fail are replaced.",
            )}
            {flag(
                AUTO_UPGRADE_LABEL,
                "Automatic security updates",
                "The operating system of the nodes is updated, with restarts.",
            )}
        </div>
        {input(
            wizard,
            Head::new("spec.labels", "Further labels")
                .hint("One on each line: key=value. They are merged over the template's, and fixed at the \
                       creation."),
            Entry::Lines,
            text_of,
            write,
        )}
        {known(wizard)}
        {table}
    }
    .into_any()
}

/// Returns the labels that have no choice of their own, as lines.
fn text_of(form: &CreationForm) -> String {
    let mut labels = form.labels.clone();
    labels.retain(|key, _| !FLAGS.contains(&key.as_str()));
    pairs::text_of(&labels)
}

/// Replaces the labels that have no choice of their own.
fn write(form: &mut CreationForm, text: &str) {
    form.labels.retain(|key, _| FLAGS.contains(&key.as_str()));
    form.labels.extend(pairs::of_text(text));
}

/// Returns what the labels that Portico knows mean.
fn known(wizard: Wizard) -> Option<AnyView> {
    let known = wizard.options.with_value(|options| options.labels.clone());
    if known.is_empty() {
        return None;
    }
    let rows = known
        .into_iter()
        .map(|label| {
            let values = if label.values.is_empty() {
                String::new()
            } else {
                format!(" Values: {}.", label.values.join(", "))
            };
            view! { <dt><code>{label.key}</code></dt><dd>{label.meaning}{values}</dd> }
        })
        .collect_view();
    Some(
        view! {
            <details class="fold">
                <summary>
                    <Icon icon=icons::CHEVRON_RIGHT />
                    "Known labels"
                </summary>
                <dl class="description-list">{rows}</dl>
            </details>
        }
        .into_any(),
    )
}

/// Returns all labels: the template's, yours, and the result.
pub fn table(lines: Vec<LabelLine>) -> AnyView {
    let rows = lines
        .into_iter()
        .map(|line| {
            let (tone, origin) = match line.origin {
                LabelOrigin::Template => (Tone::Idle, "Template"),
                LabelOrigin::Added => (Tone::Info, "Yours"),
                LabelOrigin::Overridden => (Tone::Warn, "Yours, not the template's"),
            };
            let notes = line
                .meaning
                .into_iter()
                .chain(line.notes)
                .map(|text| view! { <p class="text-muted">{text}</p> })
                .collect_view();
            let cell = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
            view! {
                <tr>
                    <th scope="row" class="cell-name">
                        <code>{line.key}</code>
                        {notes}
                    </th>
                    <td class="cell-text">{cell(line.template)}</td>
                    <td class="cell-text">{cell(line.yours)}</td>
                    <td class="cell-text">
                        {line.result}
                        " "
                        <Badge tone text=origin />
                    </td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <TableRegion label="Labels of the cluster">
            <thead>
                <tr>
                    <th scope="col">"Label"</th>
                    <th scope="col">"Template"</th>
                    <th scope="col">"Yours"</th>
                    <th scope="col">"Result"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </TableRegion>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_with_a_choice_of_their_own_are_not_in_the_text() {
        let mut form = CreationForm::default();
        form.set_flag(AUTO_HEALING_LABEL, Some(true));
        write(&mut form, "kube_tag=v1.32.1");
        assert_eq!(text_of(&form), "kube_tag=v1.32.1");
        assert_eq!(form.flag(AUTO_HEALING_LABEL), Some(true));
        write(&mut form, "");
        assert_eq!(form.flag(AUTO_HEALING_LABEL), Some(true));
        assert_eq!(form.labels.len(), 1);
    }
}
