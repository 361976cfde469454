//! What a page offers, and checks before it is sent.
use serde::{Deserialize, Serialize};

/// Something that a user can do with a cluster of Magnum, or in the list of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClusterAction {
    Create,
    Delete,
    /// Enrol the cluster, so that it can be used through Portico.
    Enrol,
    /// Remove the record of an enrolled cluster that Magnum no longer has.
    RemoveRecord,
    /// Send the next step of the plan of a creation, such as a further node group.
    Continue,
    /// Upgrade the cluster to another template.
    Upgrade,
    /// Replace the authorities of the cluster.
    RotateCa,
    /// Give the cluster a new credential for the cloud, of the viewer.
    RotateCredential,
    /// Have a certificate request signed by the authority of the cluster.
    SignCertificate,
}

/// An action, and whether the viewer may take it now. What is not permitted is shown disabled, with
/// the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionOffer {
    pub action: ClusterAction,
    /// Why it is not possible, as a sentence: the policy rule, the driver, or the state of the
    /// cluster. `None`: it is offered.
    pub refusal: Option<String>,
}

impl ActionOffer {
    /// Returns whether the action can be taken.
    pub fn is_offered(&self) -> bool {
        self.refusal.is_none()
    }
}

/// How grave the result of a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckLevel {
    Ok,
    /// It can be sent; the text states what may follow.
    Warning,
    /// It must not be sent.
    Blocks,
}

/// The result of one check before a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was checked, such as "Quota".
    pub subject: String,
    pub level: CheckLevel,
    /// A sentence.
    pub text: String,
    /// What to do about it, as a sentence.
    pub next_step: Option<String>,
    /// The page of the form on which it can be remedied; `None` outside of a creation.
    pub page: Option<FormPage>,
}

/// A page of the form for a new cluster, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormPage {
    /// Template, name, key pair, zone.
    #[default]
    Template,
    /// Control plane, node groups, volumes.
    Size,
    /// Network, exposure of the API, labels.
    Access,
    Review,
}

impl FormPage {
    /// All pages, in their order.
    pub const ALL: [Self; 4] = [Self::Template, Self::Size, Self::Access, Self::Review];

    /// Returns the heading of the page.
    pub fn title(self) -> &'static str {
        match self {
            Self::Template => "Template",
            Self::Size => "Size",
            Self::Access => "Network and access",
            Self::Review => "Review",
        }
    }

    /// Returns the page that has a field of the file, such as `spec.controlPlane.replicas`; the review
    /// for one that no page has.
    pub fn of_field(field: &str) -> Self {
        let rest = field.strip_prefix("spec.").unwrap_or(field);
        let first = rest.split(['.', '[']).next().unwrap_or_default();
        match first {
            "metadata" | "template" | "keypair" | "zone" | "provider" => Self::Template,
            "controlPlane" | "nodeGroups" | "dockerVolumeSize" => Self::Size,
            "network" | "api" | "labels" | "services" | "createTimeout" | "protection"
            | "discoveryUrl" => Self::Access,
            _ => Self::Review,
        }
    }
}

/// Something that is wrong with one field of the form or file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldProblem {
    /// The field as in the file, such as `spec.controlPlane.replicas` or `spec.nodeGroups[1].name`;
    /// empty: the whole file.
    pub field: String,
    /// A sentence with what to enter instead.
    pub message: String,
}

impl FieldProblem {
    /// Returns the page of the form that has the field.
    pub fn page(&self) -> FormPage {
        FormPage::of_field(&self.field)
    }
}

#[cfg(test)]
mod tests {
    use super::FormPage;

    #[test]
    fn a_field_of_the_file_is_found_on_its_page_of_the_form() {
        for (field, page) in [
            ("metadata.name", FormPage::Template),
            ("spec.template", FormPage::Template),
            ("spec.controlPlane.replicas", FormPage::Size),
            ("spec.nodeGroups[1].name", FormPage::Size),
            ("spec.api.allowedCIDRs", FormPage::Access),
            ("spec.labels.kube_tag", FormPage::Access),
            ("spec.unknown", FormPage::Review),
            ("", FormPage::Review),
        ] {
            assert_eq!(FormPage::of_field(field), page, "{field}");
        }
    }
}
