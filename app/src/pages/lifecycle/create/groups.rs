//! The groups of workers: the first is made with the cluster, the others after it.
use super::{
    fields::{Entry, Head, choose, input, optional, whole_number},
    pairs,
    size::flavor_choices,
    state::Wizard,
};
use crate::ui::{Button, ButtonKind, Icon, icons};
use leptos::prelude::*;
use portico_domain::panel::{
    Reading,
    lifecycle::{CreationForm, DEFAULT_GROUP, FlavorOption, GroupForm},
};

/// The flavors to choose from.
#[derive(Clone)]
struct Flavors {
    known: Reading<Vec<FlavorOption>>,
    /// The template's.
    default: Option<String>,
    smallest: (u64, u64),
}

pub fn rows(
    wizard: Wizard,
    known: Reading<Vec<FlavorOption>>,
    default: Option<String>,
    smallest: (u64, u64),
) -> AnyView {
    let flavors = Flavors {
        known,
        default,
        smallest,
    };
    // all rows are made again when one is added or removed, because their fields are found by their
    // number; the fields of a row are not, when something is typed into them
    let count = Memo::new(move |_| wizard.form.with(|form| form.groups.len()));
    let rows = move || {
        let rows = 0..count.get();
        untrack(|| rows.map(|at| row(wizard, at, &flavors)).collect_view())
    };
    let add = move |_| {
        wizard.change(|form| {
            let name = free_name(form);
            form.groups.push(GroupForm {
                name,
                count: Some(1),
                ..GroupForm::default()
            });
        });
    };
    view! {
        {rows}
        <p>
            <Button label="Add a node group" icon=icons::PLUS small=true on_click=add />
        </p>
    }
    .into_any()
}

/// Returns a name that no group has.
fn free_name(form: &CreationForm) -> String {
    let is_free = |name: &String| form.groups.iter().all(|group| group.name != *name);
    (1..=form.groups.len() + 1)
        .map(|number| format!("workers-{number}"))
        .find(is_free)
        .unwrap_or_default()
}

/// Reads a value of a group; the default for a group that was removed.
fn of<T: Default>(form: &CreationForm, at: usize, read: impl FnOnce(&GroupForm) -> T) -> T {
    form.groups.get(at).map(read).unwrap_or_default()
}

fn write(form: &mut CreationForm, at: usize, change: impl FnOnce(&mut GroupForm)) {
    if let Some(group) = form.groups.get_mut(at) {
        change(group);
    }
}

fn row(wizard: Wizard, at: usize, flavors: &Flavors) -> AnyView {
    let field = |name: &str| format!("spec.nodeGroups[{at}].{name}");
    let is_default = wizard
        .form
        .with_untracked(|form| of(form, at, |group| group.name == DEFAULT_GROUP));
    let legend = if is_default {
        format!("Workers: {DEFAULT_GROUP}")
    } else {
        format!("Node group {}", at + 1)
    };
    let name = (!is_default).then(|| {
        input(
            wizard,
            Head::new(field("name"), "Name of the group"),
            Entry::Text,
            move |form| of(form, at, |group| group.name.clone()),
            move |form, text| write(form, at, |group| text.trim().clone_into(&mut group.name)),
        )
    });
    let remove = move |_| {
        wizard.change(|form| form.remove_group(at));
    };
    let (default, smallest) = (flavors.default.clone(), flavors.smallest);
    view! {
        <fieldset class="creation-row min-w-0">
            <legend>{legend}</legend>
            {name}
            {whole_number(
                wizard,
                Head::new(field("replicas"), "Number of nodes").hint("Leave empty for 1."),
                move |form| of(form, at, |group| group.count),
                move |form, value| write(form, at, |group| group.count = value),
            )}
            {choose(
                wizard,
                Head::new(field("flavor"), "Flavor"),
                &flavors.known,
                move |flavors| flavor_choices(flavors, default.as_deref(), smallest),
                move |form| of(form, at, |group| group.flavor.clone().unwrap_or_default()),
                move |form, text| write(form, at, |group| group.flavor = optional(text)),
            )}
            {whole_number(
                wizard,
                Head::new(field("min"), "Minimum nodes (autoscaler)"),
                move |form| of(form, at, |group| group.min),
                move |form, value| write(form, at, |group| group.min = value),
            )}
            {whole_number(
                wizard,
                Head::new(field("max"), "Maximum nodes (autoscaler)"),
                move |form| of(form, at, |group| group.max),
                move |form, value| write(form, at, |group| group.max = value),
            )}
            {labels_and_taints(wizard, at)}
            {(!is_default).then(|| view! {
                <Button
                    label=format!("Remove node group {}", at + 1)
                    icon=icons::TRASH
                    small=true
                    kind=ButtonKind::Quiet
                    on_click=remove
                />
            })}
        </fieldset>
    }
    .into_any()
}

/// Returns the labels and taints of the nodes in Kubernetes, folded unless there are some.
fn labels_and_taints(wizard: Wizard, at: usize) -> AnyView {
    let has_some = wizard.form.with_untracked(|form| {
        of(form, at, |group| {
            !group.labels.is_empty() || !group.taints.is_empty()
        })
    });
    view! {
        <details class="fold" open=has_some>
            <summary>
                <Icon icon=icons::CHEVRON_RIGHT />
                "Labels and taints"
            </summary>
            <div class="form-group">
                {input(
                    wizard,
                    Head::new(format!("spec.nodeGroups[{at}].labels"), "Labels of the nodes")
                        .hint("One on each line: key=value."),
                    Entry::Lines,
                    move |form| of(form, at, |group| pairs::text_of(&group.labels)),
                    move |form, text| write(form, at, |group| group.labels = pairs::of_text(text)),
                )}
                {input(
                    wizard,
                    Head::new(format!("spec.nodeGroups[{at}].taints"), "Taints of the nodes")
                        .hint("One on each line: key=value:NoSchedule."),
                    Entry::Lines,
                    move |form| of(form, at, |group| group.taints.join("\n")),
                    move |form, text| write(form, at, |group| group.taints = pairs::lines(text)),
                )}
            </div>
        </details>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_group_has_a_name_that_no_other_has() {
        let mut form = CreationForm::default();
        assert_eq!(free_name(&form), "workers-1");
        form.groups.push(GroupForm {
            name: "workers-1".to_owned(),
            ..GroupForm::default()
        });
        assert_eq!(free_name(&form), "workers-2");
    }
}
