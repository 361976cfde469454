//! A provider whose responses the test chooses.
use axum::{
    Json, Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use portico_clock::Clock;
use portico_oidc::{Error, Identity, Provider, Redemption, Settings, Tokens};
use rcgen::PublicKeyData as _;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};
use tokio::net::TcpListener;

pub const CLIENT: &str = "portico";
pub const NONCE: &str = "the-nonce";

/// An Ed25519 key with its place in the key set.
pub struct Key {
    kid: String,
    pair: rcgen::KeyPair,
}

impl Key {
    pub fn new(kid: &str) -> Self {
        Self {
            kid: kid.to_owned(),
            pair: rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap(),
        }
    }

    pub fn jwk(&self) -> Value {
        json!({
            "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": self.kid,
            "x": URL_SAFE_NO_PAD.encode(self.pair.der_bytes()),
        })
    }

    pub fn public(&self) -> &[u8] {
        self.pair.der_bytes()
    }

    /// Signs claims under a header that names the key, with other members as given.
    pub fn sign(&self, header: &Value, claims: &Value) -> String {
        let mut head = json!({ "alg": "EdDSA", "kid": self.kid });
        for (name, value) in header.as_object().unwrap() {
            head[name] = value.clone();
        }
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", part(&head), part(claims));
        let key = EncodingKey::from_ed_der(&self.pair.serialize_der());
        let signature =
            jsonwebtoken::crypto::sign(message.as_bytes(), &key, Algorithm::EdDSA).unwrap();
        format!("{message}.{signature}")
    }
}

/// Signs with HMAC, as an attacker who knows only public keys can.
pub fn hmac_signed(key: &[u8], kid: &str, claims: &Value) -> String {
    let mut header = Header::new(Algorithm::HS256);
    header.kid = Some(kid.to_owned());
    jsonwebtoken::encode(&header, claims, &EncodingKey::from_secret(key)).unwrap()
}

#[derive(Default)]
pub struct Replies {
    pub discovery: Mutex<Value>,
    pub keys: Mutex<Vec<Value>>,
    pub token: Mutex<Value>,
    /// Claims, or a signed response as text.
    pub userinfo: Mutex<Value>,
    pub userinfo_status: Mutex<StatusCode>,
    /// The media type of the key set, if it is not JSON's.
    pub key_media_type: Mutex<Option<&'static str>>,
    pub key_fetches: AtomicUsize,
    pub discoveries: AtomicUsize,
}

pub struct StandIn {
    pub issuer: String,
    pub replies: Arc<Replies>,
    pub key: Key,
}

impl StandIn {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let key = Key::new("k1");
        let replies = Arc::new(Replies::default());
        *replies.discovery.lock().unwrap() = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/auth"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/jwks"),
            "userinfo_endpoint": format!("{issuer}/userinfo"),
            "authorization_response_iss_parameter_supported": true,
        });
        *replies.keys.lock().unwrap() = vec![key.jwk()];
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/jwks", get(keys))
            .route("/token", post(token))
            .route("/userinfo", get(userinfo))
            .with_state(Arc::clone(&replies));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            issuer,
            replies,
            key,
        }
    }

    pub fn settings(&self) -> Settings {
        Settings::new(&self.issuer, CLIENT, Some(SecretString::from("secret")))
    }

    pub fn provider(&self) -> Provider {
        Provider::new(self.settings(), Clock::system()).unwrap()
    }

    /// Returns the claims of a valid ID token.
    pub fn claims(&self) -> Value {
        let now = Clock::system().now().as_second();
        json!({
            "iss": self.issuer, "sub": "ada", "aud": CLIENT, "iat": now, "exp": now + 300,
            "nonce": NONCE, "groups": ["ops"],
        })
    }

    pub fn gives(&self, id_token: &str) {
        *self.replies.token.lock().unwrap() = json!({
            "access_token": "access", "token_type": "Bearer", "expires_in": 300,
            "refresh_token": "refresh-2", "id_token": id_token,
        });
    }

    /// Returns the user's identity at sign-in.
    pub fn known(&self) -> Identity {
        Identity {
            issuer: self.issuer.clone(),
            subject: "ada".to_owned(),
            session: None,
            name: "ada".to_owned(),
            display_name: None,
            email: None,
            groups: vec!["ops".to_owned()],
            roles: Vec::new(),
            methods: Vec::new(),
            authenticated_at: None,
        }
    }
}

/// Redeems a code; the provider responds with what the test has set.
pub async fn redeem(provider: &Provider) -> Result<Tokens, Error> {
    let redirect = "https://portico.example.org/oauth2/callback/x"
        .parse()
        .unwrap();
    provider
        .finish(&Redemption {
            code: SecretString::from("code"),
            nonce: &SecretString::from(NONCE),
            verifier: &SecretString::from("v".repeat(43)),
            redirect: &redirect,
        })
        .await
}

async fn discovery(State(replies): State<Arc<Replies>>) -> Json<Value> {
    replies.discoveries.fetch_add(1, Ordering::SeqCst);
    Json(replies.discovery.lock().unwrap().clone())
}

async fn keys(State(replies): State<Arc<Replies>>) -> Response {
    replies.key_fetches.fetch_add(1, Ordering::SeqCst);
    let keys = Json(json!({ "keys": *replies.keys.lock().unwrap() }));
    match *replies.key_media_type.lock().unwrap() {
        Some(media_type) => ([(header::CONTENT_TYPE, media_type)], keys).into_response(),
        None => keys.into_response(),
    }
}

async fn token(State(replies): State<Arc<Replies>>) -> Response {
    let answer = replies.token.lock().unwrap().clone();
    let status = if answer.get("error").is_some() {
        StatusCode::BAD_REQUEST
    } else {
        StatusCode::OK
    };
    (status, Json(answer)).into_response()
}

async fn userinfo(State(replies): State<Arc<Replies>>) -> Response {
    let status = *replies.userinfo_status.lock().unwrap();
    match replies.userinfo.lock().unwrap().clone() {
        Value::String(signed) => {
            let media_type = [(header::CONTENT_TYPE, "application/jwt; charset=utf-8")];
            (status, media_type, signed).into_response()
        }
        claims => (status, Json(claims)).into_response(),
    }
}
