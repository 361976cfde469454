//! The values of ConfigMaps and Secrets.
use crate::{
    kube::{Api, objects},
    service::error::ServiceError,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use portico_domain::panel::{DataValue, ObjectRef, ResourceRef};
use serde_json::Value;

/// Reads the values with the viewer's own token.
pub async fn of(api: &Api, object: &ObjectRef) -> Result<Vec<DataValue>, ServiceError> {
    let is_secret = object.resource == ResourceRef::core("secrets");
    if !is_secret && object.resource != ResourceRef::core("configmaps") {
        return Err(ServiceError::invalid(
            "Only ConfigMaps and Secrets have values.",
        ));
    }
    let value = objects::get(api, object).await?;
    Ok(if is_secret {
        encoded(&value["data"])
    } else {
        let mut found = plain(&value["data"]);
        found.extend(encoded(&value["binaryData"]));
        found
    })
}

fn plain(data: &Value) -> Vec<DataValue> {
    pairs(data)
        .map(|(key, text)| DataValue {
            key: key.to_owned(),
            bytes: text.len(),
            text: Some(text.to_owned()),
        })
        .collect()
}

fn encoded(data: &Value) -> Vec<DataValue> {
    pairs(data)
        .map(|(key, text)| {
            let bytes = STANDARD.decode(text).unwrap_or_default();
            DataValue {
                key: key.to_owned(),
                bytes: bytes.len(),
                text: String::from_utf8(bytes).ok(),
            }
        })
        .collect()
}

fn pairs(data: &Value) -> impl Iterator<Item = (&str, &str)> {
    data.as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_decoded_and_bytes_have_no_text() {
        let found = encoded(&json!({"password": "czNjcjN0", "key": "/wA="}));
        let words: Vec<_> = found
            .iter()
            .map(|value| (value.key.as_str(), value.text.as_deref(), value.bytes))
            .collect();
        assert_eq!(words, [("key", None, 2), ("password", Some("s3cr3t"), 6)]);
        assert_eq!(plain(&json!({"a": "b"}))[0].text.as_deref(), Some("b"));
    }
}
