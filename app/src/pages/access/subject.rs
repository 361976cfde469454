//! The name of a subject: Keystone's name first, its ID in small print.
use crate::ui::{Badge, CopyButton, Icon, icons};
use leptos::prelude::*;
use portico_domain::panel::Subject;

/// The readable parts of a subject.
pub struct Words {
    pub kind: &'static str,
    pub name: String,
    pub id: Option<String>,
    /// Whether it is an ID of Keystone's whose name the viewer may not know.
    pub nameless: bool,
    icon: icondata_core::Icon,
}

impl Words {
    pub fn of(subject: &Subject) -> Self {
        let keystone = |kind, icon, id: &String, name: &Option<String>| Self {
            kind,
            name: name.clone().unwrap_or_else(|| id.clone()),
            id: name.is_some().then(|| id.clone()),
            nameless: name.is_none(),
            icon,
        };
        let plain = |kind, icon, name: String| Self {
            kind,
            name,
            id: None,
            nameless: false,
            icon,
        };
        match subject {
            Subject::KeystoneRole {
                id, name, project, ..
            } => {
                let mut words = keystone("Keystone role", icons::KEY, id, name);
                if let Some(project) = project {
                    words.name = format!("{} in {project}", words.name);
                }
                words
            }
            Subject::KeystoneUser { id, name } => keystone("Keystone user", icons::USER, id, name),
            Subject::KeystoneProject { id, name } => {
                keystone("Keystone project", icons::FOLDER, id, name)
            }
            Subject::ServiceAccount { namespace, name } => {
                plain("ServiceAccount", icons::BOX, format!("{namespace}/{name}"))
            }
            Subject::User { name } => plain("User", icons::USER, name.clone()),
            Subject::Group { name } => plain("Group", icons::BOXES, name.clone()),
        }
    }
}

/// Returns the subject's name, kind and ID; `beside` follows the name.
pub fn view(subject: &Subject, beside: Option<AnyView>) -> AnyView {
    let words = Words::of(subject);
    view! {
        <span class="inline-flex items-start gap-2">
            <span class="mt-0.5 text-faint"><Icon icon=words.icon /></span>
            <span class="grid gap-0.5 min-w-0">
                <span class="flex flex-wrap items-center gap-x-2 wrap-anywhere">
                    {words.name}
                    {words.nameless.then(|| view! {
                        <span title="You may not look up this ID, or what it named was deleted in Keystone">
                            <Badge text="Name unknown" icon=icons::INFO />
                        </span>
                    })}
                    {beside}
                </span>
                <span class="flex flex-wrap items-center gap-x-1 font-normal text-faint">
                    {words.kind}
                    {words.id.map(|id| view! {
                        <code class="wrap-anywhere">{id.clone()}</code>
                        <CopyButton text=id what="ID" />
                    })}
                </span>
            </span>
        </span>
    }
    .into_any()
}
