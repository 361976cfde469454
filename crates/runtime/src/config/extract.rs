//! The configuration as its struct. [`Figment::extract`] compiles each struct four times, because any could
//! be one of figment's own types, which no section has; here it is compiled once.
use figment::value::Value;
use figment::{Error, Figment, Metadata};
use serde::de::DeserializeOwned;

/// Returns the configuration of all layers, or every problem with the layer of its value.
pub(super) fn extract<T: DeserializeOwned>(figment: &Figment) -> Result<T, Vec<Error>> {
    // an empty path is that of everything
    let all = figment.find_value("").map_err(|error| vec![error])?;
    T::deserialize(&all).map_err(|error| {
        let errors = error.into_iter().map(|mut error| {
            error.metadata = layer(figment, &all, &error.path).cloned();
            error
        });
        errors.collect()
    })
}

/// Returns the layer of the value at `path`, or of the innermost table or list around it.
fn layer<'f>(figment: &'f Figment, all: &Value, path: &[String]) -> Option<&'f Metadata> {
    let mut innermost = all;
    for part in path {
        let inner = match innermost {
            Value::Dict(_, entries) => entries.get(part),
            Value::Array(_, items) => part.parse().ok().and_then(|at: usize| items.get(at)),
            _ => None,
        };
        let Some(inner) = inner else { break };
        innermost = inner;
    }
    figment.get_metadata(innermost.tag())
}
