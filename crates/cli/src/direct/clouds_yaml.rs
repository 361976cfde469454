//! `clouds.yaml` and `secure.yaml`, found and merged as by openstacksdk.
use crate::direct_error::DirectError;
use crate::private_file;
use portico_runtime::yaml;
use serde_norway::{Mapping, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The relevant environment variables.
pub type Variables = BTreeMap<String, String>;

const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];
/// Maximum nesting depth of a cloud's entry.
const MAX_DEPTH: usize = 8;

/// The entry of one cloud in the files, and the path of its file.
#[derive(Debug)]
pub struct Entry {
    pub cloud: Mapping,
    pub path: PathBuf,
}

/// Returns the entry of `cloud`: from the first `clouds.yaml` found, overridden by the first
/// `secure.yaml`.
pub fn entry(cloud: &str, variables: &Variables) -> Result<Entry, DirectError> {
    let places = |variable, stem| candidates(variables, variable, stem);
    let config = places("OS_CLIENT_CONFIG_FILE", "clouds");
    let looked = || {
        let names: Vec<String> = config
            .iter()
            .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
            .map(|path| path.display().to_string())
            .collect();
        names.join(", ")
    };
    let unknown = |looked| DirectError::UnknownCloud {
        cloud: cloud.to_owned(),
        looked,
    };
    let (path, document) = first(&config)?.ok_or_else(|| unknown(looked()))?;
    let mut found = of_cloud(&document, cloud)
        .cloned()
        .ok_or_else(|| unknown(path.display().to_string()))?;
    if let Some((_, secure)) = first(&places("OS_CLIENT_SECURE_FILE", "secure"))?
        && let Some(over) = of_cloud(&secure, cloud)
    {
        merge(&mut found, over, MAX_DEPTH);
    }
    Ok(Entry { cloud: found, path })
}

fn candidates(variables: &Variables, variable: &str, stem: &str) -> Vec<PathBuf> {
    if let Some(named) = variables.get(variable) {
        return vec![PathBuf::from(named)];
    }
    let home = variables.get("HOME").map(PathBuf::from);
    let config = variables
        .get("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(home?.join(".config")))
        .map(|config| config.join("openstack"));
    [
        Some(PathBuf::from(".")),
        config,
        Some(PathBuf::from("/etc/openstack")),
    ]
    .into_iter()
    .flatten()
    .flat_map(|directory| ENDINGS.map(|ending| directory.join(format!("{stem}.{ending}"))))
    .collect()
}

fn first(paths: &[PathBuf]) -> Result<Option<(PathBuf, Mapping)>, DirectError> {
    for path in paths {
        let wrong = |detail: String| DirectError::CloudsFile {
            path: path.clone(),
            detail,
        };
        let text = private_file::read_shared(path).map_err(|error| wrong(error.to_string()))?;
        if let Some(text) = text {
            // the parser's message quotes the line, which may hold secrets
            let document = parse(&text).ok_or_else(|| wrong("is not valid YAML".to_owned()))?;
            return Ok(Some((path.clone(), document)));
        }
    }
    Ok(None)
}

fn parse(text: &str) -> Option<Mapping> {
    if text.trim().is_empty() {
        return Some(Mapping::new());
    }
    yaml::from_user_file(text.trim_start_matches('\u{feff}')).ok()
}

fn of_cloud<'a>(document: &'a Mapping, cloud: &str) -> Option<&'a Mapping> {
    document
        .get("clouds")?
        .as_mapping()?
        .get(cloud)?
        .as_mapping()
}

fn merge(below: &mut Mapping, over: &Mapping, depth: usize) {
    for (key, value) in over {
        match (below.get_mut(key), value) {
            (Some(Value::Mapping(known)), Value::Mapping(more)) if depth > 0 => {
                merge(known, more, depth - 1);
            }
            _ => {
                below.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Expands a path in the file: `~` is the home directory, and relative paths do not start at the
/// file's directory.
pub fn expand(path: &str, variables: &Variables) -> PathBuf {
    match (path.strip_prefix("~/"), variables.get("HOME")) {
        (Some(below), Some(home)) => Path::new(home).join(below),
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &Path)]) -> Variables {
        pairs
            .iter()
            .map(|(name, path)| ((*name).to_owned(), path.display().to_string()))
            .collect()
    }

    #[test]
    fn secure_yaml_lies_over_clouds_yaml_and_line_ends_do_not_matter() {
        let home = tempfile::tempdir().unwrap();
        let openstack = home.path().join(".config/openstack");
        std::fs::create_dir_all(&openstack).unwrap();
        let clouds = "clouds:\r\n  acme:\r\n    auth:\r\n      auth_url: https://k/v3\r\n      username: ada\r\n    region_name: one\r\n";
        std::fs::write(openstack.join("clouds.yaml"), clouds).unwrap();
        let secure = "\u{feff}clouds:\r\n  acme:\r\n    auth:\r\n      password: s3cret\r\n";
        std::fs::write(openstack.join("secure.yaml"), secure).unwrap();
        let entry = entry("acme", &variables(&[("HOME", home.path())])).unwrap();
        let auth = entry.cloud["auth"].as_mapping().unwrap();
        assert_eq!(auth["auth_url"], "https://k/v3");
        assert_eq!(auth["username"], "ada");
        assert_eq!(auth["password"], "s3cret");
        assert_eq!(entry.cloud["region_name"], "one");
    }

    #[test]
    fn the_first_place_counts_and_a_named_file_before_all() {
        let home = tempfile::tempdir().unwrap();
        let xdg = home.path().join("xdg");
        std::fs::create_dir_all(xdg.join("openstack")).unwrap();
        let write = |path: PathBuf, user: &str| {
            std::fs::write(
                &path,
                format!("clouds: {{a: {{auth: {{username: {user}}}}}}}"),
            )
            .unwrap();
            path
        };
        write(xdg.join("openstack/clouds.yml"), "by-xdg");
        let named = write(home.path().join("mine.yaml"), "by-name");
        let user = |variables: &Variables| {
            let entry = entry("a", variables).unwrap();
            entry.cloud["auth"]["username"].as_str().unwrap().to_owned()
        };
        let mut known = variables(&[("HOME", home.path()), ("XDG_CONFIG_HOME", &xdg)]);
        assert_eq!(user(&known), "by-xdg");
        known.extend(variables(&[("OS_CLIENT_CONFIG_FILE", &named)]));
        assert_eq!(user(&known), "by-name");
    }

    #[test]
    fn what_is_missing_or_not_yaml_is_reported_without_its_content() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("clouds.yaml");
        std::fs::write(&file, "clouds: {a: {}}").unwrap();
        let known = variables(&[("OS_CLIENT_CONFIG_FILE", &file)]);
        assert!(matches!(
            entry("b", &known),
            Err(DirectError::UnknownCloud { .. })
        ));
        std::fs::write(&file, "clouds:\n  a: [s3cret\n").unwrap();
        let error = entry("a", &known).unwrap_err().to_string();
        assert!(
            error.contains("not valid YAML") && !error.contains("s3cret"),
            "{error}"
        );
    }
}
