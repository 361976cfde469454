//! "Test a user": what another user could do, determined by access reviews.
use super::{accepted, attempt::Attempt, user};
use crate::{
    api::authentication::test_user,
    components::not_permitted,
    context::use_session,
    format, routes,
    ui::{
        Badge, Banner, Button, ButtonKind, Card, Choice, Field, SelectField, StateMessage, Status,
        TableRegion, Tone, icons,
    },
};
use leptos::prelude::*;
use portico_domain::{
    identity::Named,
    panel::{
        Reading, RightQuestion, UserTest, UserTestAnswer, UserTestForm, UserTestOutcome,
        UserTestRequest,
    },
};
use uuid::Uuid;

#[component]
pub fn UserTestCard(
    cluster: Uuid,
    form: Reading<UserTestForm>,
    last: Option<UserTest>,
) -> impl IntoView {
    let body = match form {
        Reading::Known(form) => view! { <Tester cluster form last /> }.into_any(),
        Reading::NotPermitted(refusal) => not_permitted("test other users here", &refusal),
        Reading::Unavailable(text) => view! {
            <StateMessage
                icon=icons::WARNING
                title="Other users cannot be tested right now"
                text
                state="unavailable"
            />
        }
        .into_any(),
    };
    view! {
        <div id="user-test">
            <Card title="Test a user">{body}</Card>
        </div>
    }
    .into_any()
}

/// The values of the form's fields.
#[derive(Clone, Copy)]
struct Entries {
    user_id: RwSignal<String>,
    username: RwSignal<String>,
    project: RwSignal<String>,
    roles: RwSignal<Vec<String>>,
    more_roles: RwSignal<String>,
    groups: RwSignal<String>,
    namespace: RwSignal<String>,
}

impl Entries {
    fn new(request: UserTestRequest) -> Self {
        Self {
            user_id: RwSignal::new(request.user_id),
            username: RwSignal::new(request.username),
            project: RwSignal::new(request.project),
            roles: RwSignal::new(request.roles),
            more_roles: RwSignal::new(request.more_roles),
            groups: RwSignal::new(request.groups),
            namespace: RwSignal::new(request.namespace),
        }
    }

    fn request(self) -> UserTestRequest {
        UserTestRequest {
            user_id: self.user_id.get_untracked(),
            username: self.username.get_untracked(),
            project: self.project.get_untracked(),
            roles: self.roles.get_untracked(),
            more_roles: self.more_roles.get_untracked(),
            groups: self.groups.get_untracked(),
            namespace: self.namespace.get_untracked(),
        }
    }
}

/// Returns the initial values of the form: the first project, and a namespace with users'
/// workloads.
fn blank(form: &UserTestForm) -> UserTestRequest {
    let usual = form
        .namespaces
        .iter()
        .find(|name| *name == "default")
        .or_else(|| form.namespaces.first());
    UserTestRequest {
        project: form
            .projects
            .first()
            .map(|project| project.id.clone())
            .unwrap_or_default(),
        namespace: usual.cloned().unwrap_or_default(),
        ..UserTestRequest::default()
    }
}

#[component]
fn Tester(cluster: Uuid, form: UserTestForm, last: Option<UserTest>) -> impl IntoView {
    let session = use_session();
    let first = last
        .as_ref()
        .map_or_else(|| blank(&form), |last| last.request.clone());
    let entries = Entries::new(first);
    let attempt = Attempt::new(last);
    let submit = move |event: leptos::ev::SubmitEvent| {
        attempt.submit(&event, || test_user(cluster, entries.request()));
    };
    let project = session.project.get_untracked();
    let csrf_token = session.view.with_untracked(|view| view.csrf_token.clone());
    view! {
        <form
            method="post"
            action=routes::form_action("authentication/test_user", &project)
            on:submit=submit
            class="grid grid-cols-1 gap-4"
        >
            <input type="hidden" name="cluster" value=cluster.to_string() />
            <input type="hidden" name="csrf_token" value=csrf_token />
            <p>
                "Asks the API server, with your own token, what a user with these groups may do. \
                 The result is computed, without a real sign-in. If no role is chosen, the user's \
                 roles are taken from Keystone's role assignments, if you may read them."
            </p>
            {fields(entries, form)}
            <div>
                <Button label="Test this user" kind=ButtonKind::Primary submit=true busy=attempt.busy />
            </div>
        </form>
        {attempt.outcome(spoken, shown)}
    }
    .into_any()
}

/// Returns the result for screen readers; an invalid form is announced separately.
fn spoken(test: &UserTest) -> Option<String> {
    match &test.outcome {
        UserTestOutcome::Invalid(_) => None,
        UserTestOutcome::Asked { answers, .. } => {
            let yes = answers.iter().filter(|answer| answer.allowed).count();
            Some(format!(
                "{yes} of {} questions were answered with yes.",
                answers.len()
            ))
        }
    }
}

