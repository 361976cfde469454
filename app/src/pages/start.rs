use crate::{
    context::use_session,
    hooks::page_change::use_page_shown,
    routes,
    ui::{Icon, StateMessage, icons},
};
use leptos::prelude::*;

/// Without a project in the address: a choice of them. The server usually redirects instead.
#[component]
pub fn Start() -> impl IntoView {
    let session = use_session();
    use_page_shown("Projects".to_owned());
    let projects = move || {
        let projects = session.view.get().projects;
        if projects.is_empty() {
            return view! {
                <StateMessage
                    icon=icons::FOLDER
                    title="You have no project yet"
                    text="Everything here belongs to a Keystone project. Ask your cloud's \
                          administrators for a role in one, for example k8s_viewer."
                    state="empty"
                />
            }
            .into_any();
        }
        let cards = projects
            .into_iter()
            .map(|project| {
                view! {
                    <li class="card">
                        <a class="card-link" href=routes::launchpad(&project.id)>
                            <span class="card-title">
                                <Icon icon=icons::FOLDER />
                                {project.name}
                            </span>
                            <span class="text-muted">"Domain "{project.domain.name}</span>
                        </a>
                    </li>
                }
            })
            .collect_view();
        view! { <ul class="grid-cards">{cards}</ul> }.into_any()
    };
    view! {
        <main id="main" tabindex="-1" class="page">
            <leptos_meta::Title text="Projects · Portico" />
            <div class="page-head">
                <h1 tabindex="-1">"Choose a project"</h1>
            </div>
            {projects}
        </main>
    }
    .into_any()
}
