//! Describes a browser for users, from its user agent.
use woothee::parser::Parser;

/// Returns a description like "Firefox on Linux", as far as the user agent allows.
pub fn words(user_agent: &str) -> String {
    let parsed = Parser::new().parse(user_agent);
    let browser = parsed.as_ref().map_or("", |known| known.name);
    let system = parsed.as_ref().map_or("", |known| known.os);
    match (browser_name(browser), system_name(system)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        (None, Some(system)) => format!("A browser on {system}"),
        (None, None) => {
            first_product(user_agent).unwrap_or_else(|| "An unknown browser".to_owned())
        }
    }
}

fn browser_name(name: &str) -> Option<&str> {
    match name {
        "" | "UNKNOWN" | "HTTP Library" | "misc crawler" => None,
        known => Some(known),
    }
}

fn system_name(name: &str) -> Option<&str> {
    match name {
        "" | "UNKNOWN" => None,
        "Mac OSX" => Some("macOS"),
        // browsers send 10.0 for both
        "Windows 10" => Some("Windows"),
        known => Some(known),
    }
}

/// Returns the product of a user agent like `curl/8.5.0`, if it is a plain word.
fn first_product(user_agent: &str) -> Option<String> {
    let product = user_agent.split(['/', ' ']).next()?;
    let plain = (1..=40).contains(&product.len())
        && product != "Mozilla"
        && product
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    plain.then(|| product.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_browsers_have_names() {
        for (agent, expected) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
                "Firefox on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/126.0.0.0 Safari/537.36",
                "Chrome on Windows",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like \
                 Gecko) Version/17.5 Safari/605.1.15",
                "Safari on macOS",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 \
                 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
        ] {
            assert_eq!(words(agent), expected);
        }
    }

    #[test]
    fn an_unknown_device_is_called_unknown() {
        assert_eq!(words(""), "An unknown browser");
        assert_eq!(words("Mozilla/5.0"), "An unknown browser");
        assert_eq!(words("<script>alert(1)</script>"), "An unknown browser");
        assert_eq!(words("acme-probe/2.1"), "acme-probe");
    }
}
