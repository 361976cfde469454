//! The container image, as far as that can be tested without an engine: what its environment does to
//! configurations, where the program finds the site, and what is sent to the engine.
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The instructions of one kind, without the word itself.
fn instructions<'d>(dockerfile: &'d str, word: &str) -> Vec<&'d str> {
    let lines = dockerfile.lines();
    lines
        .filter_map(|line| line.strip_prefix(word)?.strip_prefix(' '))
        .collect()
}

/// The variables that the image sets; several may be in one line.
fn environment(dockerfile: &str) -> Vec<(String, String)> {
    let pairs = instructions(dockerfile, "ENV").into_iter();
    pairs
        .flat_map(str::split_whitespace)
        .map(|pair| {
            let (name, value) = pair.split_once('=').expect("ENV NAME=VALUE");
            (name.to_owned(), value.trim_matches('"').to_owned())
        })
        .collect()
}

fn portico(program: &Path, arguments: &[&str], environment: &[(String, String)]) -> Output {
    Command::new(program)
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .envs(environment.iter().cloned())
        .current_dir("/")
        .output()
        .unwrap()
}

const GATEWAY: &str = "[store]\nurl = \"sqlite:///tmp/portico.db\"\nkey_files = [\"store-1.key\"]\n\
    [keystone]\nurl = \"https://keystone.example.org/v3\"\n\
    [gateway]\npublic_url = \"https://portico.example.org\"\napps_domain = \"apps.example.org\"\n\
    assertion_key_file = \"a.pem\"\npanel_url = \"http://127.0.0.1:9190\"\n\
    panel_sealing_key_file = \"p.pub\"\n";
const KUBE_AUTH: &str = "[keystone]\nurl = \"https://keystone.example.org/v3\"\n\
    [kube_auth]\ntls_cert_file = \"a\"\ntls_key_file = \"b\"\nclient_ca_file = \"c\"\n\
    key_files = [\"d\"]\n";

#[test]
fn finding_o2_roles_without_a_panel_work_with_the_images_environment() {
    let environment = environment(&read("Dockerfile"));
    let directory = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_portico"));
    for (role, text) in [("gateway", GATEWAY), ("kube-auth", KUBE_AUTH)] {
        let file = directory.path().join(format!("{role}.toml"));
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        let checked = portico(
            program,
            &["--config", file, "config", "check"],
            &environment,
        );
        let message = String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success(), "{role}: {message}");
        let printed = portico(
            program,
            &["--config", file, "config", "print"],
            &environment,
        );
        let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
        assert!(!printed.contains("[panel]"), "{printed}");
    }
}

/// What `make install` makes of the program of this build and a site, with DESTDIR.
fn installed(directory: &Path) -> (PathBuf, PathBuf) {
    let target = directory.join("target");
    std::fs::create_dir_all(target.join("release")).unwrap();
    std::fs::create_dir_all(target.join("site/pkg")).unwrap();
    std::fs::write(target.join("site/pkg/app.css"), "body {}").unwrap();
    let program = env!("CARGO_BIN_EXE_portico");
    std::os::unix::fs::symlink(program, target.join("release/portico")).unwrap();
    let destination = directory.join("destination");
    let install = Command::new(root().join("scripts/install.sh"))
        .env("CARGO_TARGET_DIR", &target)
        .env("DESTDIR", &destination)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&install.stderr);
    assert!(install.status.success(), "{message}");
    let local = destination.join("usr/local");
    let site = local.join("share/portico/site");
    assert!(site.join("pkg/app.css").is_file());
    (local.join("bin/portico"), site)
}

#[test]
fn finding_o2_the_program_finds_the_site_where_the_image_has_it() {
    let dockerfile = read("Dockerfile");
    let copied = instructions(&dockerfile, "COPY");
    for copy in ["/usr/local/bin/portico", "/usr/share/portico/site"] {
        assert!(copied.iter().any(|line| line.ends_with(copy)), "{copy}");
    }
    // the same tree below /usr/local, as `make install` makes it
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (program, site) = installed(root.path());
    let file = root.path().join("portico.toml");
    std::fs::write(
        &file,
        format!("{GATEWAY}[panel]\nprivate_key_file = \"p.key\"\n"),
    )
    .unwrap();
    let file = file.to_str().unwrap();
    let environment = environment(&dockerfile);
    let printed = portico(
        &program,
        &["--config", file, "config", "print"],
        &environment,
    );
    let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
    let site = site.canonicalize().unwrap();
    let line = format!("site_root = \"{}\"", site.display());
    assert!(printed.contains(&line), "{line} in {printed}");
}

#[test]
fn finding_o2_the_image_names_what_it_runs_and_builds_with_node_20() {
    let dockerfile = read("Dockerfile");
    assert_eq!(instructions(&dockerfile, "CMD").len(), 1);
    assert!(instructions(&dockerfile, "CMD")[0].starts_with("[\"all\""));
    let stages = instructions(&dockerfile, "FROM");
    assert!(
        stages.iter().any(|stage| stage.starts_with("node:20")),
        "{stages:?}"
    );
    assert!(!dockerfile.contains("nodejs"), "Debian's Node is 18");
    // a variable that is a key of a section makes the section
    for (name, _) in environment(&dockerfile) {
        assert!(
            !(name.starts_with("PORTICO_") && name.contains("__")),
            "{name}"
        );
    }
}

/// Whether a pattern of .dockerignore, in the forms that ours has, leaves a path out.
fn leaves_out(pattern: &str, path: &str) -> bool {
    let names: Vec<&str> = path.split('/').collect();
    match pattern.strip_prefix("**/") {
        Some(name) => match name.strip_prefix('*') {
            Some(end) => names.iter().any(|part| part.ends_with(end)),
            None => names.contains(&name),
        },
        None => path == pattern || path.starts_with(&format!("{pattern}/")),
    }
}

fn patterns(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn finding_o2_builds_and_secrets_stay_out_of_the_build_context() {
    let text = read(".dockerignore");
    let ignored = patterns(&text);
    let out = |path: &str| ignored.iter().any(|pattern| leaves_out(pattern, path));
    for path in [
        "target/debug/portico",
        "node_modules/esbuild/bin/esbuild",
        "end2end/node_modules/x",
        ".git/config",
        ".demo/portico/keys/store-1.key",
        ".demo/demo-password",
        ".test/portico/ca/api-servers-ca.key",
        ".test/env",
        "portico.toml",
        "keys/assertion.pem",
        "portico.db",
    ] {
        assert!(out(path), "{path} goes to the engine");
    }
    // what git is not to have, the engine is not to have either
    let git = read(".gitignore");
    for path in patterns(&git) {
        assert!(
            out(path.trim_start_matches('/')),
            "{path} goes to the engine"
        );
    }
    // and nothing is missing that the build reads
    let root = root().canonicalize().unwrap();
    let mut sources = Vec::new();
    for part in [
        "app",
        "crates",
        "gateway",
        "migrations",
        "public",
        "scripts",
        "server",
        "style",
        "xtask",
        "deploy/rules",
    ] {
        files(&root.join(part), &mut sources);
    }
    assert!(sources.len() > 500, "{}", sources.len());
    for source in sources {
        let path = source.strip_prefix(&root).unwrap().to_str().unwrap();
        assert!(
            !out(path) || path.contains("__pycache__"),
            "{path} is missing in the image's build"
        );
    }
}
