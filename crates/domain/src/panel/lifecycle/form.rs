//! The form for a new cluster. It has the fields of the file (`portico.dev/v1alpha1`, kind `Cluster`),
//! so that form, file, command line and request can be made from each other without a loss.
use super::FieldProblem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The group of workers that Magnum makes with the cluster.
pub const DEFAULT_GROUP: &str = "default-worker";
/// The label that switches auto-healing on (`true`) or off; fixed at creation.
pub const AUTO_HEALING_LABEL: &str = "auto_healing_enabled";
/// The label for automatic security updates; fixed at creation.
pub const AUTO_UPGRADE_LABEL: &str = "auto_upgrade_enabled";
/// The label for the autoscaler; fixed at creation.
pub const AUTO_SCALING_LABEL: &str = "auto_scaling_enabled";

/// The annotation with the reason for the cluster's journal: `REASON_ANNOTATION` of `portico-lifecycle`, which is not in the browser
/// half.
const REASON: &str = "portico.dev/reason";

/// Everything of the form. `None` and empty texts mean the template's value, or Magnum's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CreationForm {
    pub name: String,
    /// Annotations of the file, such as `portico.dev/reason`.
    pub annotations: BTreeMap<String, String>,
    /// UUID or name.
    pub template: String,
    pub keypair: Option<String>,
    pub zone: Option<String>,
    pub control_plane: ControlPlaneForm,
    /// Groups of workers. [`DEFAULT_GROUP`] is made with the cluster, the others after it.
    pub groups: Vec<GroupForm>,
    /// `None`: the template's network, or a new one.
    pub network: Option<ExistingNetwork>,
    /// A floating IP for each node, where the driver does so.
    pub floating_ips: Option<bool>,
    pub exposure: Option<ApiExposure>,
    /// Networks in CIDR notation that may reach the API; empty: every network.
    pub allowed_cidrs: Vec<String>,
    /// Merged over the template's; also auto-healing, updates and autoscaling.
    pub labels: BTreeMap<String, String>,
    /// Minutes after which the creation counts as failed, where the driver honours it.
    pub create_timeout: Option<u32>,
    /// Volume for containers of each node in GiB.
    pub docker_volume_size: Option<u32>,
    pub discovery_url: Option<String>,
    /// Services that Portico installs into the cluster.
    pub services: Vec<String>,
    /// Portico refuses to delete the cluster.
    pub protection: bool,
    /// What was typed into fields for numbers and is not one, by the field of the file. A form with such
    /// texts cannot be sent.
    pub unreadable: BTreeMap<String, String>,
}

impl CreationForm {
    /// Returns why the cluster is created, as an annotation has it; empty if no reason is given.
    pub fn reason(&self) -> &str {
        self.annotations.get(REASON).map_or("", String::as_str)
    }

    /// Sets the annotation with the reason; an empty text removes it.
    pub fn set_reason(&mut self, reason: String) {
        if reason.is_empty() {
            self.annotations.remove(REASON);
        } else {
            self.annotations.insert(REASON.to_owned(), reason);
        }
    }

    /// Returns a label that is a truth value; `None`: it is the template's.
    pub fn flag(&self, label: &str) -> Option<bool> {
        match self.labels.get(label)?.to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Returns the number that was typed into a field; `None` for an empty text. What is not a number is
    /// stored as unreadable.
    pub fn read_number(&mut self, field: &str, text: &str) -> Option<u32> {
        let typed = text.trim();
        self.unreadable.remove(field);
        if typed.is_empty() {
            return None;
        }
        let value = typed.parse().ok();
        if value.is_none() {
            self.unreadable.insert(field.to_owned(), typed.to_owned());
        }
        value
    }

    /// Removes a group, and the texts of its fields and of those of the later groups, whose fields have
    /// another number now.
    pub fn remove_group(&mut self, at: usize) {
        if at >= self.groups.len() {
            return;
        }
        self.groups.remove(at);
        self.unreadable.retain(|field, _| {
            let rest = field.strip_prefix("spec.nodeGroups[");
            let number = rest.and_then(|rest| rest.split_once(']'));
            let number = number.and_then(|(number, _)| number.parse::<usize>().ok());
            number.is_none_or(|number| number < at)
        });
    }

    /// Sets a label that is a truth value; `None` leaves it to the template.
    pub fn set_flag(&mut self, label: &str, value: Option<bool>) {
        match value {
            Some(value) => self.labels.insert(label.to_owned(), value.to_string()),
            None => self.labels.remove(label),
        };
    }
}

/// The control plane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ControlPlaneForm {
    /// An odd number.
    pub count: Option<u32>,
    /// Name or ID.
    pub flavor: Option<String>,
    /// Needed for more than one node.
    pub load_balancer: Option<bool>,
}

