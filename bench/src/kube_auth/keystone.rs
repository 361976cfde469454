//! The connections to Keystone: a proxy in front of the real one that counts, and a stand-in.
use anyhow::{Context as _, Result};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use jiff::{Timestamp, ToSpan as _};
use secrecy::SecretString;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const VALIDATION: &[u8] = b"GET /v3/auth/tokens";
const SUBJECT_TOKEN: &str = "x-subject-token";

/// A server that counts the validations that kube-auth requests.
pub struct Counted {
    address: SocketAddr,
    validations: Arc<AtomicU64>,
    _tasks: JoinSet<()>,
}

impl Counted {
    /// Starts a TCP proxy to the Keystone at `url`.
    pub async fn proxy(url: &str) -> Result<Self> {
        let upstream = url
            .strip_prefix("http://")
            .and_then(|rest| rest.split('/').next())
            .context("KEYSTONE_URL is not http")?
            .to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let validations = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&validations);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            // dropped with the proxy, and every connection with it
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                if let Ok(server) = TcpStream::connect(&upstream).await {
                    connections.spawn(relay(client, server, Arc::clone(&seen)));
                }
                while connections.try_join_next().is_some() {}
            }
        });
        Ok(Self {
            address,
            validations,
            _tasks: tasks,
        })
    }

    /// Starts a stand-in that accepts the tokens of [`invented_token`] at once. The real Keystone
    /// needs a tenth of a second and more to issue one token: 100,000 would take hours.
    pub async fn stand_in() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let validations = Arc::new(AtomicU64::new(0));
        let router = Router::new()
            .route("/v3/auth/tokens", get(validate))
            .with_state(Arc::clone(&validations));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            // an error ends the run with the next unanswered review
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self {
            address,
            validations,
            _tasks: tasks,
        })
    }

    /// Returns the value of `keystone.url`.
    pub fn url(&self) -> String {
        format!("http://{}/v3", self.address)
    }

    pub fn validations(&self) -> u64 {
        self.validations.load(Ordering::SeqCst)
    }
}

async fn relay(client: TcpStream, server: TcpStream, seen: Arc<AtomicU64>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let requests = async {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(read @ 1..) = from_client.read(&mut buffer).await {
            // a request is one small write, so its first line is never cut in two
            let found = buffer[..read]
                .windows(VALIDATION.len())
                .filter(|window| *window == VALIDATION)
                .count();
            seen.fetch_add(found as u64, Ordering::SeqCst);
            if to_server.write_all(&buffer[..read]).await.is_err() {
                break;
            }
        }
    };
    tokio::select! {
        () = requests => {}
        _ = tokio::io::copy(&mut from_server, &mut to_client) => {}
    }
}

/// The project of every invented token.
pub const INVENTED_PROJECT: &str = "5a1d0000000000000000000000000000";
const INVENTED: &str = "gAAAAA";

/// Returns a token as long as a Fernet one of one project, with its user in its text.
pub fn invented_token(number: usize) -> SecretString {
    let user = invented_user(number);
    format!("{INVENTED}{user}{:-<145}", "").into()
}

/// Returns the ID of its user.
pub fn invented_user(number: usize) -> String {
    // as different from each other as Keystone's
    format!(
        "{:032x}",
        (number as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
    )
}

async fn validate(State(validations): State<Arc<AtomicU64>>, headers: HeaderMap) -> Response {
    validations.fetch_add(1, Ordering::SeqCst);
    let token = headers.get(SUBJECT_TOKEN).and_then(|t| t.to_str().ok());
    let Some((token, user)) = token.and_then(|token| {
        let user = token.strip_prefix(INVENTED)?.get(..32)?;
        Some((token, user))
    }) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let now = Timestamp::now();
    let expires = now.checked_add(1.hour()).unwrap_or(now);
    let time = |time: Timestamp| time.strftime("%Y-%m-%dT%H:%M:%S.000000Z").to_string();
    let body = format!(
        r#"{{"token":{{"methods":["password"],"user":{{"domain":{{"id":"default","name":"Default"}},"id":"{user}","name":"user-{user}","password_expires_at":null}},"audit_ids":["{audit}"],"expires_at":"{expires}","issued_at":"{issued}","project":{{"domain":{{"id":"default","name":"Default"}},"id":"{INVENTED_PROJECT}","name":"bench"}},"is_domain":false,"roles":[{{"id":"2b1ba38f4926442d834b9b6995d94a48","name":"member"}},{{"id":"c613b16346104c9397fcd80a902ca34a","name":"k8s_admin"}},{{"id":"f4a90be4eedf4e148c8c09599d7297ba","name":"reader"}}]}}}}"#,
        audit = &user[..22],
        expires = time(expires),
        issued = time(now),
    );
    let headers = [
        (header::CONTENT_TYPE.as_str(), "application/json"),
        (SUBJECT_TOKEN, token),
    ];
    (headers, body).into_response()
}
