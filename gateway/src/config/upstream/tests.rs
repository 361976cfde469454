use super::*;
use serde_json::{Value, json};

fn check(app: Value) -> Result<(), UpstreamConfigError> {
    let mut whole = json!({ "id": "a", "name": "A", "project": "p" });
    for (key, value) in app.as_object().expect("object") {
        whole[key] = value.clone();
    }
    validate(&serde_json::from_value(whole).expect("shape"))
}

#[test]
fn every_kind_of_address_is_taken() {
    for url in [
        "http://127.0.0.1:9090",
        "http://[::1]:9090/prometheus/",
        "https://grafana.internal",
        "h2c://grpc:50051",
        "unix:/run/app.sock",
    ] {
        assert_eq!(check(json!({ "url": url })), Ok(()), "{url}");
        let several = json!({ "upstream": { "backends": [url] } });
        assert_eq!(check(several), Ok(()), "{url}");
    }
}

#[test]
fn what_is_not_an_address_is_refused() {
    for url in [
        "ftp://a",
        "http://user@a/",
        "http://user:secret@a/",
        "http://a/?x=1",
        "http://a/#x",
        "unix:app.sock",
        "unix://host/app.sock",
        "unix:/",
        "h2c:/a",
    ] {
        let refused = check(json!({ "url": url }));
        assert!(
            matches!(refused, Err(UpstreamConfigError::Address(..))),
            "{url}: {refused:?}"
        );
    }
}

#[test]
fn one_address_or_several_never_both_nor_none() {
    let no_address = Err(UpstreamConfigError::NoAddress("a".to_owned()));
    assert_eq!(check(json!({})), no_address);
    let both = json!({ "url": "http://a", "upstream": { "backends": ["http://b"] } });
    assert_eq!(check(both), no_address);
    for backends in [
        json!(["http://a", "https://b"]),
        json!(["http://a", "http://a"]),
        (0..33).map(|n| format!("http://a{n}")).collect(),
    ] {
        let refused = check(json!({ "upstream": { "backends": backends } }));
        assert_eq!(refused, Err(UpstreamConfigError::Backends("a".to_owned())));
    }
}

#[test]
fn tls_is_for_https_and_whole() {
    let with = |url: &str, upstream: Value| check(json!({ "url": url, "upstream": upstream }));
    for upstream in [
        json!({ "ca_file": "x" }),
        json!({ "server_name": "x" }),
        json!({ "protocol": "http2" }),
    ] {
        let refused = with("http://a", upstream.clone());
        assert!(matches!(refused, Err(UpstreamConfigError::OnlyTls(..))));
        assert_eq!(with("https://a", upstream), Ok(()));
    }
    let half = with("https://a", json!({ "client_cert_file": "x" }));
    assert!(matches!(half, Err(UpstreamConfigError::HalfIdentity(_))));
    let name = with("https://a", json!({ "server_name": "no name" }));
    assert!(matches!(name, Err(UpstreamConfigError::ServerName(_))));
    let skipped: Result<UpstreamConfig, _> =
        serde_json::from_value(json!({ "insecure_skip_verify": true }));
    assert!(skipped.is_err(), "verification can be skipped");
}

#[test]
fn prefixes_are_plain_and_amounts_are_not_zero() {
    for prefix in ["/a", "/a/b-c_d.e~f", "/Grafana"] {
        assert!(is_prefix(prefix), "{prefix}");
    }
    for prefix in [
        "", "/", "a", "/a/", "//a", "/a//b", "/a?b", "/a#", "/../a", "/a%20", "/a;b", "/ä",
    ] {
        assert!(!is_prefix(prefix), "{prefix}");
    }
    for upstream in [
        json!({ "idle": "0s" }),
        json!({ "keep_alive": "0s" }),
        json!({ "headers": 0 }),
        json!({ "health": { "unhealthy": 0 } }),
        json!({ "health": { "every": "0s" } }),
    ] {
        let refused = check(json!({ "url": "http://a", "upstream": upstream }));
        assert!(matches!(refused, Err(UpstreamConfigError::Zero(..))));
    }
}

#[test]
fn finding_s6_removed_headers_are_names_in_any_spelling() {
    let removing = |names: Value| {
        let app = json!({
            "id": "a", "name": "A", "project": "p", "url": "http://a",
            "upstream": { "remove_headers": names },
        });
        let app: AppConfig = serde_json::from_value(app).expect("shape");
        let names = app.upstream.removed_headers().map(|names| {
            let names = names.iter().map(ToString::to_string);
            names.collect::<Vec<_>>()
        });
        validate(&app).map(|()| names.expect("checked"))
    };
    assert_eq!(
        removing(json!(["X_My_Tenant", "x-MY-role"])),
        Ok(vec!["x-my-tenant".to_owned(), "x-my-role".to_owned()])
    );
    for name in [
        "",
        "a b",
        "a:b",
        "X.Dot",
        "Host",
        "content_length",
        "Upgrade",
    ] {
        assert_eq!(
            removing(json!([name])),
            Err(UpstreamConfigError::RemovedHeader(
                "a".to_owned(),
                name.to_owned()
            )),
        );
    }
    let many: Value = (0..65).map(|n| format!("x-{n}")).collect();
    assert_eq!(
        removing(many),
        Err(UpstreamConfigError::ManyHeaders("a".to_owned()))
    );
}
