//! "Test a user": what another user could do, by access reviews with the viewer's own token.
//!
//! The reviews start from an [`Identity`]. Its roles are entered, or are Keystone's role
//! assignments if the viewer's own token may read them.
use super::{accepted, user};
use crate::{
    caller::Caller,
    kube::{Api, KubeError, namespaces, reviews, reviews::ReviewedSubject},
    service::{
        Services,
        access::{Names, is_keystone_id, is_keystone_user_id},
        error::ServiceError,
    },
};
use portico_domain::{
    cluster::ClusterRecord,
    identity::{Identity, Named, Project, User},
    panel::{
        KubernetesUser, ResourceRef, RightQuestion, UserTest, UserTestAnswer, UserTestForm,
        UserTestOutcome, UserTestRequest,
    },
};

use portico_openstack::keystone::Error;

/// Maximum length of a name, in characters; Keystone's are shorter.
const MAX_TEXT_CHARS: usize = 255;
/// Maximum number of roles, and of groups, in one test.
const MAX_ENTRIES: usize = 50;
/// The group of every authenticated request; no binding needs to name another one.
const AUTHENTICATED: &str = "system:authenticated";

/// Returns the form's options; refused to viewers who may not review other users.
pub async fn form(
    services: &Services,
    caller: &Caller,
    api: &Api,
    record: &ClusterRecord,
) -> Result<UserTestForm, ServiceError> {
    permitted(api).await?;
    let names = services.names(caller);
    Ok(UserTestForm {
        projects: projects(&names, record)
            .map(|project| Named {
                id: project.id.clone(),
                name: project.name.clone(),
            })
            .collect(),
        roles: names.known_roles(),
        namespaces: match namespaces::list(api).await {
            Ok(names) => names,
            Err(KubeError::Refused(_)) => Vec::new(),
            Err(error) => return Err(error.into()),
        },
    })
}

/// Runs the standard reviews for a user. An invalid form is a result too.
pub async fn user_test(
    services: &Services,
    caller: &Caller,
    api: &Api,
    record: &ClusterRecord,
    request: UserTestRequest,
) -> Result<UserTest, ServiceError> {
    let names = services.names(caller);
    permitted(api).await?;
    let at = services.clock.now().as_second();
    let mut tested = match Tested::read(&names, record, &request) {
        Ok(tested) => tested,
        Err(error) => {
            let next_step = error.next_step.map(|step| format!(" {step}"));
            let problem = error.message + &next_step.unwrap_or_default();
            return Ok(UserTest {
                at,
                request,
                outcome: UserTestOutcome::Invalid(problem),
            });
        }
    };
    let roles = tested.complete(services, caller, &names).await;
    let acceptance = accepted::other(&tested.identity, record);
    let answers = if acceptance.accepted {
        ask(api, &tested.subject(record), questions(&request.namespace)).await?
    } else {
        Vec::new()
    };
    Ok(UserTest {
        at,
        outcome: UserTestOutcome::Asked {
            user: tested.shown(&names, record),
            roles: roles.to_owned(),
            accepted: acceptance,
            answers,
        },
        request,
    })
}

async fn permitted(api: &Api) -> Result<(), ServiceError> {
    let resource = ResourceRef::new("authorization.k8s.io", "v1", "subjectaccessreviews");
    let question = reviews::question("create", &resource, None);
    if reviews::allowed(api, &question).await? {
        return Ok(());
    }
    Err(ServiceError::lacks(question))
}

/// Returns the viewer's projects that the cluster accepts; the names of other projects are not
/// disclosed to them.
fn projects<'a>(
    names: &'a Names<'_>,
    record: &'a ClusterRecord,
) -> impl Iterator<Item = &'a Project> {
    let own = names.identity.project.iter();
    own.chain(names.projects.iter().filter(|project| {
        let current = names.identity.project.as_ref();
        current.is_none_or(|current| current.id != project.id)
    }))
    .filter(|project| record.accepts_project(project))
}

/// The user described by the form.
#[derive(Debug)]
struct Tested {
    identity: Identity,
    username: String,
    /// Groups that do not follow from Keystone.
    more_groups: Vec<String>,
}

