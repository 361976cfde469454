//! Parsing of the value of `--cluster`.
use std::path::PathBuf;
use std::str::FromStr;
use url::Url;
use uuid::Uuid;

/// One cluster as given by the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct ClusterSpec {
    pub id: Uuid,
    pub name: String,
    /// ID of the Keystone project that owns the cluster.
    pub project: String,
    pub api_url: Url,
    /// Authority of the API server's certificate (PEM).
    pub ca_file: Option<PathBuf>,
}

const FORM: &str = "name=NAME,project=ID,api-url=https://HOST:PORT[,ca-file=FILE][,id=UUID]";

impl FromStr for ClusterSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut id, mut name, mut project, mut api_url, mut ca_file) =
            (None, None, None, None, None);
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let Some((key, value)) = part.split_once('=') else {
                return Err(format!("`{part}` has no `=`: the form is {FORM}"));
            };
            let value = value.trim().to_owned();
            let slot = match key.trim() {
                "id" => &mut id,
                "name" => &mut name,
                "project" => &mut project,
                "api-url" => &mut api_url,
                "ca-file" => &mut ca_file,
                other => return Err(format!("unknown key `{other}`: the form is {FORM}")),
            };
            if value.is_empty() {
                return Err(format!("{} is empty", key.trim()));
            }
            if slot.replace(value).is_some() {
                return Err(format!("{} appears twice", key.trim()));
            }
        }
        let missing: Vec<&str> = [
            ("name", &name),
            ("project", &project),
            ("api-url", &api_url),
        ]
        .into_iter()
        .filter_map(|(key, value)| value.is_none().then_some(key))
        .collect();
        let (Some(name), Some(project), Some(api_url)) = (name, project, api_url) else {
            let missing = missing.join(", ");
            return Err(format!("{missing} missing: the form is {FORM}"));
        };
        Ok(Self {
            id: match id {
                Some(id) => id.parse().map_err(|_| format!("id `{id}` is not a UUID"))?,
                None => Uuid::new_v4(),
            },
            name: cluster_name(&name)?,
            project,
            api_url: self::api_url(&api_url)?,
            ca_file: ca_file.map(PathBuf::from),
        })
    }
}

/// Returns a name that also works as a directory, a kubeconfig context and a systemd instance.
///
/// # Errors
/// If it has other characters, or is longer than 63.
pub(super) fn cluster_name(text: &str) -> Result<String, String> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let first = text.chars().next();
    if text.len() <= 63
        && first.is_some_and(|c| c.is_ascii_alphanumeric())
        && text.chars().all(good)
    {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "the name `{text}` must have 1 to 63 letters, digits, `-`, `_` or `.`, and begin with a \
             letter or digit"
        ))
    }
}

/// Returns the URL of an API server.
///
/// # Errors
/// If it is not `https://host[:port]`.
pub(super) fn api_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| {
        url.scheme() == "https"
            && url.host_str().is_some()
            && url.path() == "/"
            && url.query().is_none()
            && url.username().is_empty()
            && url.password().is_none()
    });
    url.ok_or_else(|| format!("the API server's URL `{text}` must be https://HOST:PORT"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_has_three_mandatory_keys() {
        let cluster: ClusterSpec =
            "name=prod,project=p1,api-url=https://10.0.0.10:6443,ca-file=/tmp/ca.crt"
                .parse()
                .unwrap();
        assert_eq!((&*cluster.name, &*cluster.project), ("prod", "p1"));
        assert_eq!(cluster.api_url.as_str(), "https://10.0.0.10:6443/");
        assert_eq!(cluster.ca_file, Some("/tmp/ca.crt".into()));
        let error = "project=p1".parse::<ClusterSpec>().unwrap_err();
        assert!(error.starts_with("name, api-url missing"), "{error}");
    }

    #[test]
    fn every_wrong_value_is_named() {
        for (text, word) in [
            ("name=a/b,project=p,api-url=https://h", "a/b"),
            ("name=.,project=p,api-url=https://h", "begin with"),
            ("name=a,project=p,api-url=http://h", "https://HOST"),
            ("name=a,project=p,api-url=https://h/x", "https://HOST"),
            ("name=a,project=p,api-url=https://h,id=7", "not a UUID"),
            ("name=a,name=b,project=p,api-url=https://h", "twice"),
            ("name=a,colour=red", "unknown key `colour`"),
            ("name=", "empty"),
            ("prod", "no `=`"),
        ] {
            let error = text.parse::<ClusterSpec>().unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
