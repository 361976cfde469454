//! A cluster that Magnum does not have: an operator imports it, as nothing can confirm the address and the
//! authority that a user states (ADR 0022). What the operator runs is printed.
use crate::cluster::arguments::ClusterOutput;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::cluster::specification::read_text;
use crate::cluster::views::print_object;
use portico_cluster_operations::certificate::Certificate;
use portico_domain::api_address::ApiAddress;
use serde::Serialize;
use std::path::Path;
use url::{Host, Url};

/// What the user sends to the operator.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Request {
    name: String,
    server: String,
    project_id: String,
    /// SHA-256 of the authority's certificate, for the operator to compare.
    authority_fingerprint: String,
    /// What the operator runs, on the host of Portico's store.
    command: String,
}

/// Prints what the operator runs, and returns the exit code.
///
/// # Errors
/// [`ClusterError::Usage`] if the address or the file cannot be used.
pub fn print(
    console: &mut Console,
    format: ClusterOutput,
    project: &str,
    (server, ca, name): (&str, &Path, &str),
) -> Result<u8, ClusterError> {
    let pem = read_text(ca)?;
    let request = request(project, (server, ca, name), &pem).map_err(ClusterError::Usage)?;
    console.say(
        "Magnum does not have this cluster, and an operator of Portico imports it: a user's address and \
         authority cannot be confirmed. Nothing was sent. Send the operator the file of the authority, and this:",
    );
    print_object(console, format, &request, name, || {
        Ok(format!(
            "{}\n# fingerprint of the authority (SHA-256): {}\n",
            request.command, request.authority_fingerprint
        ))
    })?;
    Ok(exit_code::UNSUPPORTED)
}

fn request(
    project: &str,
    (server, ca, name): (&str, &Path, &str),
    pem: &str,
) -> Result<Request, String> {
    let url = Url::parse(server).map_err(|error| format!("{server}: {error}"))?;
    let is_ip = matches!(url.host(), Some(Host::Ipv4(_) | Host::Ipv6(_)));
    // neither a user name nor a query, which the operator's command refuses
    let is_plain = ApiAddress::parse(server).is_some();
    if url.scheme() != "https" || !is_ip || !is_plain {
        return Err(format!(
            "{server} is not an address such as https://203.0.113.7:6443: Portico connects to an IP address"
        ));
    }
    let certificate = Certificate::read(pem)
        .map_err(|error| format!("{} has no certificate: {error}", ca.display()))?;
    // the operator has the file under its name
    let file = ca.file_name().unwrap_or(ca.as_os_str()).to_string_lossy();
    let command = format!(
        "portico --config portico.toml enrolment import --name {} --server {} --ca {} --owner-project {}",
        quoted(name),
        quoted(server),
        quoted(&file),
        quoted(project)
    );
    Ok(Request {
        name: name.to_owned(),
        server: server.to_owned(),
        project_id: project.to_owned(),
        authority_fingerprint: certificate.fingerprint,
        command,
    })
}

/// Returns a text as one word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/' | ':')
    };
    let is_word = !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain);
    match is_word {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair};

    fn pem() -> String {
        let key = KeyPair::generate().unwrap();
        CertificateParams::default()
            .self_signed(&key)
            .unwrap()
            .pem()
    }

    #[test]
    fn the_line_for_the_operator_has_every_value() {
        let ca = Path::new("/home/ana/lab ca.crt");
        let found = request("p1", ("https://203.0.113.7:6443", ca, "lab"), &pem()).unwrap();
        assert_eq!(
            found.command,
            "portico --config portico.toml enrolment import --name lab --server \
             https://203.0.113.7:6443 --ca 'lab ca.crt' --owner-project p1"
        );
        assert_eq!(found.authority_fingerprint.len(), 64);
    }

    #[test]
    fn what_the_operators_command_refuses_is_refused_here() {
        let ca = Path::new("ca.crt");
        for server in [
            "http://203.0.113.7",
            "https://lab.example.org:6443",
            "https://ana@203.0.113.7:6443",
            "https://203.0.113.7:6443?a=b",
            "lab",
        ] {
            let error = request("p1", (server, ca, "lab"), &pem()).unwrap_err();
            assert!(error.contains(server), "{error}");
        }
        let error = request("p1", ("https://203.0.113.7", ca, "lab"), "key").unwrap_err();
        assert!(error.contains("ca.crt"), "{error}");
    }

    #[test]
    fn a_text_is_one_word_of_a_shell() {
        assert_eq!(quoted("lab-1"), "lab-1");
        assert_eq!(quoted("$(x)"), "'$(x)'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("--all"), "'--all'");
    }
}
