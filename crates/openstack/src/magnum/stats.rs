//! Numbers of clusters and nodes, and the state of Magnum's own processes.
use super::client::Client;
use super::version::Feature;
use crate::lenient;
use crate::open_enum::open_enum;
use crate::rest::{Call, Collection, Error, Listing, ScopedToken};
use jiff::Timestamp;
use reqwest::StatusCode;
use serde::Deserialize;

/// How much there is of a project, or of all for an admin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Stats {
    pub clusters: u64,
    /// Control plane nodes included.
    pub nodes: u64,
}

open_enum! {
    /// Whether a process of Magnum reports itself.
    pub enum ConductorState {
        Up = "up",
        Down = "down",
    }
}

/// A process of Magnum that carries out what its API accepts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Conductor {
    pub id: i64,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub host: String,
    /// `magnum-conductor`.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub binary: String,
    pub state: ConductorState,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub disabled: bool,
    pub disabled_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient::time")]
    pub updated_at: Option<Timestamp>,
}

impl Client {
    /// Returns the numbers of clusters and nodes of a project; of the token's own for `None`, and
    /// of all projects if it is an admin's.
    ///
    /// # Errors
    /// [`crate::rest::ErrorKind::Forbidden`] for another project; [`crate::rest::ErrorKind::NotAvailable`] before 1.4.
    pub async fn stats(
        &self,
        token: &ScopedToken,
        project_id: Option<&str>,
    ) -> Result<Stats, Error> {
        let mut call = Call::get("stats", "stats");
        if let Some(project_id) = project_id {
            call = call.with_query("project_id", project_id);
        }
        self.run(token, &[Feature::Stats], call, |answer| {
            answer.json(&[StatusCode::OK])
        })
        .await
    }

    /// Returns Magnum's conductors: for an admin's token.
    ///
    /// # Errors
    /// [`crate::rest::ErrorKind::Forbidden`] for others.
    pub async fn conductors(&self, token: &ScopedToken) -> Result<Listing<Conductor>, Error> {
        let collection = Collection {
            key: "mservices",
            id: |conductor: &Conductor| conductor.id.to_string(),
        };
        let call = Call::get("conductors", "mservices");
        self.list(token, &[], call, &collection).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conductors_of_a_real_magnum_are_read() {
        #[derive(Deserialize)]
        struct Conductors {
            mservices: Vec<Conductor>,
        }
        let conductors: Conductors =
            serde_json::from_str(include_str!("fixtures/mservices_admin.json")).unwrap();
        assert_eq!(conductors.mservices[0].state, ConductorState::Up);
        assert_eq!(conductors.mservices[0].binary, "magnum-conductor");
    }
}
