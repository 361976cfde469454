//! Templates in words.
use portico_domain::panel::lifecycle::TemplateRow;

const NO_VALUE: &str = "none";

/// Returns who may use a template.
pub fn visibility(template: &TemplateRow) -> String {
    let base = match (template.is_public, template.is_own) {
        (true, true) => "Public",
        (true, false) => "Public, of another project",
        (false, _) => "Private",
    };
    if template.is_hidden {
        format!("{base}, hidden")
    } else {
        base.to_owned()
    }
}

/// Returns the flavors of workers and control plane.
pub fn flavors(template: &TemplateRow) -> String {
    let workers = template.flavor.as_deref().unwrap_or(NO_VALUE);
    let control_plane = template.control_plane_flavor.as_deref();
    match control_plane.unwrap_or(NO_VALUE) {
        same if same == workers => workers.to_owned(),
        other => format!("{workers}, control plane {other}"),
    }
}

/// Returns a value, or that there is none.
pub fn value(text: &str) -> String {
    if text.is_empty() { NO_VALUE } else { text }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn template() -> TemplateRow {
        TemplateRow {
            id: Uuid::nil(),
            name: "small".to_owned(),
            version: None,
            driver: "magnum-capi-helm".to_owned(),
            flavor: Some("m1.small".to_owned()),
            control_plane_flavor: Some("m1.small".to_owned()),
            is_public: false,
            is_hidden: false,
            is_own: true,
            used_by: Vec::new(),
            refusal: None,
        }
    }

    #[test]
    fn the_visibility_names_other_projects_and_hidden_templates() {
        assert_eq!(visibility(&template()), "Private");
        let hidden = TemplateRow {
            is_public: true,
            is_own: false,
            is_hidden: true,
            ..template()
        };
        assert_eq!(visibility(&hidden), "Public, of another project, hidden");
    }

    #[test]
    fn a_flavor_of_both_is_named_once() {
        assert_eq!(flavors(&template()), "m1.small");
        let other = TemplateRow {
            control_plane_flavor: None,
            ..template()
        };
        assert_eq!(flavors(&other), "m1.small, control plane none");
    }
}
