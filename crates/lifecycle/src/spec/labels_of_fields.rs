//! Fields of the specification that Magnum has as labels.
use std::collections::BTreeMap;

use super::{Api, ClusterSpec, Exposure};
use crate::driver::Family;

const ZONE: &str = "availability_zone";
const FLOATING_IP: &str = "master_lb_floating_ip_enabled";
const CIDRS_OF_CAPI_HELM: &str = "api_master_lb_allowed_cidrs";
const CIDRS_OF_HEAT: &str = "master_lb_allowed_cidrs";

/// The fields with their labels, for messages.
pub const FIELDS: [(&str, &str); 4] = [
    (ZONE, "spec.zone"),
    (FLOATING_IP, "spec.api.exposure"),
    (CIDRS_OF_CAPI_HELM, "spec.api.allowedCIDRs"),
    (CIDRS_OF_HEAT, "spec.api.allowedCIDRs"),
];

/// Moves labels to the fields that mean the same, where these are absent.
pub fn lift(spec: &mut ClusterSpec) {
    if spec.zone.is_none() {
        spec.zone = spec.labels.remove(ZONE);
    }
    lift_api(&mut spec.labels, &mut spec.api);
}

fn lift_api(labels: &mut BTreeMap<String, String>, api: &mut Api) {
    let exposure = match labels.get(FLOATING_IP).map(|text| text.to_lowercase()) {
        Some(text) if text == "true" => Some(Exposure::Public),
        Some(text) if text == "false" => Some(Exposure::Private),
        _ => None,
    };
    if api.exposure.is_none() && exposure.is_some() {
        api.exposure = exposure;
        labels.remove(FLOATING_IP);
    }
    for key in [CIDRS_OF_CAPI_HELM, CIDRS_OF_HEAT] {
        if !api.allowed_cidrs.is_empty() {
            break;
        }
        if let Some(text) = labels.remove(key) {
            let cidrs = text.split(',').map(str::trim);
            api.allowed_cidrs = cidrs
                .filter(|cidr| !cidr.is_empty())
                .map(str::to_owned)
                .collect();
        }
    }
}

/// Returns the field of the file that a label belongs to.
pub fn field_of(label: &str) -> String {
    FIELDS
        .iter()
        .find(|(known, _)| *known == label)
        .map_or_else(
            || format!("spec.labels.{label}"),
            |(_, field)| (*field).to_owned(),
        )
}

/// Returns all labels of a request: those of the specification and those of its fields.
pub fn all(spec: &ClusterSpec, family: Family) -> BTreeMap<String, String> {
    let mut labels = spec.labels.clone();
    if let Some(zone) = &spec.zone {
        labels.insert(ZONE.to_owned(), zone.clone());
    }
    if let Some(exposure) = spec.api.exposure {
        let is_public = exposure == Exposure::Public;
        labels.insert(FLOATING_IP.to_owned(), is_public.to_string());
    }
    if !spec.api.allowed_cidrs.is_empty() {
        let key = match family {
            Family::Heat => CIDRS_OF_HEAT,
            _ => CIDRS_OF_CAPI_HELM,
        };
        labels.insert(key.to_owned(), spec.api.allowed_cidrs.join(","));
    }
    labels
}