impl Tested {
    fn read(
        names: &Names<'_>,
        record: &ClusterRecord,
        request: &UserTestRequest,
    ) -> Result<Self, ServiceError> {
        let user_id = request.user_id.trim();
        if !is_keystone_user_id(user_id) {
            return Err(ServiceError::invalid(
                "The user ID must be 32 or 64 digits and letters a to f.",
            )
            .next("Names are not unique in Keystone; `openstack user show NAME` prints the ID."));
        }
        let username = text("The user name", request.username.trim())?;
        let project = projects(names, record)
            .find(|project| project.id == request.project)
            .cloned()
            .ok_or_else(|| ServiceError::invalid("Choose a project that the cluster accepts."))?;
        let typed = entries("role IDs", &request.more_roles)?;
        let roles: Vec<Named> = request.roles.iter().cloned().chain(typed).fold(
            Vec::new(),
            |mut roles: Vec<Named>, id| {
                if roles.iter().all(|known| known.id != id) {
                    let name = names.role(&id).unwrap_or_else(|| id.clone());
                    roles.push(Named { id, name });
                }
                roles
            },
        );
        if roles.len() > MAX_ENTRIES {
            return Err(too_many("roles"));
        }
        if let Some(role) = roles.iter().find(|role| !is_keystone_id(&role.id)) {
            return Err(ServiceError::invalid(format!(
                "{} is not a role ID: that is 32 digits and letters a to f.",
                short(&role.id)
            ))
            .next("`openstack role show NAME` prints the ID."));
        }
        let namespace = request.namespace.trim();
        if namespace.len() > 63 || !namespace.bytes().all(is_of_a_label) {
            return Err(ServiceError::invalid(
                "That is not the name of a namespace.",
            ));
        }
        Ok(Self {
            identity: Identity {
                user: User {
                    id: user_id.to_owned(),
                    name: String::new(),
                    domain: Named {
                        id: String::new(),
                        name: String::new(),
                    },
                },
                project: Some(project),
                roles,
            },
            username,
            more_groups: entries("groups", &request.groups)?,
        })
    }

    /// Reads the roles from Keystone if none were entered; returns their source.
    async fn complete(
        &mut self,
        services: &Services,
        caller: &Caller,
        names: &Names<'_>,
    ) -> &'static str {
        if !self.identity.roles.is_empty() {
            return "With the roles that you chose; whether the user holds them is not checked.";
        }
        let asked = (&services.keystone, caller.token(), &self.identity.project);
        let (Some(keystone), Some(own), Some(project)) = asked else {
            return "Without any role: none was chosen, and this panel is not connected to \
                    Keystone.";
        };
        match keystone.role_assignments(&own.token, &project.id).await {
            Ok(listed) => {
                let listed = listed.unwrap_or_default().into_iter();
                for held in listed.filter(|one| one.user_id == self.identity.user.id) {
                    let id = held.role.id;
                    if self.identity.roles.iter().all(|known| known.id != id) {
                        let name = names.role(&id).unwrap_or(held.role.name);
                        self.identity.roles.push(Named { id, name });
                    }
                }
                "With the roles that Keystone's role assignments give the user in the project."
            }
            Err(Error::Forbidden) => {
                "Without any role: none was chosen, and Keystone does not let you read role \
                 assignments."
            }
            Err(_) => {
                "Without any role: none was chosen, and Keystone did not return the user's role \
                 assignments."
            }
        }
    }

    fn groups(&self, record: &ClusterRecord) -> Vec<String> {
        let mut groups = self
            .identity
            .kubernetes_groups(record.qualified_groups_only());
        for group in &self.more_groups {
            if !groups.contains(group) {
                groups.push(group.clone());
            }
        }
        groups
    }

    fn subject(&self, record: &ClusterRecord) -> ReviewedSubject {
        let mut groups = self.groups(record);
        groups.push(AUTHENTICATED.to_owned());
        let extra = self.identity.project.as_ref().map(|_| {
            // an entered value has no domain
            portico_kube_auth::identity_extra(&self.identity)
                .into_iter()
                .filter(|(_, values)| values.iter().all(|value| !value.is_empty()))
                .map(|(key, values)| (key.to_owned(), values))
                .collect()
        });
        ReviewedSubject {
            user: self.username.clone(),
            uid: self.identity.user.id.clone(),
            groups,
            extra: extra.unwrap_or_default(),
        }
    }

    fn shown(&self, names: &Names<'_>, record: &ClusterRecord) -> KubernetesUser {
        let subject = self.subject(record);
        KubernetesUser {
            username: subject.user,
            uid: subject.uid,
            groups: user::groups(names, self.groups(record)),
            extra: subject.extra.into_iter().collect(),
        }
    }
}

/// Returns entries separated by white space or commas.
fn entries(what: &str, typed: &str) -> Result<Vec<String>, ServiceError> {
    let found: Vec<String> = typed
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|entry| !entry.is_empty())
        .take(MAX_ENTRIES + 1)
        .map(|entry| text("An entry", entry))
        .collect::<Result<_, _>>()?;
    if found.len() > MAX_ENTRIES {
        return Err(too_many(what));
    }
    Ok(found)
}

fn text(what: &str, text: &str) -> Result<String, ServiceError> {
    if text.chars().count() > MAX_TEXT_CHARS || text.chars().any(char::is_control) {
        return Err(ServiceError::invalid(format!(
            "{what} is too long or holds characters that cannot be seen."
        )));
    }
    if text.to_lowercase().starts_with("system:") {
        return Err(ServiceError::invalid(format!(
            "{} belongs to Kubernetes: kube-auth never assigns it.",
            short(text)
        ))
        .next("Leave it out; system:authenticated is always taken into account."));
    }
    Ok(text.to_owned())
}

fn too_many(what: &str) -> ServiceError {
    ServiceError::invalid(format!(
        "At most {MAX_ENTRIES} {what} can be tested at once."
    ))
}

