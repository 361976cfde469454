//! Rules of the API server that a form checks before it asks the cluster, with what to write instead.
use super::FormProblem;
use crate::{namespace_format, panel::label_selector};

/// Maximum length of a name that is a DNS subdomain, in bytes.
const MAX_SUBDOMAIN_BYTES: usize = 253;
/// Maximum length of the name of a port, in bytes.
const MAX_PORT_NAME_BYTES: usize = 15;

/// The problems of a form, in its order.
#[derive(Debug, Default)]
pub struct Problems(Vec<FormProblem>);

impl Problems {
    /// Adds the problem of a field, if it has one.
    pub fn add(&mut self, field: impl Into<String>, problem: Option<String>) {
        if let Some(message) = problem {
            self.0.push(FormProblem {
                field: field.into(),
                message,
            });
        }
    }

    pub fn into_list(self) -> Vec<FormProblem> {
        self.0
    }
}

/// Checks the name of the new object; that of a Service must be a DNS label that begins with a letter
/// (RFC 1035), the others are DNS subdomains (RFC 1123).
pub fn object_name(text: &str, is_service: bool) -> Option<String> {
    let text = text.trim();
    if text.is_empty() {
        return Some("Enter a name.".to_owned());
    }
    if is_service {
        let begins = text.starts_with(|c: char| c.is_ascii_lowercase());
        return (!(begins && namespace_format::is_label(text))).then(|| {
            "Use at most 63 lower-case letters, digits and \"-\"; begin with a letter and end with a \
             letter or digit."
                .to_owned()
        });
    }
    subdomain(text)
}

/// Checks a name that is a DNS subdomain.
pub fn subdomain(text: &str) -> Option<String> {
    (!is_subdomain(text)).then(|| {
        "Use lower-case letters, digits, \"-\" and \".\"; begin and end each part with a letter or \
         digit."
            .to_owned()
    })
}

pub fn namespace(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() {
        return Some("Choose a namespace.".to_owned());
    }
    (!namespace_format::is_label(text)).then(|| {
        "Use at most 63 lower-case letters, digits and \"-\"; begin and end with a letter or digit."
            .to_owned()
    })
}

/// Checks the size of a volume.
pub fn size(text: &str) -> Option<String> {
    const EXAMPLE: &str = "Enter a size such as 10Gi or 500Mi.";
    let text = text.trim();
    let digits = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let known = [
        "", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
    ];
    match number.parse::<f64>() {
        Ok(_) if !known.contains(&unit) => Some(format!("\"{unit}\" is not a unit. {EXAMPLE}")),
        Ok(value) if value <= 0.0 => Some("The size must be greater than 0.".to_owned()),
        Ok(_) => None,
        Err(_) => Some(EXAMPLE.to_owned()),
    }
}

/// Checks a port number.
pub fn port_number(text: &str) -> Option<String> {
    (!is_port_number(text.trim())).then(|| "Enter a port from 1 to 65535.".to_owned())
}

/// Checks a port that may be a number or the name of a port.
pub fn port(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.bytes().all(|byte| byte.is_ascii_digit()) {
        return port_number(text);
    }
    port_name(text)
}

/// Checks the name of a port (an IANA service name, RFC 6335).
pub fn port_name(text: &str) -> Option<String> {
    let text = text.trim();
    let has_letter = text.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_valid = text.len() <= MAX_PORT_NAME_BYTES
        && has_letter
        && !text.contains("--")
        && namespace_format::is_label(text);
    (!is_valid).then(|| {
        format!(
            "The name of a port has at most {MAX_PORT_NAME_BYTES} lower-case letters, digits and \"-\", \
             and at least one letter."
        )
    })
}

pub fn is_port_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
        && text.parse::<u16>().is_ok_and(|number| number > 0)
}

/// Checks a host of an Ingress: a DNS name, whose first label may be `*`. Empty: every host.
pub fn host(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let name = text.strip_prefix("*.").unwrap_or(text);
    let is_address = text.parse::<std::net::IpAddr>().is_ok();
    (is_address || !is_subdomain(name)).then(|| {
        "Enter a host name such as shop.example.org or *.example.org, without scheme, port and path."
            .to_owned()
    })
}

