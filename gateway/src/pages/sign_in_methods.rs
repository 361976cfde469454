//! Sign-in methods besides the password: forms under a disclosure, and buttons for single sign-on.
use http::StatusCode;
use maud::{Markup, html};

use crate::config::{KeystoneMethod, KeystoneSignIn};

/// What was entered into one of the other forms, to be shown again. Never a secret.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Attempted<'a> {
    #[default]
    Nothing,
    ApplicationCredential {
        credential: &'a str,
        user: &'a str,
    },
    Token,
}

/// The sign-in methods besides the password, as configured.
pub(crate) struct SignInMethods<'a> {
    pub keystone: &'a KeystoneSignIn,
    pub attempted: Attempted<'a>,
    pub domain: &'a str,
    pub status: StatusCode,
}

impl SignInMethods<'_> {
    /// Returns whether none of these methods was tried.
    pub fn nothing_tried(&self) -> bool {
        matches!(self.attempted, Attempted::Nothing)
    }

    /// Returns the origins that the buttons lead to.
    pub fn origins(&self) -> Vec<String> {
        let mut origins: Vec<String> = self
            .keystone
            .websso
            .iter()
            .map(|way| way.origin())
            .collect();
        origins.dedup();
        origins
    }

    /// Returns one button for each single sign-on.
    pub fn single_sign_on(&self, fields: &Markup) -> Markup {
        html! {
            @if !self.keystone.websso.is_empty() {
                form method="post" action="/oauth2/websso/start" {
                    (fields)
                    @for way in &self.keystone.websso {
                        button.submit type="submit" name="way" value=(way.id) {
                            "Sign in with " (way.label)
                        }
                    }
                }
            }
        }
    }

    /// Returns the other forms under a disclosure: a `details` element, which keyboards can open
    /// too.
    pub fn disclosure(&self, fields: &Markup) -> Markup {
        let credential = self.keystone.offers(KeystoneMethod::ApplicationCredential);
        let token = self.keystone.offers(KeystoneMethod::Token);
        html! {
            @if credential || token {
                details #other-ways open[!self.nothing_tried()] {
                    summary { "Other ways to sign in" }
                    @if credential { (self.application_credential(fields)) }
                    @if token { (self.token(fields)) }
                }
            }
        }
    }

    fn application_credential(&self, fields: &Markup) -> Markup {
        let (credential, user, here) = match self.attempted {
            Attempted::ApplicationCredential { credential, user } => (credential, user, true),
            _ => ("", "", false),
        };
        html! {
            section aria-labelledby="credential-title" {
                h2 #credential-title { "Application credential" }
                form method="post" action="/oauth2/sign_in/application_credential" {
                    (fields)
                    (credential_fields("ID or name", credential, here, self.invalid(here)))
                    details open[!user.is_empty()] {
                        summary { "By name" }
                        label for="credential-user" { "User name" }
                        input #credential-user type="text" name="user" value=(user) maxlength="255"
                            autocomplete="off" autocapitalize="none" spellcheck="false"
                            aria-describedby="credential-user-hint";
                        p #credential-user-hint.hint {
                            "Only where you wrote the credential's name above: whose it is."
                        }
                        label for="credential-domain" { "Keystone domain" }
                        input #credential-domain type="text" name="domain" value=(self.domain)
                            maxlength="255" autocomplete="off" autocapitalize="none"
                            spellcheck="false";
                    }
                    p.hint {
                        "You work in the credential's project with its roles, until its token ends."
                    }
                    button.submit type="submit" { "Sign in with the credential" }
                }
            }
        }
    }

    fn token(&self, fields: &Markup) -> Markup {
        let here = matches!(self.attempted, Attempted::Token);
        html! {
            section aria-labelledby="token-title" {
                h2 #token-title { "Keystone token" }
                form method="post" action="/oauth2/sign_in/token" {
                    (fields)
                    (token_fields(here, self.invalid(here)))
                    label.check {
                        input type="checkbox" name="end_token" value="1";
                        " End this token too when I sign out"
                    }
                    p.hint {
                        "Portico works with a token of its own that is made from yours. It ends \
                         when yours ends; at sign-out Portico's is revoked, and yours only if you \
                         choose so."
                    }
                    button.submit type="submit" { "Sign in with the token" }
                }
            }
        }
    }

    fn invalid(&self, here: bool) -> bool {
        here && self.status == StatusCode::UNAUTHORIZED
    }
}