fn short(text: &str) -> String {
    text.chars().take(64).collect()
}

fn is_of_a_label(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

/// Returns the standard questions: in a namespace (all, if none is given), and about the cluster.
fn questions(namespace: &str) -> Vec<(&'static str, RightQuestion)> {
    let namespace = Some(namespace.trim()).filter(|name| !name.is_empty());
    let apps = |plural: &str| ResourceRef::new("apps", "v1", plural);
    let rbac = ResourceRef::new("rbac.authorization.k8s.io", "v1", "rolebindings");
    let mut exec = reviews::question("create", &ResourceRef::core("pods"), namespace);
    "exec".clone_into(&mut exec.subresource);
    let mut log = reviews::question("get", &ResourceRef::core("pods"), namespace);
    "log".clone_into(&mut log.subresource);
    let asked = |verb: &str, resource: &ResourceRef| reviews::question(verb, resource, namespace);
    vec![
        ("List pods", asked("list", &ResourceRef::core("pods"))),
        ("Read the logs of pods", log),
        ("Open terminals in pods", exec),
        ("Create deployments", asked("create", &apps("deployments"))),
        ("Delete deployments", asked("delete", &apps("deployments"))),
        ("Read secrets", asked("get", &ResourceRef::core("secrets"))),
        ("Grant rights", asked("create", &rbac)),
        (
            "List nodes",
            reviews::question("list", &ResourceRef::core("nodes"), None),
        ),
        (
            "Do everything, everywhere",
            reviews::question("*", &ResourceRef::new("*", "*", "*"), None),
        ),
    ]
}

async fn ask(
    api: &Api,
    subject: &ReviewedSubject,
    questions: Vec<(&'static str, RightQuestion)>,
) -> Result<Vec<UserTestAnswer>, ServiceError> {
    let asked = questions.into_iter().map(|(what, question)| async move {
        let result = reviews::review_of(api, subject, &question).await?;
        Ok(UserTestAnswer {
            what: what.to_owned(),
            question,
            allowed: result.allowed,
            reason: result.reason,
        })
    });
    // a handful, and the user waits for all of them
    futures::future::try_join_all(asked).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::authentication::user::tests::{record, with_names};

    const USER: &str = "fedcba9876543210fedcba9876543210";
    const ROLE: &str = "0e968be8a0e749e2b8802014d40201e9";

    fn request() -> UserTestRequest {
        UserTestRequest {
            user_id: USER.to_owned(),
            project: "p1".to_owned(),
            roles: vec![ROLE.to_owned()],
            groups: "ops, on-call\nops".to_owned(),
            ..UserTestRequest::default()
        }
    }

    fn refused(change: impl FnOnce(&mut UserTestRequest)) -> String {
        let mut request = request();
        change(&mut request);
        let mut message = String::new();
        with_names(&["r1"], |names| {
            let error = Tested::read(names, &record(&["p1"], &[], &[]), &request).unwrap_err();
            message = error.message;
        });
        message
    }

    #[test]
    fn a_user_has_the_groups_that_kube_auth_would_give_them() {
        with_names(&["r1"], |names| {
            let one = record(&["p1"], &[], &[]);
            let tested = Tested::read(names, &one, &request()).unwrap();
            let role = format!("portico:project:p1:role:{ROLE}");
            let user = format!("portico:user:{USER}");
            assert_eq!(
                tested.subject(&one).groups,
                [
                    &user,
                    "portico:project:p1",
                    ROLE,
                    &role,
                    "ops",
                    "on-call",
                    AUTHENTICATED
                ]
            );
            let several = record(&["p1", "p2"], &[], &[]);
            let tested = Tested::read(names, &several, &request()).unwrap();
            assert!(!tested.subject(&several).groups.contains(&ROLE.to_owned()));
            // these are the groups of the credential; Kubernetes adds its own to every user
            let shown = tested.shown(names, &several);
            assert!(shown.groups.iter().all(|group| group.name != AUTHENTICATED));
        });
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_a_reason() {
        let messages = [
            refused(|form| form.user_id = "nora".to_owned()),
            refused(|form| form.project = "p2".to_owned()),
            refused(|form| form.more_roles = "admin".to_owned()),
            refused(|form| form.groups = "system:masters".to_owned()),
            refused(|form| form.username = "System:admin".to_owned()),
            refused(|form| form.namespace = "../x".to_owned()),
            refused(|form| form.groups = "g ".repeat(51)),
            refused(|form| form.username = "a\u{7}".to_owned()),
        ];
        insta::assert_snapshot!("refused_forms", messages.join("\n"));
    }

    #[test]
    fn a_namespace_is_asked_about_where_it_matters() {
        for (what, question) in questions(" shop ") {
            let cluster_wide = matches!(what, "List nodes" | "Do everything, everywhere");
            assert_eq!(question.namespace.is_none(), cluster_wide, "{what}");
        }
        assert!(
            questions("")
                .iter()
                .all(|(_, question)| question.namespace.is_none())
        );
    }
}
