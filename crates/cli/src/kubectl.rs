//! Detection of the exec plugin version that the installed kubectl supports.
use serde::Deserialize;
use std::time::Duration;

#[derive(Deserialize)]
struct Versions {
    #[serde(rename = "clientVersion")]
    client: Client,
}

#[derive(Deserialize)]
struct Client {
    major: String,
    minor: String,
}

/// Returns whether kubectl on the PATH is 1.22 or newer; `false` if there is none or its version is
/// not known.
pub async fn supports_v1() -> bool {
    let command = tokio::process::Command::new("kubectl")
        .args(["version", "--client", "--output=json"])
        .stdin(std::process::Stdio::null())
        .kill_on_drop(true)
        .output();
    let Ok(Ok(output)) = tokio::time::timeout(Duration::from_secs(5), command).await else {
        return false;
    };
    supports(&output.stdout)
}

fn supports(output: &[u8]) -> bool {
    // some builds write a minor version as "33+"
    let number = |text: &str| text.trim_end_matches('+').parse::<u32>().unwrap_or(0);
    serde_json::from_slice::<Versions>(output).is_ok_and(|versions| {
        (
            number(&versions.client.major),
            number(&versions.client.minor),
        ) >= (1, 22)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v1_is_for_kubectl_1_22_and_newer() {
        let says =
            |minor: &str| format!(r#"{{"clientVersion":{{"major":"1","minor":"{minor}"}}}}"#);
        assert!(!supports(says("20").as_bytes()));
        assert!(!supports(says("21+").as_bytes()));
        assert!(supports(says("22").as_bytes()));
        assert!(supports(says("33+").as_bytes()));
        assert!(!supports(b"no json"));
    }
}