/// Returns the fields for an application credential.
pub(crate) fn credential_fields(
    label: &str,
    credential: &str,
    focus: bool,
    invalid: bool,
) -> Markup {
    html! {
        label for="credential" { (label) }
        input #credential type="text" name="credential" value=(credential) required maxlength="255"
            autocomplete="off" autocapitalize="none" spellcheck="false";
        label for="secret" { "Secret" }
        input #secret type="password" name="secret" required maxlength="4096" autocomplete="off"
            autofocus[focus] aria-invalid=[invalid.then_some("true")];
    }
}

/// Returns the field for an existing token.
pub(crate) fn token_fields(focus: bool, invalid: bool) -> Markup {
    html! {
        label for="token" { "Token" }
        input #token type="password" name="token" required maxlength="8192" autocomplete="off"
            spellcheck="false" autofocus[focus] aria-invalid=[invalid.then_some("true")];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::WebSso;
    use portico_testkit::{html_lines, snapshot_settings};

    fn ways(methods: &[KeystoneMethod]) -> KeystoneSignIn {
        KeystoneSignIn {
            methods: methods.to_vec(),
            ..KeystoneSignIn::default()
        }
    }

    fn shown(keystone: &KeystoneSignIn, attempted: Attempted<'_>, status: StatusCode) -> String {
        let ways = SignInMethods {
            keystone,
            attempted,
            domain: "Default",
            status,
        };
        let fields = html! { (super::super::layout::hidden("csrf_token", "c")) };
        let (buttons, disclosure) = (ways.single_sign_on(&fields), ways.disclosure(&fields));
        html! { (buttons) (disclosure) }.into_string()
    }

    #[test]
    fn nothing_more_is_shown_than_is_offered() {
        let password_only = KeystoneSignIn::default();
        assert_eq!(
            shown(&password_only, Attempted::Nothing, StatusCode::OK),
            ""
        );
        let page = shown(
            &ways(&[KeystoneMethod::Token]),
            Attempted::Nothing,
            StatusCode::OK,
        );
        snapshot_settings().bind(|| insta::assert_snapshot!("token_only", html_lines(&page)));
    }

    #[test]
    fn a_failed_way_stays_open_with_what_was_typed_and_is_marked() {
        let offered = ways(&[KeystoneMethod::ApplicationCredential, KeystoneMethod::Token]);
        let attempted = Attempted::ApplicationCredential {
            credential: "ci<1>",
            user: "ada",
        };
        let page = shown(&offered, attempted, StatusCode::UNAUTHORIZED);
        snapshot_settings().bind(|| {
            insta::assert_snapshot!("failed_application_credential", html_lines(&page));
        });
        assert!(page.contains("value=\"ci&lt;1&gt;\""), "{page}");
        assert_eq!(page.matches("name=\"csrf_token\"").count(), 2);
    }

    #[test]
    fn single_sign_on_is_a_button_with_its_label() {
        let offered = KeystoneSignIn {
            methods: Vec::new(),
            websso: vec![WebSso {
                id: "company".to_owned(),
                label: "the company account".to_owned(),
                url: "https://keystone.example.org:5000/v3".parse().expect("url"),
                identity_provider: None,
                protocol: "openid".to_owned(),
            }],
            ..KeystoneSignIn::default()
        };
        let page = shown(&offered, Attempted::Nothing, StatusCode::OK);
        snapshot_settings().bind(|| insta::assert_snapshot!("single_sign_on", html_lines(&page)));
        let ways = SignInMethods {
            keystone: &offered,
            attempted: Attempted::Nothing,
            domain: "Default",
            status: StatusCode::OK,
        };
        assert_eq!(ways.origins(), ["https://keystone.example.org:5000"]);
    }
}
