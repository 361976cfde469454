//! One sign-in at the pinned Keystone.
use super::method::{self, CredentialRef, Method};
use super::pin::Pin;
use super::refusals::Refusals;
use super::settings::Settings;
use crate::direct_error::DirectError;
use crate::{error::CommandError, terminal};
use portico_clock::Clock;
use portico_domain::cluster::SERVICE_TYPE;
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::{
    self, ApplicationCredential, AuthOutcome, Client, IssuedToken, Login, Scope, TokenDetails,
    TokenScope, UserRef,
};
use secrecy::{ExposeSecret as _, SecretString};

/// A sign-in: the user and the Keystone.
pub struct SignIn<'a> {
    pin: &'a Pin,
    settings: &'a Settings,
    method: Method,
    client: Client,
    /// Whether the user may be prompted for missing secrets.
    interactive: bool,
}

impl<'a> SignIn<'a> {
    /// Refuses a Keystone that is not the pinned one; nothing has been sent then.
    pub fn new(
        pin: &'a Pin,
        settings: &'a Settings,
        interactive: bool,
        clock: &Clock,
    ) -> Result<Self, DirectError> {
        pin.check_auth_url(settings.auth_url()?.as_ref(), &settings.source)?;
        // the pinned authority is used; this only detects a disabled verification
        settings.authority()?;
        let mut config = KeystoneConfig::new(pin.auth_url.clone());
        // no TokenReview waits here, and a busy Keystone takes seconds for a password
        config.timeout = std::time::Duration::from_secs(20);
        Ok(Self {
            pin,
            settings,
            method: Method::of(settings, &pin.cloud)?,
            client: Client::for_command_line(&config, pin.auth_ca.as_deref(), clock.clone())?,
            interactive,
        })
    }

    /// Returns the client for the pinned Keystone.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns whether this token was supplied by the user, who is then responsible for revoking
    /// it.
    pub fn was_given(&self, token: &SecretString) -> bool {
        let same = |own: &SecretString| own.expose_secret() == token.expose_secret();
        matches!(&self.method, Method::Token(own) if same(own))
    }

    /// Returns the parts that identify a token of this user in this project.
    pub fn parts(&self) -> [String; 4] {
        [
            self.pin.cloud.clone(),
            self.pin.auth_url.to_string(),
            self.method.fingerprint(),
            format!("{:?}", method::scope(self.settings)),
        ]
    }

    /// Returns a token scoped to the project. Credentials that were refused recently are not sent
    /// again unless `refusals` is `None`.
    pub async fn token(&self, refusals: Option<&Refusals>) -> Result<IssuedToken, CommandError> {
        let (method, asked) = self.complete().await?;
        if let Some(refusals) = refusals {
            refusals.check(&self.pin.cloud, &secret_of(&method))?;
        }
        let result = self.exchange(&method).await;
        if let (Some(refusals), false) = (refusals, asked) {
            match &result {
                Err(CommandError::Direct(DirectError::Refused { .. })) => {
                    refusals.remember(&secret_of(&method));
                }
                Ok(_) => refusals.forget(),
                Err(_) => {}
            }
        }
        let issued = result?;
        self.check(&issued.details)?;
        Ok(issued)
    }

    /// Returns the method with the secrets that were prompted for, and whether the user was
    /// prompted.
    async fn complete(&self) -> Result<(Method, bool), CommandError> {
        let mut method = self.method.clone();
        let asked = match &mut method {
            Method::Password { user, password, .. } => {
                let question = format!("Password of {} at {}", shown(user), self.pin.auth_url);
                self.ask(password, &question, "password", "OS_PASSWORD")
                    .await?
            }
            Method::Totp { user, passcode } => {
                let question = format!("One-time passcode of {}", shown(user));
                self.ask(passcode, &question, "one-time passcode", "OS_PASSCODE")
                    .await?
            }
            Method::ApplicationCredential { secret, .. } => {
                let variable = "OS_APPLICATION_CREDENTIAL_SECRET";
                let what = "secret of the application credential";
                self.ask(
                    secret,
                    "Secret of the application credential",
                    what,
                    variable,
                )
                .await?
            }
            Method::Token(_) => false,
        };
        Ok((method, asked))
    }

    async fn ask(
        &self,
        secret: &mut Option<SecretString>,
        question: &str,
        what: &'static str,
        variable: &'static str,
    ) -> Result<bool, CommandError> {
        if secret.is_some() {
            return Ok(false);
        }
        if !self.interactive {
            return Err(method::missing(self.settings, &self.pin.cloud, what, variable).into());
        }
        *secret = Some(terminal::ask_secret(question).await?);
        Ok(true)
    }

