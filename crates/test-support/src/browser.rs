//! A browser without a screen: cookies by host, `Origin` and `Sec-Fetch-*` as browsers send them,
//! redirects only on request.
use std::{
    collections::{BTreeMap, HashMap},
    net::SocketAddr,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use portico_testkit::html_lines;
use tokio::net::TcpStream;
use url::Url;

/// A browser without scripts. A clone is another tab, with the cookies of that moment.
#[derive(Clone)]
pub struct Browser {
    gateway: SocketAddr,
    /// Hosts at other addresses than the gateway's.
    elsewhere: HashMap<String, SocketAddr>,
    jar: HashMap<String, BTreeMap<String, String>>,
}

#[derive(Debug)]
pub struct Page {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
    pub url: Url,
}

impl Page {
    pub fn location(&self) -> Url {
        let location = self.headers[header::LOCATION].to_str().expect("location");
        self.url.join(location).expect("location is a URL")
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).expect("JSON body")
    }

    /// Returns what a snapshot of a page of the gateway has: status, title and content. To be compared
    /// with the settings of `portico_testkit::snapshot_settings`.
    pub fn snapshot(&self) -> String {
        let part = |before: &str, after: &str| {
            let found = self.body.split_once(before);
            let found = found.and_then(|(_, rest)| rest.split_once(after));
            found
                .unwrap_or_else(|| panic!("no {before} in {}", self.body))
                .0
        };
        let title = part("<title>", "</title>");
        let content = html_lines(part("<div class=\"card\">", "</div></main>"));
        format!("{}\n{title}\n\n{content}", self.status)
    }

    /// Returns what a snapshot of an error for programs has: status, headers for clients, and body.
    pub fn json_snapshot(&self) -> serde_json::Value {
        let header = |name| self.headers.get(name).and_then(|value| value.to_str().ok());
        serde_json::json!({
            "status": self.status.as_u16(),
            "content-type": header(header::CONTENT_TYPE),
            "retry-after": header(header::RETRY_AFTER),
            "www-authenticate": header(header::WWW_AUTHENTICATE),
            "body": self.json(),
        })
    }

    /// Returns the value of a form's field.
    pub fn field(&self, name: &str) -> String {
        let marker = format!("name=\"{name}\" value=\"");
        let at = self
            .body
            .find(&marker)
            .unwrap_or_else(|| panic!("no field {name} in {}", self.body));
        let rest = &self.body[at + marker.len()..];
        unescape(&rest[..rest.find('"').expect("end of value")])
    }
}

impl Browser {
    pub fn new(gateway: SocketAddr) -> Self {
        Self {
            gateway,
            elsewhere: HashMap::new(),
            jar: HashMap::new(),
        }
    }

    /// Makes a host resolve to another address than the gateway's.
    pub fn find(&mut self, host: &str, address: SocketAddr) {
        self.elsewhere.insert(host.to_owned(), address);
    }

    pub fn cookie(&self, host: &str, name: &str) -> Option<&str> {
        self.jar.get(host)?.get(name).map(String::as_str)
    }

    /// Returns a cookie whose name starts with the prefix.
    pub fn cookie_like(&self, host: &str, prefix: &str) -> Option<&str> {
        let mut cookies = self.jar.get(host)?.iter();
        let found = cookies.find(|(name, _)| name.starts_with(prefix));
        found.map(|(_, value)| value.as_str())
    }

    pub fn set_cookie(&mut self, host: &str, name: &str, value: &str) {
        self.jar
            .entry(host.to_owned())
            .or_default()
            .insert(name.to_owned(), value.to_owned());
    }

    pub fn forget_cookie(&mut self, host: &str, name: &str) {
        if let Some(jar) = self.jar.get_mut(host) {
            jar.remove(name);
        }
    }

