//! The protection of a cluster from deletion, as a file describes it. It is a record of Portico's, so it needs
//! the session of `portico login`.
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use portico_lifecycle::spec::ClusterDocument;
use serde_json::{Value, json};
use uuid::Uuid;

/// A difference between a cluster's protection and its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtectionChange {
    pub is_on: bool,
}

impl ProtectionChange {
    /// Returns the change from what is to what a file has; `None`: the file has nothing about it, or they
    /// agree.
    fn between(is_on: bool, wanted: Option<bool>) -> Option<Self> {
        let wanted = wanted.filter(|wanted| *wanted != is_on)?;
        Some(Self { is_on: wanted })
    }

    /// Returns the change that follows the creation of a cluster.
    pub fn of_new(document: &ClusterDocument) -> Option<Self> {
        Self::between(false, document.spec.protection)
    }

    /// Returns what the change does, as a sentence.
    pub fn effect(self) -> &'static str {
        match self.is_on {
            true => "Protect the cluster from deletion in Portico.",
            false => "Remove the protection of the cluster from deletion in Portico.",
        }
    }

    /// Returns the change as it is printed with a plan.
    pub fn to_json(self) -> Value {
        json!({"present": !self.is_on, "desired": self.is_on, "effect": self.effect()})
    }
}

/// Refuses a file with a protection where no session can set it.
///
/// # Errors
/// [`ClusterError::Usage`] if the command calls Magnum directly.
pub fn ensure_supported(
    connection: &Connection,
    document: &ClusterDocument,
) -> Result<(), ClusterError> {
    if document.spec.protection.is_none() || connection.is_through_gateway() {
        return Ok(());
    }
    Err(no_session())
}

fn no_session() -> ClusterError {
    ClusterError::Usage(
        "spec.protection: the protection from deletion is Portico's own, and this command calls Magnum \
         directly. Remove it from the file, or use the session of `portico login` with --gateway URL"
            .to_owned(),
    )
}

/// Returns what has to change for a file; `existing` is its cluster, if there is one.
///
/// # Errors
/// As [`ensure_supported`]; if the gateway or the panel refuses, or does not respond.
pub async fn planned(
    connection: &mut Connection,
    document: &ClusterDocument,
    existing: Option<Uuid>,
) -> Result<Option<ProtectionChange>, ClusterError> {
    let wanted = document.spec.protection;
    let (Some(_), Some(uuid)) = (wanted, existing) else {
        return Ok(ProtectionChange::of_new(document));
    };
    let session = connection.gateway_session().ok_or_else(no_session)?;
    let is_on = session.protection(uuid).await?.protected.is_some();
    Ok(ProtectionChange::between(is_on, wanted))
}

/// Carries out a change of the cluster with this name.
///
/// # Errors
/// If the gateway or the panel refuses, or does not respond.
pub async fn carry_out(
    connection: &mut Connection,
    console: &mut Console,
    change: Option<ProtectionChange>,
    uuid: Uuid,
    name: &str,
) -> Result<(), ClusterError> {
    let Some(change) = change else { return Ok(()) };
    let session = connection.gateway_session().ok_or_else(no_session)?;
    session.set_protection(uuid, name, change.is_on).await?;
    console.say(match change.is_on {
        true => format!("{name} is protected from deletion in Portico."),
        false => format!("{name} is no longer protected from deletion in Portico."),
    });
    Ok(())
}

/// Does the same for a cluster that was just created: what follows says that it exists.
///
/// # Errors
/// [`ClusterError::Partly`].
pub async fn carry_out_for_new(
    connection: &mut Connection,
    console: &mut Console,
    document: &ClusterDocument,
    uuid: Uuid,
) -> Result<(), ClusterError> {
    let change = ProtectionChange::of_new(document);
    let name = &document.metadata.name;
    let result = carry_out(connection, console, change, uuid, name).await;
    result.map_err(|source| ClusterError::Partly {
        done: 1,
        all: 2,
        stage: change.map_or("", ProtectionChange::effect).to_owned(),
        source: Box::new(source),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_protection_changes_none() {
        for is_on in [true, false] {
            assert_eq!(ProtectionChange::between(is_on, None), None);
            assert_eq!(ProtectionChange::between(is_on, Some(is_on)), None);
            let change = ProtectionChange::between(is_on, Some(!is_on));
            assert_eq!(change, Some(ProtectionChange { is_on: !is_on }));
        }
    }

    #[test]
    fn a_change_states_what_it_does() {
        let on = ProtectionChange { is_on: true };
        assert!(on.effect().starts_with("Protect the cluster"));
        assert_eq!(on.to_json()["present"], false);
        assert_eq!(on.to_json()["desired"], true);
        let off = ProtectionChange { is_on: false };
        assert!(off.effect().starts_with("Remove the protection"));
        assert_eq!(off.to_json()["desired"], false);
    }
}
