use crate::{
    context::use_session,
    routes,
    ui::{Icon, Menu, icons},
};
use leptos::prelude::*;

/// All projects of the viewer, as links.
#[component]
pub fn ProjectLinks() -> impl IntoView {
    let session = use_session();
    move || {
        let current = session.project.get();
        session
            .view
            .get()
            .projects
            .into_iter()
            .map(|project| {
                let chosen = project.id == current;
                view! {
                    <a
                        class="menu-item"
                        href=routes::launchpad(&project.id)
                        aria-current=chosen.then_some("true")
                    >
                        <Icon icon=if chosen { icons::CHECK } else { icons::FOLDER } />
                        <span>{project.name}</span>
                        <span class="text-faint">{project.domain.name}</span>
                    </a>
                }
            })
            .collect_view()
    }
}

/// Shows the project of the page and links to the others.
#[component]
pub fn ProjectSwitcher() -> impl IntoView {
    let session = use_session();
    let label = Signal::derive(move || {
        let project = session.project.get();
        session.view.with(|view| {
            view.projects
                .iter()
                .find(|known| known.id == project)
                .map_or_else(|| "Choose a project".to_owned(), |known| known.name.clone())
        })
    });
    view! {
        <Menu id="projects-menu" label caption="Project" icon=icons::FOLDER left=true>
            <p class="menu-head label">"Projects"</p>
            <ProjectLinks />
            {move || {
                session
                    .view
                    .with(|view| view.projects.len() == 1)
                    .then(|| view! {
                        <p class="menu-head text-faint">
                            "The only project of this session: a session that stays signed in is \
                             limited to one project. Sign out to work in another."
                        </p>
                    })
            }}
        </Menu>
    }
    .into_any()
}
