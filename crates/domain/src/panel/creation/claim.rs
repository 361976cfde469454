//! A PersistentVolumeClaim from a storage class.
use super::validation::{self, Problems};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The access modes that every supported version of Kubernetes knows.
pub const ACCESS_MODES: [&str; 3] = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"];

/// The fields of the form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewClaim {
    pub name: String,
    pub namespace: String,
    /// Empty: the default class of the cluster.
    pub storage_class: String,
    /// One of [`ACCESS_MODES`].
    pub access_mode: String,
    /// `10Gi`.
    pub size: String,
}

impl NewClaim {
    pub fn in_namespace(namespace: String) -> Self {
        Self {
            name: String::new(),
            namespace,
            storage_class: String::new(),
            access_mode: ACCESS_MODES[0].to_owned(),
            size: "1Gi".to_owned(),
        }
    }

    pub(super) fn check(&self, found: &mut Problems) {
        let class = self.storage_class.trim();
        if !class.is_empty() {
            found.add("storage_class", validation::subdomain(class));
        }
        let is_known = ACCESS_MODES.contains(&self.access_mode.as_str());
        found.add(
            "access_mode",
            (!is_known).then(|| "Choose an access mode.".to_owned()),
        );
        found.add("size", validation::size(&self.size));
    }

    pub(super) fn spec(&self) -> Value {
        let mut spec = json!({
            "accessModes": [self.access_mode],
            "resources": { "requests": { "storage": self.size.trim() } },
        });
        let class = self.storage_class.trim();
        // without the field the API server sets the default class; an empty one means no class
        if !class.is_empty() {
            spec["storageClassName"] = json!(class);
        }
        spec
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::NewObject;

    fn claim() -> NewClaim {
        NewClaim {
            name: "data".to_owned(),
            size: "10Gi".to_owned(),
            storage_class: "fast-ssd".to_owned(),
            ..NewClaim::in_namespace("shop".to_owned())
        }
    }

    #[test]
    fn a_claim_is_written_as_a_manifest() {
        let new = NewObject::Claim(claim());
        assert!(new.problems().is_empty());
        assert_eq!(
            new.manifest(),
            json!({
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": { "name": "data", "namespace": "shop" },
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": { "requests": { "storage": "10Gi" } },
                    "storageClassName": "fast-ssd",
                },
            })
        );
    }

    #[test]
    fn the_default_class_is_left_to_the_cluster() {
        let new = NewObject::Claim(NewClaim {
            storage_class: String::new(),
            ..claim()
        });
        assert!(new.manifest()["spec"].get("storageClassName").is_none());
    }

    #[test]
    fn each_wrong_field_has_its_problem_and_stays_in_the_manifest() {
        let new = NewObject::Claim(NewClaim {
            name: "Data".to_owned(),
            size: "10GB".to_owned(),
            access_mode: "Everything".to_owned(),
            ..claim()
        });
        let fields: Vec<_> = new.problems().into_iter().map(|one| one.field).collect();
        assert_eq!(fields, ["name", "access_mode", "size"]);
        let manifest = new.manifest();
        assert_eq!(manifest["metadata"]["name"], "Data");
        assert_eq!(manifest["spec"]["resources"]["requests"]["storage"], "10GB");
    }
}
