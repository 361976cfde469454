//! Determines the project of a request to the panel.
use http::{HeaderName, Request, Uri};

const PORTICO_PROJECT: HeaderName = HeaderName::from_static("portico-project");

/// Returns the project of a request to the panel: from the path, the query or a header.
pub(super) fn project_of<B>(request: &Request<B>) -> Option<String> {
    in_path(request.uri())
        .or_else(|| in_query(request.uri()))
        .or_else(|| {
            request
                .headers()
                .get(PORTICO_PROJECT)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned)
        })
        .filter(|id| is_project_id(id))
}

fn in_path(uri: &Uri) -> Option<String> {
    let rest = uri.path().strip_prefix("/projects/")?;
    rest.split('/').next().map(str::to_owned)
}

fn in_query(uri: &Uri) -> Option<String> {
    url::form_urlencoded::parse(uri.query()?.as_bytes())
        .find(|(name, _)| name == "project")
        .map(|(_, value)| value.into_owned())
}

fn is_project_id(id: &str) -> bool {
    (1..=64).contains(&id.len())
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(target: &str, header: Option<&str>) -> Option<String> {
        let mut request = Request::new(());
        *request.uri_mut() = target.parse().expect("uri");
        if let Some(header) = header {
            request
                .headers_mut()
                .insert(PORTICO_PROJECT, header.parse().expect("value"));
        }
        project_of(&request)
    }

    #[test]
    fn the_path_names_the_project_first() {
        assert_eq!(
            project("/projects/p1/clusters?project=p2", Some("p3")).as_deref(),
            Some("p1")
        );
        assert_eq!(
            project("/api/a/b?project=p2", Some("p3")).as_deref(),
            Some("p2")
        );
        assert_eq!(project("/api/a/b", Some("p3")).as_deref(), Some("p3"));
        assert_eq!(project("/", None), None);
        assert_eq!(project("/projects/", None), None);
        assert_eq!(project("/projects/a%2e", None), None);
    }
}