/// Checks a path of an Ingress.
pub fn path(text: &str) -> Option<String> {
    let text = text.trim();
    if !text.starts_with('/') {
        return Some("A path begins with \"/\".".to_owned());
    }
    let segments: Vec<&str> = text.split('/').collect();
    let is_ambiguous = text.contains("//")
        || text.contains(char::is_whitespace)
        || text.contains(['?', '#'])
        || segments
            .iter()
            .any(|segment| matches!(*segment, "." | ".."));
    is_ambiguous.then(|| {
        "A path has no spaces, \"?\" or \"#\", no empty parts and no \".\" or \"..\" as a part."
            .to_owned()
    })
}

/// Splits `app=web,tier=front`.
///
/// # Errors
/// A sentence about the first part that is not a label.
pub fn labels(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut found: Vec<(String, String)> = Vec::new();
    for part in text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let Some((key, value)) = part.split_once('=') else {
            return Err(format!(
                "\"{part}\" is not a label. Write labels as key=value, separated by commas."
            ));
        };
        let (key, value) = (key.trim(), value.trim());
        label_selector::check_key(key).map_err(|error| error.to_string())?;
        label_selector::check_value(value).map_err(|error| error.to_string())?;
        if found.iter().any(|(known, _)| known == key) {
            return Err(format!("The label {key} is there twice."));
        }
        found.push((key.to_owned(), value.to_owned()));
    }
    Ok(found)
}

/// Returns whether a text is a DNS subdomain (RFC 1123), as the names of most objects are.
fn is_subdomain(text: &str) -> bool {
    text.len() <= MAX_SUBDOMAIN_BYTES && text.split('.').all(namespace_format::is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rules_of_their_kind() {
        for valid in ["data", "data-1", "a.b", "0-data"] {
            assert_eq!(object_name(valid, false), None, "{valid}");
        }
        for invalid in ["", " ", "Data", "data_1", "-data", "data-", "a..b", "ä"] {
            assert!(object_name(invalid, false).is_some(), "{invalid}");
        }
        assert_eq!(object_name("web-1", true), None);
        for invalid in ["1-web", "a.b", "Web", &"a".repeat(64)] {
            assert!(object_name(invalid, true).is_some(), "{invalid}");
        }
    }

    #[test]
    fn sizes_are_positive_quantities() {
        for valid in ["10Gi", "500Mi", "1.5T", "1000", " 1Gi "] {
            assert_eq!(size(valid), None, "{valid}");
        }
        assert_eq!(
            size("10GB").as_deref(),
            Some("\"GB\" is not a unit. Enter a size such as 10Gi or 500Mi.")
        );
        for invalid in ["", "much", "-1Gi", "0Gi", "1..5Gi", "Gi", "100m"] {
            assert!(size(invalid).is_some(), "{invalid}");
        }
    }

    #[test]
    fn ports_are_numbers_in_range_or_names() {
        for valid in ["1", "80", "65535", "http", "h2-c"] {
            assert_eq!(port(valid), None, "{valid}");
        }
        for invalid in [
            "",
            "0",
            "65536",
            "-1",
            "http_alt",
            "a--b",
            "Http",
            "name-of-sixteen-",
        ] {
            assert!(port(invalid).is_some(), "{invalid}");
        }
        assert!(port_number("http").is_some());
        assert!(port_number("+80").is_some());
    }

    #[test]
    fn hosts_are_names_without_the_rest_of_an_address() {
        for valid in ["", "shop.example.org", "*.example.org"] {
            assert_eq!(host(valid), None, "{valid}");
        }
        for invalid in [
            "https://shop.example.org",
            "shop.example.org:443",
            "shop.example.org/cart",
            "*",
            "a.*.example.org",
            "192.0.2.1",
            "Shop.example.org",
        ] {
            assert!(host(invalid).is_some(), "{invalid}");
        }
    }

    #[test]
    fn paths_are_absolute_and_unambiguous() {
        for valid in ["/", "/cart", "/cart/", "/a.b"] {
            assert_eq!(path(valid), None, "{valid}");
        }
        for invalid in ["", "cart", "/a//b", "/../a", "/a/.", "/a b", "/a?b=c"] {
            assert!(path(invalid).is_some(), "{invalid}");
        }
    }

    #[test]
    fn labels_are_pairs_without_repetition() {
        let pairs = labels("app=web, tier = front,").unwrap();
        let expected = [("app", "web"), ("tier", "front")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(pairs, expected);
        assert!(labels("app").unwrap_err().contains("key=value"));
        assert!(labels("app=web,app=shop").unwrap_err().contains("twice"));
        assert!(labels("app=a b").is_err());
        assert!(labels("").unwrap().is_empty());
    }
}
