//! The service catalogue: where the cloud's services are, for the project of a token.
use super::answer::{Answer, json};
use super::call::{Call, asking_token};
use super::client::Client;
use super::error::Error;
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode, Url};
use secrecy::SecretString;
use serde::Deserialize;

/// The endpoints of a cloud's services, as Keystone lists them for one token. URLs can contain the
/// token's project, so a catalogue belongs to one project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// In Keystone's order.
    pub endpoints: Vec<CatalogEndpoint>,
}

/// One endpoint of one service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogEndpoint {
    /// The service's type, for example `compute` or `container-infra`.
    pub service_type: String,
    /// `public`, `internal` or `admin`.
    pub interface: String,
    /// `None` on clouds without regions.
    pub region: Option<String>,
    pub url: Url,
}

impl Client {
    /// Returns the service catalogue of a token. Endpoints whose URL cannot be parsed are left out.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the token is invalid, [`Error::Forbidden`] if it has no scope.
    pub async fn catalog(&self, token: &SecretString) -> Result<Catalog, Error> {
        let headers: HeaderMap = asking_token(token)?;
        let call = Call {
            operation: "catalog",
            method: Method::GET,
            path: "auth/catalog".to_owned(),
            query: None,
            headers,
            body: None,
        };
        self.run(call, |answer| catalog(&answer)).await
    }
}

fn catalog(answer: &Answer) -> Result<Catalog, Error> {
    answer.expect(StatusCode::OK, Error::InvalidToken)?;
    let body: CatalogAnswer = json(&answer.body)?;
    let endpoints = body.catalog.into_iter().flat_map(|service| {
        let service_type = service.service_type;
        service
            .endpoints
            .into_iter()
            .filter_map(move |endpoint| endpoint.of(&service_type))
    });
    Ok(Catalog {
        endpoints: endpoints.collect(),
    })
}

#[derive(Deserialize)]
struct CatalogAnswer {
    catalog: Vec<ServiceAnswer>,
}

#[derive(Deserialize)]
struct ServiceAnswer {
    #[serde(rename = "type")]
    service_type: String,
    #[serde(default)]
    endpoints: Vec<EndpointAnswer>,
}

#[derive(Deserialize)]
struct EndpointAnswer {
    interface: String,
    region_id: Option<String>,
    region: Option<String>,
    url: String,
}

impl EndpointAnswer {
    /// Returns the endpoint of a service; `None` if its URL cannot be requested.
    fn of(self, service_type: &str) -> Option<CatalogEndpoint> {
        let url = Url::parse(&self.url).ok()?;
        (matches!(url.scheme(), "http" | "https") && url.has_host()).then(|| CatalogEndpoint {
            service_type: service_type.to_owned(),
            interface: self.interface,
            region: self.region_id.or(self.region),
            url,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn endpoints_that_cannot_be_requested_are_left_out() {
        let endpoint = |url: &str| {
            json!({"id": "e", "interface": "public", "region": "one", "region_id": "one",
                   "url": url})
        };
        let body = json!({"catalog": [
            {"type": "compute", "name": "nova", "id": "1", "endpoints": [
                endpoint("https://nova.example.org/v2.1"), endpoint("$(public)s"),
                endpoint("ftp://nova.example.org")]},
            {"type": "empty", "endpoints": []},
        ], "links": {}});
        let answer = Answer {
            status: StatusCode::OK,
            retry_after: None,
            subject_token: None,
            receipt: None,
            body: body.to_string().into_bytes(),
        };
        let catalog = catalog(&answer).unwrap();
        assert_eq!(
            catalog.endpoints,
            [CatalogEndpoint {
                service_type: "compute".to_owned(),
                interface: "public".to_owned(),
                region: Some("one".to_owned()),
                url: "https://nova.example.org/v2.1".parse().unwrap(),
            }]
        );
    }
}
