//! The deletion of a template, after its name is typed.
use super::{super::change::typed_name, sending::Sending};
use crate::{
    api::cluster_templates::delete_template,
    context::use_session,
    routes::managed_clusters::ManagedClustersPage,
    ui::{Card, Icon, Why, icons},
};
use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};
use portico_domain::panel::lifecycle::TemplateRow;
use uuid::Uuid;

const BUTTON: &str = "Delete template";

/// Returns the card of the deletion; with `refusal` it is not offered.
pub fn card(template: &TemplateRow, refusal: Option<String>) -> AnyView {
    let content = match refusal {
        Some(reason) => view! {
            <p>{reason.clone()}</p>
            <div>
                <Why
                    id="delete-template-refusal"
                    label=BUTTON
                    reason
                    action="delete-template"
                    class="btn btn-danger"
                />
            </div>
        }
        .into_any(),
        None => form(template),
    };
    view! {
        <div class="mt-4" data-part="deletion">
            <Card title="Delete this template">
                <div class="grid grid-cols-1 gap-3">{content}</div>
            </Card>
        </div>
    }
    .into_any()
}

fn form(template: &TemplateRow) -> AnyView {
    let (id, name) = (template.id, template.name.clone());
    let project = use_session().project.get_untracked();
    let list = ManagedClustersPage::Templates.address(&project);
    let navigate = use_navigate();
    let done = Callback::new(move |_: Uuid| navigate(&list, NavigateOptions::default()));
    let (typed, sending) = (RwSignal::new(String::new()), Sending::new());
    let is_confirmed = {
        let name = name.clone();
        Memo::new(move |_| typed.with(|typed| typed.trim() == name))
    };
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if is_confirmed.get_untracked() {
            let typed = typed.get_untracked().trim().to_owned();
            sending.run(delete_template(id, typed), done);
        }
    };
    view! {
        <p class="text-muted">
            "Magnum refuses it while clusters of other projects use the template, which this page cannot see."
        </p>
        <form class="grid grid-cols-1 gap-3" on:submit=submit>
            {typed_name(name, typed)}
            <div>
                <button
                    type="submit"
                    class="btn btn-danger"
                    disabled=move || !is_confirmed.get() || sending.is_busy.get()
                >
                    <Icon icon=icons::TRASH />
                    {BUTTON}
                </button>
            </div>
            <p class="visually-hidden" role="status">
                {move || sending.is_busy.get().then_some("The deletion is being sent.")}
            </p>
        </form>
        {sending.outcome()}
    }
    .into_any()
}
