//! The form for a copy of a template.
use super::{super::create::pairs, sending::Sending};
use crate::{
    api::cluster_templates::copy_template,
    context::use_session,
    routes::managed_clusters::ManagedClustersPage,
    ui::{Card, Icon, Why, icons},
};
use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};
use portico_domain::panel::{
    Reading,
    lifecycle::{TemplateChoices, TemplateValues},
};
use uuid::Uuid;

const BUTTON: &str = "Create template";

/// What is typed. `Copy`.
#[derive(Clone, Copy)]
struct Draft {
    from: Uuid,
    values: RwSignal<TemplateValues>,
    labels: RwSignal<String>,
    sending: Sending,
}

impl Draft {
    fn new(from: Uuid, values: TemplateValues) -> Self {
        Self {
            from,
            labels: RwSignal::new(pairs::text_of(&values.labels)),
            values: RwSignal::new(TemplateValues {
                name: format!("{}-copy", values.name),
                ..values
            }),
            sending: Sending::new(),
        }
    }

    fn send(self, done: Callback<Uuid>) {
        let values = TemplateValues {
            labels: self.labels.with_untracked(|text| pairs::of_text(text)),
            ..self.values.get_untracked()
        };
        self.sending.run(copy_template(self.from, values), done);
    }
}

/// Returns the card with the form; with `refusal` the viewer may not create templates.
pub fn card(
    from: Uuid,
    values: TemplateValues,
    choices: TemplateChoices,
    refusal: Option<String>,
) -> AnyView {
    let content = match refusal {
        Some(reason) => view! {
            <p>{reason.clone()}</p>
            <div>
                <Why id="copy-template-refusal" label=BUTTON reason action="copy-template" />
            </div>
        }
        .into_any(),
        None => form(Draft::new(from, values), choices),
    };
    view! {
        <div class="mt-4" data-part="copy">
            <Card title="Copy this template">
                <div class="grid grid-cols-1 gap-3">
                    <p class="text-muted">
                        "The copy belongs to this project and is private. It has everything else of this \
                         template, such as drivers and proxies. A template in use cannot be changed: copy it, \
                         and upgrade the clusters to the copy."
                    </p>
                    {content}
                </div>
            </Card>
        </div>
    }
    .into_any()
}

fn form(draft: Draft, choices: TemplateChoices) -> AnyView {
    let project = use_session().project.get_untracked();
    let navigate = use_navigate();
    let done = Callback::new(move |template: Uuid| {
        let page = ManagedClustersPage::Template(template).address(&project);
        navigate(&page, NavigateOptions::default());
    });
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        draft.send(done);
    };
    let (flavors, networks) = (known(choices.flavors), known(choices.networks));
    let sending = draft.sending;
    view! {
        <form class="form-group" on:submit=submit>
            {field(
                draft,
                Field::new("name", "Name").required(),
                |values| &values.name,
                |values| &mut values.name,
            )}
            {field(
                draft,
                Field::new("image", "Image").required().choices(known(choices.images)),
                |values| &values.image,
                |values| &mut values.image,
            )}
            {field(
                draft,
                Field::new("flavor", "Flavor of the workers").choices(flavors.clone()),
                |values| &values.flavor,
                |values| &mut values.flavor,
            )}
            {field(
                draft,
                Field::new("control-plane-flavor", "Flavor of the control plane").choices(flavors),
                |values| &values.control_plane_flavor,
                |values| &mut values.control_plane_flavor,
            )}
            {field(
                draft,
                Field::new("keypair", "Key pair")
                    .hint("Leave empty to have users choose one for each cluster.")
                    .choices(known(choices.keypairs)),
                |values| &values.keypair,
                |values| &mut values.keypair,
            )}
            {field(
                draft,
                Field::new("external-network", "External network").choices(networks.clone()),
                |values| &values.external_network,
                |values| &mut values.external_network,
            )}
            {field(
                draft,
                Field::new("network", "Network of the nodes")
                    .hint("Leave empty to have the driver make one for each cluster.")
                    .choices(networks),
                |values| &values.network,
                |values| &mut values.network,
            )}
            {field(
                draft,
                Field::new("subnet", "Subnet of the nodes").hint("One of the network above."),
                |values| &values.subnet,
                |values| &mut values.subnet,
            )}
            {labels(draft)}
            <div>
                <button
                    type="submit"
                    class="btn btn-primary"
                    aria-disabled=move || sending.is_busy.get().then_some("true")
                >
                    <Icon icon=icons::PLUS />
                    {BUTTON}
                </button>
            </div>
            <p class="visually-hidden" role="status">
                {move || sending.is_busy.get().then_some("The template is being created.")}
            </p>
        </form>
        {sending.outcome()}
    }
    .into_any()
}

/// Returns suggestions; none where a service did not answer, and its value is typed.
fn known(reading: Reading<Vec<String>>) -> Vec<String> {
    match reading {
        Reading::Known(values) => values,
        Reading::NotPermitted(_) | Reading::Unavailable(_) => Vec::new(),
    }
}

/// A field of the form.
struct Field {
    id: &'static str,
    label: &'static str,
    hint: Option<&'static str>,
    is_required: bool,
    choices: Vec<String>,
}

impl Field {
    fn new(id: &'static str, label: &'static str) -> Self {
        Self {
            id,
            label,
            hint: None,
            is_required: false,
            choices: Vec::new(),
        }
    }

    fn hint(self, hint: &'static str) -> Self {
        Self {
            hint: Some(hint),
            ..self
        }
    }

    fn required(self) -> Self {
        Self {
            is_required: true,
            ..self
        }
    }

    fn choices(self, choices: Vec<String>) -> Self {
        Self { choices, ..self }
    }
}

fn field(
    draft: Draft,
    field: Field,
    read: fn(&TemplateValues) -> &String,
    write: fn(&mut TemplateValues) -> &mut String,
) -> AnyView {
    let id = format!("template-{}", field.id);
    let (hint_id, list_id) = (format!("{id}-hint"), format!("{id}-list"));
    let describedby = field.hint.map(|_| hint_id.clone());
    let has_choices = !field.choices.is_empty();
    let list = has_choices.then(|| list_id.clone());
    let options = field
        .choices
        .into_iter()
        .map(|value| view! { <option value=value></option> })
        .collect_view();
    view! {
        <div class="field">
            <label for=id.clone()>{field.label}</label>
            <input
                class="input"
                id=id
                type="text"
                required=field.is_required
                spellcheck="false"
                autocomplete="off"
                list=list
                aria-describedby=describedby
                prop:value=move || draft.values.with(|values| read(values).clone())
                on:input=move |event| {
                    let typed = event_target_value(&event);
                    draft.values.update(|values| *write(values) = typed);
                }
            />
            {has_choices.then(|| view! { <datalist id=list_id>{options}</datalist> })}
            {field.hint.map(|hint| view! { <span class="field-hint" id=hint_id>{hint}</span> })}
        </div>
    }
    .into_any()
}

fn labels(draft: Draft) -> AnyView {
    view! {
        <div class="field">
            <label for="template-labels">"Labels"</label>
            <textarea
                class="input mono h-auto py-2"
                id="template-labels"
                rows="8"
                spellcheck="false"
                autocomplete="off"
                aria-describedby="template-labels-hint"
                prop:value=move || draft.labels.get()
                on:input=move |event| draft.labels.set(event_target_value(&event))
            ></textarea>
            <span class="field-hint" id="template-labels-hint">
                "One LABEL=VALUE on each line. These are all labels of the copy."
            </span>
        </div>
    }
    .into_any()
}