    async fn exchange(&self, method: &Method) -> Result<IssuedToken, CommandError> {
        let scope = method::scope(self.settings);
        match method {
            Method::Password {
                user,
                password,
                passcode,
            } => {
                let password = password.clone().unwrap_or_default();
                let login = Login::with_password(user.clone(), password, scope.clone());
                match self.authenticate(&login, "the password").await? {
                    AuthOutcome::Token(issued) => Ok(*issued),
                    AuthOutcome::ReceiptRequired { receipt, required } => {
                        let wants_totp = |set: &Vec<String>| set.iter().any(|one| one == "totp");
                        if !required.iter().any(wants_totp) {
                            return Err(other_factors(&required).into());
                        }
                        let mut passcode = passcode.clone();
                        let question = format!("One-time passcode of {}", shown(user));
                        self.ask(&mut passcode, &question, "one-time passcode", "OS_PASSCODE")
                            .await?;
                        let passcode = passcode.unwrap_or_default();
                        let login = Login::with_passcode(user.clone(), passcode, receipt, scope);
                        self.finish(&login, "the one-time passcode").await
                    }
                }
            }
            Method::Totp { user, passcode } => {
                let login = Login {
                    user: user.clone(),
                    password: None,
                    passcode: passcode.clone(),
                    receipt: None,
                    scope,
                };
                self.finish(&login, "the one-time passcode").await
            }
            Method::ApplicationCredential { id, secret } => {
                let secret = secret.clone().unwrap_or_default();
                let credential = match id.clone() {
                    CredentialRef::Id(id) => ApplicationCredential::Id { id, secret },
                    CredentialRef::Name { name, user } => {
                        ApplicationCredential::Name { name, user, secret }
                    }
                };
                let issued = self.client.authenticate_application_credential(&credential);
                Ok(issued
                    .await
                    .map_err(self.failed("the application credential"))?)
            }
            Method::Token(token) => self.rescoped(token, &scope).await,
        }
    }

    /// Returns a token for the project; the token itself if it is for the project already, since
    /// some tokens cannot be rescoped.
    async fn rescoped(
        &self,
        token: &SecretString,
        scope: &Scope,
    ) -> Result<IssuedToken, CommandError> {
        let validated = self.client.validate(token).await;
        let details = validated.map_err(|source| match self.failed("the token")(source) {
            // not a matter of user, project and role
            DirectError::Refused {
                keystone,
                source_name,
                ..
            } => DirectError::TokenRefused {
                keystone,
                source_name,
            },
            other => other,
        })?;
        let fits = details.scope == TokenScope::Project && self.is_asked_for(&details);
        if fits || details.application_credential.is_some() {
            let token = token.clone();
            return Ok(IssuedToken { token, details });
        }
        let issued = self.client.exchange(token, scope).await;
        Ok(issued.map_err(self.failed("the token"))?)
    }

    async fn authenticate(
        &self,
        login: &Login,
        what: &'static str,
    ) -> Result<AuthOutcome, DirectError> {
        let outcome = self.client.authenticate(login).await;
        outcome.map_err(self.failed(what))
    }

    async fn finish(&self, login: &Login, what: &'static str) -> Result<IssuedToken, CommandError> {
        match self.authenticate(login, what).await? {
            AuthOutcome::Token(issued) => Ok(*issued),
            AuthOutcome::ReceiptRequired { required, .. } => Err(other_factors(&required).into()),
        }
    }

    /// Turns Keystone's response into a sentence about the `what` that was sent.
    pub fn failed(&self, what: &'static str) -> impl FnOnce(keystone::Error) -> DirectError + '_ {
        move |source| {
            let keystone = self.pin.auth_url.to_string();
            if source.is_refusal() {
                let source_name = self.settings.source.clone();
                DirectError::Refused {
                    keystone,
                    what,
                    source_name,
                }
            } else {
                DirectError::Keystone { keystone, source }
            }
        }
    }

    fn is_asked_for(&self, details: &TokenDetails) -> bool {
        let Some(project) = &details.identity.project else {
            return false;
        };
        match (self.settings.project_id(), self.settings.project_name()) {
            (Some(id), _) => project.id == id,
            (None, Some(name)) => project.name == name,
            (None, None) => true,
        }
    }

    /// Reports here what kube-auth would refuse, so that the user can correct it.
    fn check(&self, details: &TokenDetails) -> Result<(), DirectError> {
        let source_name = || self.settings.source.clone();
        let credential = details.application_credential.as_ref();
        if credential.is_some_and(|credential| !credential.is_for(SERVICE_TYPE)) {
            return Err(DirectError::AccessRules);
        }
        let Some(project) = &details.identity.project else {
            return Err(DirectError::NoProject(source_name()));
        };
        if !self.is_asked_for(details) {
            return Err(DirectError::ProjectBuiltIn {
                built_in: project.name.clone(),
                asked: self.settings.project().unwrap_or_default().to_owned(),
                source_name: source_name(),
            });
        }
        Ok(())
    }
}

fn shown(user: &UserRef) -> &str {
    match user {
        UserRef::Id(name) | UserRef::Name { name, .. } | UserRef::NameInDomain { name, .. } => name,
    }
}

fn other_factors(required: &[Vec<String>]) -> DirectError {
    let sets: Vec<String> = required.iter().map(|set| set.join(" and ")).collect();
    DirectError::OtherFactors(sets.join(", or "))
}

/// Returns the part of the credentials that a recorded refusal is about, so that a corrected secret
/// is tried at once.
fn secret_of(method: &Method) -> String {
    let text = |secret: &Option<SecretString>| {
        let secret = secret.as_ref();
        secret.map_or(String::new(), |secret| secret.expose_secret().to_owned())
    };
    match method {
        Method::Password {
            password, passcode, ..
        } => format!("{}\0{}", text(password), text(passcode)),
        Method::Totp { passcode, .. } => text(passcode),
        Method::ApplicationCredential { secret, .. } => text(secret),
        Method::Token(token) => token.expose_secret().to_owned(),
    }
}
