//! Reads a text into the form: Portico's file, or Magnum's request.
use super::form::form_of;
use crate::service::{error::ServiceError, lifecycle::error::sentence};
use portico_domain::panel::lifecycle::{ClusterFile, FieldProblem};
use portico_lifecycle::spec::{
    ClusterDocument, ReadRequest, SpecError, read_create_request, validate,
};
use portico_runtime::yaml::{self, Limits, YamlError};
use serde_json::Value;

/// A file of a cluster has some hundred lines.
const LIMITS: Limits = Limits {
    max_bytes: 256 * 1024,
    max_depth: 32,
    max_nodes: 20_000,
};

/// Reads a file of Portico (YAML or JSON) or the JSON of Magnum's request into the form; makes no
/// request. What is wrong with the text is in the answer.
///
/// # Errors
/// `Invalid` for a text that is too large.
pub fn read_file(text: &str) -> Result<ClusterFile, ServiceError> {
    // JSON is YAML
    let value: Value = match yaml::from_str(text, LIMITS) {
        Ok(value) => value,
        Err(YamlError::TooLarge { max_bytes }) => {
            let message = format!("The file is larger than {} KiB.", max_bytes / 1024);
            return Err(ServiceError::invalid(message)
                .next("Remove what does not describe the cluster, and try again."));
        }
        Err(error) => {
            return Ok(unreadable(
                "",
                format!("This is not YAML or JSON: {error}."),
            ));
        }
    };
    Ok(match read(value) {
        Ok(read) => described(&read),
        Err(error) => unreadable(field_of(&error), sentence(&error.to_string())),
    })
}

fn read(value: Value) -> Result<ReadRequest, SpecError> {
    // Magnum's field: a file of Portico has none of this name
    if value.get("cluster_template_id").is_some() {
        return read_create_request(&value);
    }
    if value.get("apiVersion").is_none() && value.get("spec").is_none() {
        return Err(SpecError::Document(
            "it has neither apiVersion and spec (a file of Portico) nor cluster_template_id (a \
             request of Magnum)"
                .to_owned(),
        ));
    }
    Ok(ReadRequest {
        document: ClusterDocument::read(value)?,
        notices: Vec::new(),
    })
}

fn described(read: &ReadRequest) -> ClusterFile {
    let document = &read.document;
    let mut notices = read.notices.clone();
    if let Some(project) = &document.metadata.project {
        notices.push(format!(
            "The file names the project {project}. The cluster is created in the project of this page."
        ));
    }
    if let Some(cloud) = &document.spec.provider.cloud {
        notices.push(format!(
            "The file names the cloud {cloud}. The cluster is created in the cloud of this portal."
        ));
    }
    let problems = validate(document).into_iter().map(|problem| FieldProblem {
        field: problem.field,
        message: problem.message,
    });
    ClusterFile {
        form: Some(Box::new(form_of(document))),
        notices,
        problems: problems.collect(),
    }
}

fn unreadable(field: &str, message: String) -> ClusterFile {
    ClusterFile {
        form: None,
        notices: Vec::new(),
        problems: vec![FieldProblem {
            field: field.to_owned(),
            message,
        }],
    }
}

/// Returns the field of the text that an error is about; empty: the whole text.
fn field_of(error: &SpecError) -> &str {
    match error {
        SpecError::Document(_) | SpecError::NotAnObject => "",
        SpecError::UnknownField(field) | SpecError::Type { field, .. } => field,
        SpecError::Missing(field) => field,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED_D: &str = r#"{
        "name": "k8s", "discovery_url": null, "master_count": 3,
        "cluster_template_id": "0562d357-8641-4759-8fed-8173f02c9633", "node_count": 3,
        "create_timeout": 60, "keypair": "my_keypair", "master_flavor_id": null, "labels": {},
        "flavor_id": null
    }"#;

    #[test]
    fn case_8_the_request_of_seed_d_fills_the_form() {
        let file = read_file(SEED_D).unwrap();
        assert_eq!(file.problems, []);
        let form = file.form.unwrap();
        assert_eq!(form.name, "k8s");
        assert_eq!(form.template, "0562d357-8641-4759-8fed-8173f02c9633");
        assert_eq!(form.control_plane.count, Some(3));
        assert_eq!(form.control_plane.flavor, None);
        assert_eq!(form.groups[0].count, Some(3));
        assert_eq!(form.keypair.as_deref(), Some("my_keypair"));
    }

    #[test]
    fn case_9_an_unknown_field_is_named() {
        let text = r#"{"name": "k8s", "cluster_template_id": "t", "nodes": 3}"#;
        let file = read_file(text).unwrap();
        assert_eq!(file.form, None);
        assert_eq!(file.problems[0].field, "nodes");
        assert!(file.problems[0].message.contains("\"nodes\""));
    }

    #[test]
    fn a_file_of_portico_is_read_and_its_values_are_checked() {
        let text = "apiVersion: portico.dev/v1alpha1\nkind: Cluster\nmetadata: {name: shop, project: other}\n\
                    spec:\n  template: k8s\n  controlPlane: {replicas: 2}\n";
        let file = read_file(text).unwrap();
        assert_eq!(file.form.unwrap().control_plane.count, Some(2));
        assert!(file.notices[0].contains("other"), "{:?}", file.notices);
        assert_eq!(file.problems[0].field, "spec.controlPlane.replicas");
    }

    #[test]
    fn another_text_has_a_sentence_about_it() {
        for text in [
            "",
            "a: [",
            "just words",
            "- 1",
            "kind: Pod",
            "a: &x 1\nb: *x",
        ] {
            let file = read_file(text).unwrap();
            assert_eq!(file.form, None, "{text}");
            assert!(file.problems[0].message.ends_with('.'), "{text}");
        }
        let error = read_file(&"#".repeat(300 * 1024)).unwrap_err();
        assert!(error.message.contains("256 KiB"), "{}", error.message);
    }
}