fn fields(entries: Entries, form: UserTestForm) -> AnyView {
    let projects: Vec<Choice> = form
        .projects
        .into_iter()
        .map(|project| Choice::new(project.id, project.name))
        .collect();
    let namespace = if form.namespaces.is_empty() {
        view! {
            <Field
                id="tested-namespace"
                name="request[namespace]"
                label="Namespace"
                value=entries.namespace
                hint="Leave empty for all namespaces"
            />
        }
        .into_any()
    } else {
        let places: Vec<Choice> = std::iter::once(Choice::new("", "All namespaces"))
            .chain(
                form.namespaces
                    .into_iter()
                    .map(|name| Choice::new(name.clone(), name)),
            )
            .collect();
        view! {
            <SelectField
                id="tested-namespace"
                name="request[namespace]"
                label="Namespace"
                value=entries.namespace
                choices=places
            />
        }
        .into_any()
    };
    let roles = form
        .roles
        .into_iter()
        .map(|role| role_choice(entries.roles, role))
        .collect_view();
    view! {
        <div class="grant-form">
            <Field
                id="tested-user"
                name="request[user_id]"
                label="Keystone user ID"
                value=entries.user_id
                required=true
                hint="As openstack user show NAME prints it"
            />
            <Field
                id="tested-username"
                name="request[username]"
                label="Username"
                value=entries.username
                hint="user@domain; only where a binding names a User"
            />
        </div>
        <fieldset class="choices">
            <legend class="label mb-1">"Roles in the project"</legend>
            {roles}
        </fieldset>
        <div class="grant-form">
            <SelectField
                id="tested-project"
                name="request[project]"
                label="Project"
                value=entries.project
                choices=projects
            />
            {namespace}
            <Field
                id="tested-roles"
                name="request[more_roles]"
                label="More role IDs"
                value=entries.more_roles
                hint="Separate with spaces or commas"
            />
            <Field
                id="tested-groups"
                name="request[groups]"
                label="More groups"
                value=entries.groups
                hint="Groups that bindings name; separate with spaces or commas"
            />
        </div>
    }
    .into_any()
}

fn role_choice(chosen: RwSignal<Vec<String>>, role: Named) -> AnyView {
    let id = role.id.clone();
    let known = role.id.clone();
    let at_first = chosen.with_untracked(|chosen| chosen.contains(&role.id));
    view! {
        <label class="check">
            <input
                type="checkbox"
                name="request[roles][]"
                value=role.id
                checked=at_first
                prop:checked=move || chosen.with(|chosen| chosen.contains(&known))
                on:change=move |event| {
                    let on = event_target_checked(&event);
                    chosen.update(|chosen| {
                        chosen.retain(|other| *other != id);
                        if on {
                            chosen.push(id.clone());
                        }
                    });
                }
            />
            {role.name}
        </label>
    }
    .into_any()
}

fn shown(test: &UserTest) -> AnyView {
    let (user, roles, acceptance, answers) = match &test.outcome {
        UserTestOutcome::Invalid(problem) => {
            let problem = problem.clone();
            return view! { <Banner tone=Tone::Bad alert=true>{problem}</Banner> }.into_any();
        }
        UserTestOutcome::Asked {
            user,
            roles,
            accepted,
            answers,
        } => (user, roles.clone(), accepted, answers),
    };
    let table = (!answers.is_empty()).then(|| {
        let rows = answers.iter().map(answer).collect_view();
        view! {
            <TableRegion label="What this user may do">
                <thead>
                    <tr>
                        <th scope="col">"Permission"</th>
                        <th scope="col">"Answer"</th>
                        <th scope="col">"Because"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </TableRegion>
        }
    });
    view! {
        <div class="grid grid-cols-1 gap-4" data-test="computed">
            <p class="flex flex-wrap items-center gap-2">
                <Badge icon=icons::INFO text="Computed, not a real sign-in" />
                <span class="text-muted">{format::moment(test.at)}</span>
            </p>
            <p class="text-muted">{roles}</p>
            {accepted::acceptance(acceptance)}
            {table}
            {user::folded(user, "this user", "Asked about")}
        </div>
    }
    .into_any()
}

fn answer(answer: &UserTestAnswer) -> AnyView {
    let (tone, word) = if answer.allowed {
        (Tone::Ok, "yes")
    } else {
        (Tone::Idle, "no")
    };
    let reason = if answer.reason.is_empty() {
        "Nothing allows it".to_owned()
    } else {
        answer.reason.clone()
    };
    view! {
        <tr>
            <th scope="row" class="cell-text">
                {answer.what.clone()}
                <span class="block font-normal text-faint">{spelled(&answer.question)}</span>
            </th>
            <td><Status tone text=word /></td>
            <td class="cell-id">{reason}</td>
        </tr>
    }
    .into_any()
}

/// Returns `create pods/exec in shop`.
fn spelled(question: &RightQuestion) -> String {
    if question.verb == "*" {
        return "every verb on every kind".to_owned();
    }
    let resource = if question.subresource.is_empty() {
        question.resource.clone()
    } else {
        format!("{}/{}", question.resource, question.subresource)
    };
    let place = question
        .namespace
        .as_ref()
        .map_or_else(|| "the whole cluster".to_owned(), std::clone::Clone::clone);
    format!("{} {resource} in {place}", question.verb)
}
