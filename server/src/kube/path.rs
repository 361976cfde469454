//! Paths of the Kubernetes API. All values from a URL or a form pass through here, so that no name
//! can escape from its path segment.
use super::KubeError;
use portico_domain::panel::{ObjectRef, ResourceRef};
use std::fmt::Write as _;

/// Returns a collection's path: `/api/v1/namespaces/shop/pods`, `/apis/apps/v1/deployments` ...
pub fn collection(resource: &ResourceRef, namespace: Option<&str>) -> Result<String, KubeError> {
    let mut path = group_version(resource)?;
    if let Some(namespace) = namespace {
        path.push_str("/namespaces/");
        push_segment(&mut path, namespace)?;
    }
    path.push('/');
    push_segment(&mut path, &resource.plural)?;
    Ok(path)
}

/// Returns the path of one object.
pub fn object(object: &ObjectRef) -> Result<String, KubeError> {
    let mut path = collection(&object.resource, object.namespace.as_deref())?;
    path.push('/');
    push_segment(&mut path, &object.name)?;
    Ok(path)
}

/// Returns `/api/v1` or `/apis/<group>/<version>`.
pub fn group_version(resource: &ResourceRef) -> Result<String, KubeError> {
    let mut path = String::with_capacity(64);
    if resource.group.is_empty() {
        path.push_str("/api/");
    } else {
        path.push_str("/apis/");
        push_segment(&mut path, &resource.group)?;
        path.push('/');
    }
    push_segment(&mut path, &resource.version)?;
    Ok(path)
}

/// Adds a query string; empty values are left out.
pub fn with_query(path: &str, pairs: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
        query.append_pair(name, value);
    }
    let query = query.finish();
    if query.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{query}")
    }
}

/// Appends a segment by Kubernetes' own rule for path segment names, with a length limit and
/// without control characters.
fn push_segment(path: &mut String, segment: &str) -> Result<(), KubeError> {
    let wrong = segment.is_empty()
        || segment.len() > 253
        || segment == "."
        || segment == ".."
        || segment
            .chars()
            .any(|c| c == '/' || c == '%' || c.is_control());
    if wrong {
        return Err(KubeError::Invalid(format!(
            "{segment:?} cannot be a name in Kubernetes"
        )));
    }
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b':') {
            path.push(char::from(byte));
        } else {
            // writing to a String cannot fail
            let _ = write!(path, "%{byte:02X}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_and_grouped_collections_differ_in_their_root() {
        assert_eq!(
            collection(&ResourceRef::core("pods"), Some("shop")).unwrap(),
            "/api/v1/namespaces/shop/pods"
        );
        assert_eq!(
            collection(&ResourceRef::new("apps", "v1", "deployments"), None).unwrap(),
            "/apis/apps/v1/deployments"
        );
    }

    #[test]
    fn a_name_cannot_climb_out_of_its_place() {
        for hostile in ["..", ".", "", "a/b", "a%2fb", "a\nb"] {
            assert!(
                object(&ObjectRef {
                    resource: ResourceRef::core("pods"),
                    namespace: Some("shop".to_owned()),
                    name: hostile.to_owned(),
                })
                .is_err(),
                "{hostile:?}"
            );
        }
    }

    #[test]
    fn rbac_names_with_colons_and_odd_signs_are_escaped() {
        let path = object(&ObjectRef {
            resource: ResourceRef::new("rbac.authorization.k8s.io", "v1", "clusterroles"),
            namespace: None,
            name: "system:a?b#c".to_owned(),
        })
        .unwrap();
        assert!(path.ends_with("/system:a%3Fb%23c"), "{path}");
    }

    #[test]
    fn empty_query_values_are_left_out() {
        assert_eq!(with_query("/x", &[("a", ""), ("b", "c d")]), "/x?b=c+d");
    }
}