/// A group of workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupForm {
    pub name: String,
    pub count: Option<u32>,
    /// Name or ID.
    pub flavor: Option<String>,
    /// Fewest nodes of the autoscaler.
    pub min: Option<u32>,
    /// Most nodes of the autoscaler.
    pub max: Option<u32>,
    /// Labels of the nodes in Kubernetes.
    pub labels: BTreeMap<String, String>,
    /// Taints of the nodes: `key=value:Effect`.
    pub taints: Vec<String>,
}

/// An existing network for the nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExistingNetwork {
    /// Name or ID.
    pub network: Option<String>,
    /// Name or ID.
    pub subnet: Option<String>,
}

/// Whether the Kubernetes API has an address outside the project's networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApiExposure {
    /// Through a floating IP.
    Public,
    /// From the project's networks only.
    Private,
}

/// A text that a user pasted or dropped: Portico's file as YAML or JSON, or the JSON of Magnum's
/// request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterFile {
    /// `None`: the text cannot be read, and `problems` states why.
    pub form: Option<Box<CreationForm>>,
    /// Where Portico sends something else than what was written, as sentences.
    pub notices: Vec<String>,
    pub problems: Vec<FieldProblem>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_on_off_or_left_to_the_template() {
        let mut form = CreationForm::default();
        assert_eq!(form.flag(AUTO_HEALING_LABEL), None);
        for value in [Some(true), Some(false), None] {
            form.set_flag(AUTO_HEALING_LABEL, value);
            assert_eq!(form.flag(AUTO_HEALING_LABEL), value);
        }
        assert!(form.labels.is_empty());
    }

    #[test]
    fn a_reason_is_an_annotation_and_an_empty_one_is_none() {
        let mut form = CreationForm::default();
        assert_eq!(form.reason(), "");
        form.set_reason("CHG-12 ".to_owned());
        assert_eq!(form.reason(), "CHG-12 ");
        assert_eq!(form.annotations["portico.dev/reason"], "CHG-12 ");
        form.set_reason(String::new());
        assert_eq!(form, CreationForm::default());
    }

    #[test]
    fn a_text_that_is_not_a_number_is_kept_until_it_is_corrected() {
        let mut form = CreationForm::default();
        assert_eq!(form.read_number("spec.createTimeout", "1.5"), None);
        assert_eq!(form.unreadable["spec.createTimeout"], "1.5");
        assert_eq!(form.read_number("spec.createTimeout", " 90 "), Some(90));
        assert!(form.unreadable.is_empty());
        form.read_number("spec.createTimeout", "-1");
        assert_eq!(form.read_number("spec.createTimeout", ""), None);
        assert!(form.unreadable.is_empty());
    }

    #[test]
    fn a_removed_group_takes_its_unreadable_texts_along() {
        let mut form = CreationForm {
            groups: vec![GroupForm::default(); 3],
            ..CreationForm::default()
        };
        for field in [
            "spec.nodeGroups[0].min",
            "spec.nodeGroups[1].min",
            "spec.createTimeout",
        ] {
            form.read_number(field, "many");
        }
        form.remove_group(1);
        let left: Vec<&str> = form.unreadable.keys().map(String::as_str).collect();
        assert_eq!(left, ["spec.createTimeout", "spec.nodeGroups[0].min"]);
        assert_eq!(form.groups.len(), 2);
    }

    #[test]
    fn an_older_draft_of_the_form_can_be_read() {
        let read: CreationForm = serde_json::from_str(r#"{"name":"shop"}"#).unwrap();
        assert_eq!(read.name, "shop");
        assert_eq!(read.control_plane, ControlPlaneForm::default());
    }
}
