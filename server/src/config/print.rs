//! Prints the configuration without secrets.
use super::Config;
use url::Url;

impl Config {
    /// Returns the effective configuration, defaults included, as TOML. Passwords in URLs are left
    /// out.
    ///
    /// # Errors
    /// If a value cannot be serialised as TOML.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        let mut value = toml::Value::try_from(self)?;
        redact(&mut value);
        toml::to_string_pretty(&value)
    }
}

fn redact(value: &mut toml::Value) {
    match value {
        toml::Value::String(text) => {
            if let Ok(mut url) = Url::parse(text)
                && url.password().is_some()
                && url.set_password(Some("hidden")).is_ok()
            {
                *text = url.into();
            }
        }
        toml::Value::Array(items) => items.iter_mut().for_each(redact),
        toml::Value::Table(table) => table.iter_mut().for_each(|(_, value)| redact(value)),
        _ => {}
    }
}
