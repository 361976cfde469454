//! Availability zones, which Nova and Cinder list in the same format.
use serde::Deserialize;

/// A zone in which servers or volumes can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AvailabilityZone {
    pub name: String,
    /// Whether anything can be created there now.
    pub available: bool,
}

/// The answer to `GET os-availability-zone`.
#[derive(Deserialize)]
pub(super) struct ZonesAnswer {
    #[serde(rename = "availabilityZoneInfo")]
    zones: Vec<ZoneAnswer>,
}

#[derive(Deserialize)]
struct ZoneAnswer {
    #[serde(rename = "zoneName")]
    name: String,
    #[serde(rename = "zoneState")]
    state: ZoneState,
}

#[derive(Deserialize)]
struct ZoneState {
    available: bool,
}

impl From<ZonesAnswer> for Vec<AvailabilityZone> {
    fn from(answer: ZonesAnswer) -> Self {
        let zones = answer.zones.into_iter().map(|zone| AvailabilityZone {
            name: zone.name,
            available: zone.state.available,
        });
        zones.collect()
    }
}
