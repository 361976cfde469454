//! The form that grants a role: first the preview, then the grant itself.
use super::preview;
use crate::{
    api::access::{preview_grant, save_grant},
    components::{InlineError, missing_permission, use_toasts},
    context::use_session,
    error::{UiError, UiErrorKind},
    operations::{Activity, use_operations},
    routes,
    ui::{Button, ButtonKind, Card, Choice, Field, SelectField, StateMessage, icons},
};
use leptos::{prelude::*, task::spawn_local};
use portico_domain::panel::{
    AccessView, GrantPreview, GrantRequest, RoleChoice, RoleRef, SubjectKind,
};
use uuid::Uuid;

/// The choice that allows an ID to be pasted.
const OTHER: &str = "other";

/// The values of the form's fields; outlives the data around it.
#[derive(Clone, Copy)]
pub struct Entries {
    open: RwSignal<bool>,
    /// A namespace, or nothing for the whole cluster.
    place: RwSignal<String>,
    /// `cluster/<name>` or `role/<name>`.
    role: RwSignal<String>,
    kind: RwSignal<SubjectKind>,
    known: RwSignal<String>,
    pasted: RwSignal<String>,
    typed: RwSignal<String>,
    preview: RwSignal<Option<(GrantRequest, GrantPreview)>>,
    failure: RwSignal<Option<UiError>>,
    busy: RwSignal<bool>,
}

impl Default for Entries {
    fn default() -> Self {
        Self {
            open: RwSignal::new(false),
            place: RwSignal::new(String::new()),
            role: RwSignal::new(String::new()),
            kind: RwSignal::new(SubjectKind::Role),
            known: RwSignal::new(String::new()),
            pasted: RwSignal::new(String::new()),
            typed: RwSignal::new(String::new()),
            preview: RwSignal::new(None),
            failure: RwSignal::new(None),
            busy: RwSignal::new(false),
        }
    }
}

impl Entries {
    /// Returns the grant in the form; `None` while a value is missing.
    fn request(self) -> Option<GrantRequest> {
        let role = self.role.get();
        let (kind, name) = role.split_once('/')?;
        let known = self.known.get();
        let subject_id =
            if self.kind.get() == SubjectKind::User || known == OTHER || known.is_empty() {
                self.pasted.get().trim().to_owned()
            } else {
                known
            };
        (!subject_id.is_empty()).then(|| GrantRequest {
            role: RoleRef {
                cluster: kind == "cluster",
                name: name.to_owned(),
            },
            namespace: Some(self.place.get()).filter(|place| !place.is_empty()),
            subject_kind: self.kind.get(),
            subject_id,
        })
    }

    fn reset(self) {
        self.open.set(false);
        self.preview.set(None);
        self.failure.set(None);
        self.typed.set(String::new());
        self.pasted.set(String::new());
    }
}

#[component]
pub fn GrantCard(cluster: Uuid, access: AccessView, entries: Entries) -> impl IntoView {
    if let Some(refusal) = access.grant_refused {
        let permission = missing_permission(refusal.missing.as_deref());
        let text = format!(
            "{} Ask a project administrator to grant it.",
            refusal.reason
        );
        return view! {
            <div class="card mt-4">
                <StateMessage
                    icon=icons::LOCK
                    title="You can't grant access here"
                    text
                    state="not-permitted"
                >
                    {permission}
                </StateMessage>
            </div>
        }
        .into_any();
    }
    let body = move || {
        if !entries.open.get() {
            return view! {
                <Button
                    label="Grant access"
                    icon=icons::PLUS
                    kind=ButtonKind::Primary
                    on_click=move |_| entries.open.set(true)
                />
            }
            .into_any();
        }
        let access = access.clone();
        view! {
            <Card title="Grant access">
                {move || match entries.preview.get() {
                    None => view! { <GrantForm cluster access=access.clone() entries /> }.into_any(),
                    Some((request, gained)) => {
                        view! { <Confirm cluster request gained entries /> }.into_any()
                    }
                }}
            </Card>
        }
        .into_any()
    };
    body.into_any()
}

