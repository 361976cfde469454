//! What is wrong with single fields, found by their paths in the file.
use portico_domain::panel::lifecycle::{FieldProblem, FormPage};

/// Returns what is wrong with a field or the fields below it, as one text.
pub fn of_field(problems: &[FieldProblem], field: &str) -> Option<String> {
    let found: Vec<&str> = problems
        .iter()
        .filter(|problem| is_within(&problem.field, field))
        .map(|problem| problem.message.as_str())
        .collect();
    (!found.is_empty()).then(|| found.join(" "))
}

/// Returns what is wrong with exactly one of the fields.
pub fn of_one(problems: &[FieldProblem], fields: &[&str]) -> Option<String> {
    problems
        .iter()
        .find(|problem| fields.contains(&problem.field.as_str()))
        .map(|problem| problem.message.clone())
}

/// Returns the number of problems on a page of the form.
pub fn count(problems: &[FieldProblem], page: FormPage) -> usize {
    problems
        .iter()
        .filter(|problem| problem.page() == page)
        .count()
}

fn is_within(field: &str, parent: &str) -> bool {
    field
        .strip_prefix(parent)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_belongs_to_its_field_and_to_those_above_it() {
        let problem = |field: &str, message: &str| FieldProblem {
            field: field.to_owned(),
            message: message.to_owned(),
        };
        let problems = [
            problem("spec.labels.kube_tag", "Unknown version."),
            problem("spec.nodeGroups[1].name", "Used twice."),
            problem("spec.nodeGroups[10].name", "Too long."),
        ];
        let of = |field| of_field(&problems, field);
        assert_eq!(of("spec.labels").as_deref(), Some("Unknown version."));
        assert_eq!(
            of("spec.nodeGroups[1].name").as_deref(),
            Some("Used twice.")
        );
        assert_eq!(of("spec.nodeGroups[1]").as_deref(), Some("Used twice."));
        assert_eq!(of("spec.template"), None);
        assert_eq!(of_one(&problems, &["spec.labels"]), None);
        assert_eq!(count(&problems, FormPage::Size), 2);
    }
}