    pub fn cookie_line(&self, host: &str) -> String {
        self.jar
            .get(host)
            .into_iter()
            .flatten()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// Opens a page, as by typing its address.
    pub async fn open(&mut self, url: &str) -> Page {
        let headers = [("sec-fetch-mode", "navigate"), ("accept", "text/html")];
        self.send(Method::GET, url, &headers, String::new()).await
    }

    /// Opens a page and follows its redirects.
    pub async fn follow(&mut self, url: &str) -> Page {
        let mut page = self.open(url).await;
        for _ in 0..10 {
            if !page.status.is_redirection() {
                return page;
            }
            page = self.open(page.location().as_str()).await;
        }
        panic!("too many redirects from {url}");
    }

    /// Sends a form from a page of `from`.
    pub async fn submit(&mut self, from: &str, url: &str, fields: &[(&str, &str)]) -> Page {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        let headers = [
            ("sec-fetch-mode", "navigate"),
            ("origin", from),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        self.send(Method::POST, url, &headers, body).await
    }

    /// Sends a call as a page's script does.
    pub async fn call(&mut self, method: Method, url: &str, body: &str) -> Page {
        let origin = Url::parse(url).expect("url").origin().ascii_serialization();
        let headers = [
            ("sec-fetch-mode", "cors"),
            ("sec-fetch-site", "same-origin"),
            ("origin", &origin),
            ("content-type", "application/json"),
        ];
        self.send(method, url, &headers, body.to_owned()).await
    }

    pub async fn send(
        &mut self,
        method: Method,
        url: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Page {
        let (parts, body) = self.start(method, url, headers, body).await.into_parts();
        let bytes = body.collect().await.expect("body").to_bytes();
        Page {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8_lossy(&bytes).into_owned(),
            url: Url::parse(url).expect("url"),
        }
    }

    /// Sends exactly these headers under a host name, as a proxy in front does.
    pub async fn raw_host(&self, url: &str, host: &str, headers: &[(&str, &str)]) -> Page {
        let url = Url::parse(url).expect("url");
        let mut request = Request::builder()
            .uri(&url[url::Position::BeforePath..url::Position::AfterQuery])
            .header(header::HOST, host)
            .body(Full::new(Bytes::new()))
            .expect("request");
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            request.headers_mut().append(
                http::HeaderName::try_from(*name).expect("name"),
                HeaderValue::from_str(value).expect("value"),
            );
        }
        let response = self.exchange(self.gateway, request).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.expect("body").to_bytes();
        Page {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8_lossy(&bytes).into_owned(),
            url,
        }
    }

    async fn exchange(
        &self,
        address: SocketAddr,
        request: Request<Full<Bytes>>,
    ) -> Response<hyper::body::Incoming> {
        let stream = TcpStream::connect(address).await.expect("gateway");
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .expect("handshake");
        tokio::spawn(connection);
        sender.send_request(request).await.expect("response")
    }

    /// Sends a request and leaves the body unread.
    pub async fn start(
        &mut self,
        method: Method,
        url: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Response<hyper::body::Incoming> {
        let url = Url::parse(url).expect("url");
        let host = url.host_str().expect("host").to_owned();
        let authority = url.authority().to_owned();
        let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let mut request = Request::builder()
            .method(method)
            .uri(target)
            .header(header::HOST, authority)
            .body(Full::new(Bytes::from(body)))
            .expect("request");
        for (name, value) in headers {
            request.headers_mut().append(
                http::HeaderName::try_from(*name).expect("name"),
                HeaderValue::from_str(value).expect("value"),
            );
        }
        let cookies = self.cookie_line(&host);
        if !cookies.is_empty() && !request.headers().contains_key(header::COOKIE) {
            request
                .headers_mut()
                .insert(header::COOKIE, cookies.parse().expect("cookies"));
        }
        let address = self.elsewhere.get(&host).copied().unwrap_or(self.gateway);
        let response = self.exchange(address, request).await;
        self.keep_cookies(&host, response.headers());
        response
    }

    /// Stores the cookies of a response that a proxy has passed on.
    pub fn keep_cookies(&mut self, host: &str, headers: &HeaderMap) {
        for line in headers.get_all(header::SET_COOKIE) {
            let line = line.to_str().expect("cookie");
            let mut parts = line.split(';').map(str::trim);
            let (name, value) = parts
                .next()
                .and_then(|pair| pair.split_once('='))
                .expect("pair");
            let jar = self.jar.entry(host.to_owned()).or_default();
            if parts.any(|part| part.eq_ignore_ascii_case("max-age=0")) {
                jar.remove(name);
            } else {
                jar.insert(name.to_owned(), value.to_owned());
            }
        }
    }
}

fn unescape(text: &str) -> String {
    text.replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}