#[component]
fn GrantForm(cluster: Uuid, access: AccessView, entries: Entries) -> impl IntoView {
    let places: Vec<Choice> = std::iter::once(Choice::new("", "Whole cluster"))
        .chain(
            access
                .namespaces
                .iter()
                .map(|name| Choice::new(name.clone(), name.clone())),
        )
        .collect();
    let all_roles = access.roles.clone();
    let roles = Signal::derive(move || role_choices(&all_roles, &entries.place.get()));
    let known = Signal::derive(move || {
        let names = match entries.kind.get() {
            SubjectKind::Role => &access.known_roles,
            SubjectKind::Project => &access.known_projects,
            SubjectKind::User => return Vec::new(),
        };
        std::iter::once(Choice::new("", "Choose"))
            .chain(
                names
                    .iter()
                    .map(|known| Choice::new(known.id.clone(), known.name.clone())),
            )
            .chain(std::iter::once(Choice::new(OTHER, "Another, by its ID")))
            .collect()
    });
    let pasting = move || {
        entries.kind.get() == SubjectKind::User || entries.known.with(|known| known == OTHER)
    };
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let Some(request) = untrack(|| entries.request()) else {
            let error = UiError::new(UiErrorKind::Invalid, "Choose a role and a subject first.");
            entries.failure.set(Some(error));
            return;
        };
        if entries.busy.get_untracked() {
            return;
        }
        entries.busy.set(true);
        entries.failure.set(None);
        spawn_local(async move {
            let outcome = preview_grant(cluster, request.clone()).await;
            entries.busy.set(false);
            match outcome {
                Ok(preview) => {
                    let request = GrantRequest {
                        subject_id: preview.subject_id.clone(),
                        ..request
                    };
                    entries.typed.set(String::new());
                    entries.preview.set(Some((request, preview)));
                }
                Err(error) => entries.failure.set(Some(error)),
            }
        });
    };
    view! {
        <form class="grid gap-4" on:submit=submit>
            <div class="grant-form">
                <SelectField id="grant-place" label="Where" value=entries.place choices=places />
                <SelectField id="grant-role" label="Role" value=entries.role choices=roles />
            </div>
            <fieldset class="choices">
                <legend class="label mb-1">"To whom"</legend>
                {[
                    (SubjectKind::Role, "All users with a Keystone role"),
                    (SubjectKind::User, "One Keystone user"),
                    (SubjectKind::Project, "All users in a Keystone project"),
                ]
                    .map(|(kind, label)| kind_choice(kind, label, entries))
                    .collect_view()}
            </fieldset>
            <div class="grant-form">
                {move || (entries.kind.get() != SubjectKind::User).then(|| view! {
                    <SelectField id="grant-known" label="Name" value=entries.known choices=known />
                })}
                {move || pasting().then(|| {
                    let (label, hint) = if entries.kind.get() == SubjectKind::User {
                        ("Keystone user name or ID", "A name is looked up with your own rights")
                    } else {
                        ("Keystone ID", "As Keystone shows it, for example with: openstack role show")
                    };
                    view! {
                        <Field
                            id="grant-subject"
                            label
                            value=entries.pasted
                            required=true
                            hint
                        />
                    }
                })}
            </div>
            {move || entries.failure.get().map(|error| view! { <InlineError error /> })}
            <div class="flex flex-wrap gap-2">
                <Button
                    label="See what this gives"
                    kind=ButtonKind::Primary
                    submit=true
                    busy=entries.busy
                />
                <Button label="Cancel" on_click=move |_| entries.reset() />
            </div>
        </form>
    }
    .into_any()
}

fn kind_choice(kind: SubjectKind, label: &'static str, entries: Entries) -> AnyView {
    view! {
        <label class="check">
            <input
                type="radio"
                name="subject_kind"
                prop:checked=move || entries.kind.get() == kind
                on:change=move |_| {
                    entries.kind.set(kind);
                    entries.known.set(String::new());
                }
            />
            {label}
        </label>
    }
    .into_any()
}

/// Returns ClusterRoles everywhere; Roles only in their own namespace.
fn role_choices(roles: &[RoleChoice], place: &str) -> Vec<Choice> {
    std::iter::once(Choice::new("", "Choose"))
        .chain(roles.iter().filter_map(|choice| {
            let name = &choice.role.name;
            if choice.role.cluster {
                Some(Choice::new(format!("cluster/{name}"), name.clone()))
            } else {
                (choice.namespace.as_deref() == Some(place))
                    .then(|| Choice::new(format!("role/{name}"), format!("{name} (only here)")))
            }
        }))
        .collect()
}

#[component]
fn Confirm(
    cluster: Uuid,
    request: GrantRequest,
    gained: GrantPreview,
    entries: Entries,
) -> impl IntoView {
    let toasts = use_toasts();
    let role = request.role.name.clone();
    let dangerous = !gained.dangers.is_empty();
    // the server decides what must be typed
    let must_type = move || {
        dangerous
            || entries.failure.with(|failure| {
                failure
                    .as_ref()
                    .is_some_and(|error| error.kind == UiErrorKind::Invalid)
            })
    };
    let operations = use_operations();
    let page = routes::access(&use_session().project.get_untracked(), cluster);
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if entries.busy.get_untracked() {
            return;
        }
        entries.busy.set(true);
        entries.failure.set(None);
        let (request, href) = (request.clone(), page.clone());
        spawn_local(async move {
            let activity = Activity {
                title: format!("Grant {}", request.role.name),
                href,
                command: String::new(),
            };
            let outcome = save_grant(cluster, request, entries.typed.get_untracked()).await;
            let message = outcome.as_ref().map(|done| done.message.as_str());
            operations.record(activity, message);
            entries.busy.set(false);
            match outcome {
                Ok(done) => {
                    entries.reset();
                    toasts.done(cluster, done);
                }
                Err(error) => entries.failure.set(Some(error)),
            }
        });
    };
    let exists = gained.exists;
    let kind = if dangerous {
        ButtonKind::Danger
    } else {
        ButtonKind::Primary
    };
    view! {
        <form class="grid gap-4" on:submit=save>
            {preview::view(&gained, &role)}
            {move || must_type().then(|| view! {
                <Field
                    id="grant-typed"
                    label=format!("Type {role} to confirm")
                    value=entries.typed
                    required=true
                />
            })}
            {move || entries.failure.get().map(|error| view! { <InlineError error /> })}
            <div class="flex flex-wrap gap-2">
                {(!exists).then(|| view! {
                    <Button label="Grant" kind submit=true busy=entries.busy />
                })}
                <Button
                    label="Back"
                    on_click=move |_| {
                        entries.failure.set(None);
                        entries.preview.set(None);
                    }
                />
            </div>
        </form>
    }
    .into_any()
}
