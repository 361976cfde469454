//! Changes of templates.
use super::reading::{refusals, visible};
use crate::{
    caller::Caller,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{error, viewer::Viewer},
    },
};
use portico_cluster_operations::{
    Clients,
    templates::{CopyValues, Flag, copy},
};
use portico_domain::panel::lifecycle::{TemplateFlag, TemplateOutcome, TemplateValues};
use portico_lifecycle::{labels, rights::Call};
use portico_openstack::{
    magnum::ClusterTemplate,
    rest::{Effect, Error},
};
use uuid::Uuid;

const NOTHING_SENT: &str = "Nothing was sent. Correct it and try again.";

/// Creates a private template with the values of another one and those of the caller.
///
/// # Errors
/// `NotPermitted` for users who may not create templates; `NotFound` if the project may not use the other
/// one; else those of [`super::templates`].
pub async fn copy_template(
    services: &Services,
    caller: &Caller,
    from: Uuid,
    values: &TemplateValues,
) -> Result<TemplateOutcome, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    send_copy(&access.clients, &viewer, from, values).await
}

/// Sets or removes a flag of a template of the caller's project.
///
/// # Errors
/// `NotPermitted` for others than administrators of the cloud; else those of [`copy_template`].
pub async fn set_template_flag(
    services: &Services,
    caller: &Caller,
    template: Uuid,
    flag: TemplateFlag,
    is_on: bool,
) -> Result<TemplateOutcome, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    send_flag(&access.clients, &viewer, template, flag, is_on).await
}

/// Deletes a template of the caller's project that no cluster uses, if `typed` is its name.
///
/// # Errors
/// `NotPermitted` for users who may not delete it; else those of [`copy_template`].
pub async fn delete_template(
    services: &Services,
    caller: &Caller,
    template: Uuid,
    typed: &str,
) -> Result<TemplateOutcome, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    send_deletion(&access.clients, &viewer, template, typed).await
}

pub(super) async fn send_copy(
    clients: &Clients,
    viewer: &Viewer,
    from: Uuid,
    values: &TemplateValues,
) -> Result<TemplateOutcome, ServiceError> {
    if let Some(refusal) = viewer.refusal(Call::CreateTemplate, None) {
        return Err(ServiceError::not_permitted(refusal));
    }
    let found = visible(clients, viewer, from).await?;
    if let Some(problem) = problem(values, &found) {
        return Ok(refused(problem));
    }
    let new = copy(found, chosen(values));
    let created = clients.magnum.create_template(&viewer.token, &new).await;
    Ok(match created {
        Ok(created) => TemplateOutcome::Done {
            template: created.uuid,
        },
        Err(error) => failed(&error, "the new template"),
    })
}

pub(super) async fn send_flag(
    clients: &Clients,
    viewer: &Viewer,
    template: Uuid,
    flag: TemplateFlag,
    is_on: bool,
) -> Result<TemplateOutcome, ServiceError> {
    if let Some(refusal) = viewer.refusal(Call::PublishTemplate, None) {
        return Err(ServiceError::not_permitted(refusal));
    }
    let found = visible(clients, viewer, template).await?;
    let is_present = match flag {
        TemplateFlag::Public => found.public,
        TemplateFlag::Hidden => found.hidden,
    };
    if is_present == is_on {
        return Ok(TemplateOutcome::Done { template });
    }
    let clusters = clients.magnum.clusters(&viewer.token).await;
    let clusters = clusters.map_err(|error| error::of_service(&error))?;
    let refusals = refusals(&found, &clusters, viewer);
    let (flag, refusal) = match flag {
        TemplateFlag::Public => (Flag::Public, refusals.publish),
        TemplateFlag::Hidden => (Flag::Hidden, refusals.hide),
    };
    if let Some(refusal) = refusal {
        return Ok(refused(refusal));
    }
    let operations = [flag.operation(is_on)];
    let changed = clients
        .magnum
        .change_template(&viewer.token, template, &operations)
        .await;
    Ok(match changed {
        Ok(_) => TemplateOutcome::Done { template },
        Err(error) => failed(&error, "the change of the template"),
    })
}

pub(super) async fn send_deletion(
    clients: &Clients,
    viewer: &Viewer,
    template: Uuid,
    typed: &str,
) -> Result<TemplateOutcome, ServiceError> {
    if let Some(refusal) = viewer.refusal(Call::DeleteTemplate, None) {
        return Err(ServiceError::not_permitted(refusal));
    }
    let (found, clusters) = tokio::join!(
        visible(clients, viewer, template),
        clients.magnum.clusters(&viewer.token),
    );
    let found = found?;
    let clusters = clusters.map_err(|error| error::of_service(&error))?;
    if let Some(refusal) = refusals(&found, &clusters, viewer).delete {
        return Ok(refused(refusal));
    }
    if typed != found.name {
        return Ok(refused(format!(
            "The typed name is not that of the template, {}.",
            found.name
        )));
    }
    let deleted = clients
        .magnum
        .delete_template(&viewer.token, template)
        .await;
    Ok(match deleted {
        Ok(()) => TemplateOutcome::Done { template },
        Err(error) => failed(&error, "the deletion of the template"),
    })
}

/// Returns what is wrong with the values of a copy, as a sentence. Labels that the other template has are
/// not questioned.
fn problem(values: &TemplateValues, from: &ClusterTemplate) -> Option<String> {
    if values.name.trim().is_empty() {
        return Some("The new template has no name.".to_owned());
    }
    if values.image.trim().is_empty() {
        return Some("The new template has no image.".to_owned());
    }
    let mut others = values
        .labels
        .iter()
        .filter(|(key, value)| from.labels.get(*key) != Some(*value));
    others.find_map(|(key, value)| {
        let problem = labels::known(key)?.values.problem(value)?;
        Some(format!("The label {key} is invalid. {problem}"))
    })
}

fn chosen(values: &TemplateValues) -> CopyValues {
    let text = |value: &String| Some(value.trim().to_owned());
    CopyValues {
        name: text(&values.name),
        image: text(&values.image),
        flavor: text(&values.flavor),
        master_flavor: text(&values.control_plane_flavor),
        keypair: text(&values.keypair),
        external_network: text(&values.external_network),
        network: text(&values.network),
        subnet: text(&values.subnet),
        labels: Some(values.labels.clone()),
    }
}

fn refused(reason: String) -> TemplateOutcome {
    TemplateOutcome::Refused {
        reason,
        next_step: Some(NOTHING_SENT.to_owned()),
        request_id: None,
    }
}

/// Returns that Magnum did not accept a request; `what` is it with an article.
fn failed(error: &Error, what: &str) -> TemplateOutcome {
    if error.effect == Effect::Unknown {
        return TemplateOutcome::Unknown {
            reason: format!("The response to {what} was lost. {}", error::message(error)),
            next_step:
                "Look at the list of templates before you send it again: Magnum may have done it."
                    .to_owned(),
        };
    }
    TemplateOutcome::Refused {
        reason: error::message(error),
        next_step: Some(error::next_step(error)),
        request_id: error.request_id.clone(),
    }
}
