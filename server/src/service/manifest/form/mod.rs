//! Forms: the fields that they offer, and the object with the changed ones.
mod change;
mod fields;

use super::{edit, strip};
use crate::{
    kube::{Api, objects},
    service::error::ServiceError,
};
use portico_domain::panel::{EditForm, EditText, FieldEdit, ObjectRef};

/// Returns the fields that a form for an object offers.
pub async fn form(api: &Api, object: &ObjectRef) -> Result<EditForm, ServiceError> {
    let value = objects::get(api, object).await?;
    Ok(EditForm {
        version: edit::version(&value),
        groups: fields::groups(&object.resource, &value),
    })
}

/// Returns the object as text with changed fields, to be checked and saved as an edit of YAML is.
///
/// # Errors
/// `Conflict` if the object was changed since `version`; `Invalid` for fields that the form does
/// not offer, and for values of another type.
pub async fn text(
    api: &Api,
    object: &ObjectRef,
    version: &str,
    edits: &[FieldEdit],
) -> Result<EditText, ServiceError> {
    let mut value = objects::get(api, object).await?;
    if edit::version(&value) != version {
        return Err(edit::outdated(object));
    }
    change::apply(&object.resource, &mut value, edits)?;
    strip::server_fields(&mut value);
    Ok(EditText {
        text: objects::plain_yaml(value)?,
        version: version.to_owned(),
    })
}
