//! `portico keys generate`: writes the key files of a new installation.
use super::arguments::KeysCommand;
use super::error::CliError;
use super::print;
use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portico_assertion::keys::{PrivateKey, SigningKey};
use rand::TryRngCore as _;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

pub(super) fn keys(command: &KeysCommand) -> Result<(), CliError> {
    let KeysCommand::Generate { out } = command;
    let report = generate(out)?;
    print(&report)
}

/// Writes every missing key file and returns a summary that names them.
pub(super) fn generate(directory: &Path) -> anyhow::Result<String> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .with_context(|| format!("make {}", directory.display()))?;
    let mut report = String::new();
    let mut add = |name: &str, written: bool| {
        let what = if written { "written" } else { "kept" };
        report.push_str(&format!("{what}  {}\n", directory.join(name).display()));
    };
    add("store-1.key", store_key(&directory.join("store-1.key"))?);
    let (private, public) = signing_pair(directory)?;
    add("assertion.pem", private);
    add("assertion.pub", public);
    for name in ["panel", "kube-auth-1"] {
        let (private, public) = sealing_pair(directory, name)?;
        add(&format!("{name}.key"), private);
        add(&format!("{name}.pub"), public);
    }
    Ok(report)
}

fn store_key(path: &Path) -> anyhow::Result<bool> {
    if path.exists() {
        return Ok(false);
    }
    let mut bytes = [0; 32];
    rand::rngs::OsRng
        .try_fill_bytes(&mut bytes)
        .context("the operating system has no randomness to give")?;
    write_new(path, 0o600, &format!("{}\n", STANDARD.encode(bytes)))?;
    Ok(true)
}

fn signing_pair(directory: &Path) -> anyhow::Result<(bool, bool)> {
    let (private, public) = (
        directory.join("assertion.pem"),
        directory.join("assertion.pub"),
    );
    refuse_half_pair(&private, &public)?;
    let fresh = !private.exists();
    if fresh {
        SigningKey::generate().write_new(&private)?;
    }
    if public.exists() {
        return Ok((fresh, false));
    }
    write_new(&public, 0o644, &SigningKey::read(&private)?.public_pem()?)?;
    Ok((fresh, true))
}

fn sealing_pair(directory: &Path, name: &str) -> anyhow::Result<(bool, bool)> {
    let private = directory.join(format!("{name}.key"));
    let public = directory.join(format!("{name}.pub"));
    refuse_half_pair(&private, &public)?;
    let fresh = !private.exists();
    if fresh {
        PrivateKey::generate().write_new(&private)?;
    }
    if public.exists() {
        return Ok((fresh, false));
    }
    PrivateKey::read(&private)?.public().write_new(&public)?;
    Ok((fresh, true))
}

/// Refuses half of a key pair: a new private key would not match an old public one.
fn refuse_half_pair(private: &Path, public: &Path) -> anyhow::Result<()> {
    if public.exists() && !private.exists() {
        bail!(
            "{} is there without {}: restore the private key, or move the public one away to make \
             a new pair",
            public.display(),
            private.display()
        );
    }
    Ok(())
}

fn write_new(path: &Path, mode: u32, text: &str) -> anyhow::Result<()> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt as _;

    fn contents(directory: &Path) -> BTreeMap<String, (u32, String)> {
        std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
                let text = std::fs::read_to_string(entry.path()).unwrap();
                (entry.file_name().into_string().unwrap(), (mode, text))
            })
            .collect()
    }

    #[test]
    fn every_key_is_written_once_and_never_again() {
        let directory = tempfile::tempdir().unwrap();
        generate(directory.path()).unwrap();
        let first = contents(directory.path());
        let names: Vec<_> = first.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "assertion.pem",
                "assertion.pub",
                "kube-auth-1.key",
                "kube-auth-1.pub",
                "panel.key",
                "panel.pub",
                "store-1.key"
            ]
        );
        for private in [
            "assertion.pem",
            "kube-auth-1.key",
            "panel.key",
            "store-1.key",
        ] {
            assert_eq!(first[private].0, 0o600, "{private}");
        }
        let report = generate(directory.path()).unwrap();
        assert!(!report.contains("written"), "{report}");
        assert_eq!(contents(directory.path()), first);
    }

    #[test]
    fn a_lost_public_key_is_made_again_and_a_lost_private_one_is_not() {
        let directory = tempfile::tempdir().unwrap();
        generate(directory.path()).unwrap();
        let first = contents(directory.path());
        std::fs::remove_file(directory.path().join("panel.pub")).unwrap();
        generate(directory.path()).unwrap();
        assert_eq!(contents(directory.path()), first);
        std::fs::remove_file(directory.path().join("panel.key")).unwrap();
        let error = generate(directory.path()).unwrap_err().to_string();
        assert!(error.contains("panel.pub"), "{error}");
    }

    #[test]
    fn the_store_accepts_its_key() {
        let directory = tempfile::tempdir().unwrap();
        generate(directory.path()).unwrap();
        let path = directory.path().join("store-1.key");
        let key = portico_runtime::secret_file::read_secret_file(&path).unwrap();
        portico_store::KeyRing::from_base64(&[key]).unwrap();
    }
}
