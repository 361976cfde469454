//! Names and paths of the browser half. `cargo leptos watch` has its own copy of them in the workspace's
//! `Cargo.toml`; the tests compare the two.

/// The package of the panel's pages.
pub const PACKAGE: &str = "app";
/// The feature of its browser half.
pub const FEATURE: &str = "hydrate";
/// Cargo's profile of a release.
pub const RELEASE_PROFILE: &str = "wasm-release";
/// Cargo's profile of everything else.
pub const DEVELOPMENT_PROFILE: &str = "wasm-dev";
/// The name of the script, the module and the styles; the server has it in `server/src/panel/router.rs`.
pub const OUTPUT: &str = "app";
/// What the server serves, below the workspace.
pub const SITE: &str = "target/site";
/// Scripts, modules and styles, below the site.
pub const PKG: &str = "pkg";
/// Copied to the site as they are.
pub const ASSETS: &str = "public";
/// What Tailwind reads.
pub const STYLES: &str = "style/main.css";

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeMap, fs, path::Path};
    use toml::{Table, Value};

    fn text(file: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        fs::read_to_string(root.join(file)).unwrap()
    }

    fn table(file: &str) -> Table {
        toml::from_str(&text(file)).unwrap()
    }

    /// Returns the settings of cargo-leptos.
    fn leptos(workspace: &Table) -> BTreeMap<&str, &Value> {
        let projects = workspace["workspace"]["metadata"]["leptos"]
            .as_array()
            .unwrap();
        assert_eq!(projects.len(), 1, "projects of cargo-leptos");
        let settings = projects[0].as_table().unwrap().iter();
        settings.map(|(key, value)| (key.as_str(), value)).collect()
    }

    #[test]
    fn cargo_leptos_has_the_names_and_paths_of_this_build() {
        let workspace = table("Cargo.toml");
        let mut settings = leptos(&workspace);
        for (key, expected) in [
            ("output-name", OUTPUT),
            ("lib-package", PACKAGE),
            ("lib-profile-release", RELEASE_PROFILE),
            ("lib-profile-dev", DEVELOPMENT_PROFILE),
            ("site-root", SITE),
            ("site-pkg-dir", PKG),
            ("assets-dir", ASSETS),
            ("tailwind-input-file", STYLES),
        ] {
            let value = settings.remove(key).and_then(Value::as_str);
            assert_eq!(value, Some(expected), "{key}");
        }
        let features = settings.remove("lib-features").unwrap();
        assert_eq!(features, &Value::from(vec![FEATURE]), "lib-features");
        let rest: Vec<&str> = settings.into_keys().collect();
        // those of the server and of the browser tests are compared below; the others are free
        let others = [
            "bin-package",
            "bin-target",
            "end2end-cmd",
            "end2end-dir",
            "name",
            "reload-port",
            "site-addr",
        ];
        assert_eq!(rest, others, "a setting that no test compares");
    }

    #[test]
    fn cargo_leptos_starts_the_server_and_the_browser_tests() {
        let workspace = table("Cargo.toml");
        let settings = leptos(&workspace);
        let setting = |key: &str| settings[key].as_str().unwrap();
        let server = table(&format!("{}/Cargo.toml", setting("bin-package")));
        assert_eq!(
            server["bin"][0]["name"].as_str(),
            Some(setting("bin-target"))
        );
        let reference = text("docs/reference/configuration.md");
        let address = format!("| `listen` | string | `\"{}\"` |", setting("site-addr"));
        let panel = reference
            .lines()
            .find(|line| line.contains("The address on which the panel listens"));
        assert!(
            panel.is_some_and(|line| line.starts_with(&address)),
            "{panel:?}"
        );
        let router = text("server/src/panel/router.rs");
        assert!(router.contains(&format!(".output_name(\"{OUTPUT}\")")));
        let package = text(&format!("{}/package.json", setting("end2end-dir")));
        let package: serde_json::Value = serde_json::from_str(&package).unwrap();
        let command = package["scripts"]["test"].as_str().unwrap();
        assert_eq!(setting("end2end-cmd"), format!("npx {command}"));
    }

    #[test]
    fn what_the_settings_name_exists() {
        let workspace = table("Cargo.toml");
        for profile in [RELEASE_PROFILE, DEVELOPMENT_PROFILE] {
            assert!(workspace["profile"].get(profile).is_some(), "{profile}");
        }
        let app = table(&format!("{PACKAGE}/Cargo.toml"));
        assert!(app["features"].get(FEATURE).is_some(), "{FEATURE}");
        for file in [ASSETS, STYLES] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
            assert!(path.exists(), "{file}");
        }
    }

    #[test]
    fn wasm_bindgen_and_its_tool_have_the_same_version() {
        let workspace = table("Cargo.toml");
        let dependencies = &workspace["workspace"]["dependencies"];
        let version = dependencies["wasm-bindgen"].as_str().unwrap();
        assert_eq!(
            dependencies["wasm-bindgen-cli-support"].as_str(),
            Some(version)
        );
        assert!(version.starts_with('='), "{version}");
    }
}
