//! The form of a change, with its review.
use super::{
    draft::{Kind, Texts},
    review,
    state::{Groups, Stage},
};
use crate::{
    pages::lifecycle::{change::reason_input, create::size::size_in_words, focus::focus_table},
    ui::{Button, ButtonKind, Card, Icon, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{
    Reading,
    lifecycle::{FlavorOption, NodeGroups},
};

pub fn card(groups: Groups, draft: Kind) -> AnyView {
    let title = title(&draft);
    let is_deletion = matches!(draft, Kind::Delete(_));
    let (label, class) = match draft {
        Kind::Create => ("Add the node group", "btn btn-primary"),
        Kind::Resize(_) => ("Resize", "btn btn-primary"),
        Kind::Settings(_) => ("Change", "btn btn-primary"),
        Kind::Delete(_) => ("Delete the node group", "btn btn-danger"),
    };
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        groups.send();
    };
    let is_sent = Memo::new(move |_| groups.stage.with(|stage| *stage != Stage::Typing));
    view! {
        <div class="mt-4" data-part="change">
            <Card title>
                <form class="form-groups" on:submit=submit>
                    <fieldset class="form-group" disabled=move || is_sent.get()>
                        <legend class="visually-hidden">"Change"</legend>
                        {fields(groups, &draft)}
                        {(!is_deletion).then(|| reason(groups))}
                    </fieldset>
                    {review::card(groups)}
                    {is_deletion.then(|| view! {
                        {confirmation(groups, draft.clone())}
                        {reason(groups)}
                    })}
                    <div class="flex flex-wrap gap-2">
                        <button type="submit" class=class disabled=move || !groups.can_be_sent()>
                            {label}
                        </button>
                        {move || (!is_sent.get()).then(|| view! {
                            <Button
                                label="Cancel"
                                kind=ButtonKind::Plain
                                on_click=move |_| {
                                    groups.close();
                                    focus_table();
                                }
                            />
                        })}
                    </div>
                    <p class="visually-hidden" role="status">
                        {move || groups.is_sending.get().then_some("The change is being sent.")}
                    </p>
                </form>
            </Card>
        </div>
    }
    .into_any()
}

fn title(draft: &Kind) -> String {
    match draft {
        Kind::Create => "New node group".to_owned(),
        Kind::Resize(group) => format!("Resize {group}"),
        Kind::Settings(group) => format!("Change {group}"),
        Kind::Delete(group) => format!("Delete {group}"),
    }
}

/// What of the cluster the fields depend on.
struct GroupContext {
    is_control_plane: bool,
    labels_refusal: Option<String>,
    flavors: Vec<FlavorOption>,
    default_flavor: Option<String>,
}

impl GroupContext {
    fn of(shown: Option<&NodeGroups>, draft: &Kind) -> Self {
        let name = match draft {
            Kind::Create => None,
            Kind::Resize(name) | Kind::Settings(name) | Kind::Delete(name) => Some(name),
        };
        let group = shown.and_then(|shown| {
            let mut groups = shown.groups.iter();
            groups.find(|group| Some(&group.name) == name)
        });
        Self {
            is_control_plane: group.is_some_and(|group| group.is_control_plane),
            labels_refusal: shown.and_then(|shown| shown.labels_refusal.clone()),
            flavors: match shown.map(|shown| &shown.flavors) {
                Some(Reading::Known(flavors)) => flavors.clone(),
                _ => Vec::new(),
            },
            default_flavor: shown.and_then(|shown| shown.default_flavor.clone()),
        }
    }
}

fn fields(groups: Groups, draft: &Kind) -> AnyView {
    let context = groups
        .shown
        .with_untracked(|shown| GroupContext::of(shown.as_ref(), draft));
    let nodes = || {
        field(
            groups,
            Field::digits("nodes", "Number of nodes"),
            |texts| &texts.nodes,
            |texts| &mut texts.nodes,
        )
    };
    match draft {
        Kind::Create => view! {
            {field(
                groups,
                Field::text("name", "Name of the group"),
                |texts| &texts.name,
                |texts| &mut texts.name,
            )}
            {nodes()}
            {flavor(groups, &context)}
            {bounds(groups)}
            {labels(groups, &context)}
        }
        .into_any(),
        Kind::Resize(_) => view! {
            {nodes()}
            {(!context.is_control_plane).then(|| bounds(groups))}
        }
        .into_any(),
        Kind::Settings(_) => view! {
            {bounds(groups)}
            {labels(groups, &context)}
        }
        .into_any(),
        Kind::Delete(_) => view! {
            <p>"Its nodes are removed, with the data on their disks. Pods move to other nodes as far as these \
                have room."</p>
        }
        .into_any(),
    }
}

/// A field of the form.
struct Field {
    id: &'static str,
    label: &'static str,
    hint: Option<&'static str>,
    has_digits: bool,
    has_lines: bool,
}

impl Field {
    fn text(id: &'static str, label: &'static str) -> Self {
        Self {
            id,
            label,
            hint: None,
            has_digits: false,
            has_lines: false,
        }
    }

    fn digits(id: &'static str, label: &'static str) -> Self {
        Self {
            has_digits: true,
            ..Self::text(id, label)
        }
    }

    fn lines(id: &'static str, label: &'static str) -> Self {
        Self {
            has_lines: true,
            ..Self::text(id, label)
        }
    }

    fn hint(self, hint: &'static str) -> Self {
        Self {
            hint: Some(hint),
            ..self
        }
    }
}

fn field(
    groups: Groups,
    field: Field,
    read: fn(&Texts) -> &String,
    write: fn(&mut Texts) -> &mut String,
) -> AnyView {
    let id = format!("group-{}", field.id);
    let (hint_id, error_id) = (format!("{id}-hint"), format!("{id}-error"));
    let problem = problem(groups, field.id);
    let invalid = move || problem.with(Option::is_some).then_some("true");
    let describedby = {
        let hint_id = field.hint.map(|_| hint_id.clone());
        let error_id = error_id.clone();
        move || match problem.with(Option::is_some) {
            true => Some(error_id.clone()),
            false => hint_id.clone(),
        }
    };
    let value = move || groups.texts.with(|texts| read(texts).clone());
    let on_input = move |event| {
        let typed = event_target_value(&event);
        groups.write(|texts| *write(texts) = typed);
    };
    let control = if field.has_lines {
        view! {
            <textarea
                class="input mono h-auto py-2"
                id=id.clone()
                rows="3"
                spellcheck="false"
                autocomplete="off"
                aria-invalid=invalid
                aria-describedby=describedby
                prop:value=value
                on:input=on_input
            ></textarea>
        }
        .into_any()
    } else {
        view! {
            <input
                class="input"
                id=id.clone()
                type="text"
                inputmode=field.has_digits.then_some("numeric")
                spellcheck="false"
                autocomplete="off"
                aria-invalid=invalid
                aria-describedby=describedby
                prop:value=value
                on:input=on_input
            />
        }
        .into_any()
    };
    view! {
        <div class="field">
            <label for=id>{field.label}</label>
            {control}
            {field.hint.map(|hint| view! { <span class="field-hint" id=hint_id>{hint}</span> })}
            {move || problem.get().map(|text| view! {
                <span class="field-error" id=error_id.clone()>
                    <Icon icon=icons::WARNING />
                    {text}
                </span>
            })}
        </div>
    }
    .into_any()
}

/// Returns what the review finds wrong with the field with this ID.
fn problem(groups: Groups, id: &'static str) -> Memo<Option<String>> {
    // the size is `replicas` in the file
    let name = if id == "nodes" { "replicas" } else { id };
    Memo::new(move |_| {
        groups.review.with(|review| match review {
            Some(Ok(review)) => review.problem_of(name).map(str::to_owned),
            _ => None,
        })
    })
}

fn bounds(groups: Groups) -> AnyView {
    view! {
        {field(
            groups,
            Field::digits("min", "Minimum nodes").hint("Leave empty to keep it, or for no bound."),
            |texts| &texts.min,
            |texts| &mut texts.min,
        )}
        {field(
            groups,
            Field::digits("max", "Maximum nodes").hint("Leave empty to keep it, or for no bound."),
            |texts| &texts.max,
            |texts| &mut texts.max,
        )}
    }
    .into_any()
}

fn labels(groups: Groups, context: &GroupContext) -> AnyView {
    if let Some(refusal) = context.labels_refusal.clone() {
        return view! { <p class="text-muted">{refusal}</p> }.into_any();
    }
    view! {
        {field(
            groups,
            Field::lines("labels", "Labels of the nodes").hint("One on each line: key=value."),
            |texts| &texts.labels,
            |texts| &mut texts.labels,
        )}
        {field(
            groups,
            Field::lines("taints", "Taints of the nodes")
                .hint("One on each line: key=value:NoSchedule."),
            |texts| &texts.taints,
            |texts| &mut texts.taints,
        )}
    }
    .into_any()
}

fn flavor(groups: Groups, context: &GroupContext) -> AnyView {
    if context.flavors.is_empty() {
        return field(
            groups,
            Field::text("flavor", "Flavor").hint("Leave empty for the flavor of the cluster."),
            |texts| &texts.flavor,
            |texts| &mut texts.flavor,
        );
    }
    let default = match &context.default_flavor {
        Some(name) => format!("The cluster's: {name}"),
        None => "The cluster's".to_owned(),
    };
    let options = context.flavors.iter().cloned().map(|flavor| {
        let text = format!("{}: {}", flavor.name, size_in_words(&flavor));
        view! { <option value=flavor.name>{text}</option> }
    });
    let options = options.collect_view();
    view! {
        <div class="field">
            <label for="group-flavor">"Flavor"</label>
            <select
                class="select"
                id="group-flavor"
                prop:value=move || groups.texts.with(|texts| texts.flavor.clone())
                on:change=move |event| {
                    let chosen = event_target_value(&event);
                    groups.write(|texts| texts.flavor = chosen);
                }
            >
                <option value="">{default}</option>
                {options}
            </select>
        </div>
    }
    .into_any()
}

fn reason(groups: Groups) -> AnyView {
    let reason = Signal::derive(move || groups.texts.with(|texts| texts.reason.clone()));
    // the review does not depend on it
    let write = Callback::new(move |typed: String| {
        groups.texts.update(|texts| texts.reason = typed);
    });
    reason_input("group-reason", reason, write)
}

fn confirmation(groups: Groups, draft: Kind) -> AnyView {
    let Kind::Delete(group) = draft else {
        return ().into_any();
    };
    view! {
        <div class="field">
            <label for="group-typed">"Type " <strong class="mono">{group}</strong> " to confirm"</label>
            <input
                class="input"
                id="group-typed"
                required
                autocomplete="off"
                spellcheck="false"
                prop:value=move || groups.texts.with(|texts| texts.typed.clone())
                on:input=move |event| {
                    let typed = event_target_value(&event);
                    groups.texts.update(|texts| texts.typed = typed);
                }
            />
        </div>
    }
    .into_any()
}
