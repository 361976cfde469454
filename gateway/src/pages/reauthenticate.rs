//! The page for confirming one's identity in a session that continues, with the methods possible
//! for it.
use maud::{Markup, html};

use super::{
    layout::{Page, hidden},
    sign_in_methods::{credential_fields, token_fields},
};
use crate::{
    config::{KeystoneMethod, KeystoneSignIn},
    http::csrf,
};

/// The contents of the page. Only the session's own user can continue it.
pub(crate) struct Again<'a> {
    pub user: &'a str,
    /// The project of an application credential that the session is bound to.
    pub bound_to: Option<&'a str>,
    pub keystone: &'a KeystoneSignIn,
    pub return_path: &'a str,
    pub csrf: &'a str,
}

impl Again<'_> {
    pub fn page(&self) -> Page {
        let body = html! {
            h1 { "Stay signed in" }
            p.lead { "as " strong { (self.user) } }
            @match self.bound_to {
                Some(project) => { (self.credential(project)) },
                None => { (self.account()) },
            }
            p.hint {
                "Only this account can continue this session. "
                a href="/oauth2/sign_in?prompt=login" { "Sign in as another user" }
            }
        };
        let mut page = Page::new("Stay signed in", body);
        if self.bound_to.is_none() {
            for way in &self.keystone.websso {
                page = page.form_may_reach(way.origin());
            }
        }
        page
    }

    fn hidden_fields(&self) -> Markup {
        html! {
            (hidden(csrf::FIELD, self.csrf))
            (hidden("rd", self.return_path))
        }
    }

    fn credential(&self, project: &str) -> Markup {
        html! {
            p { "This session is an application credential's, in project " strong { (project) }
                ". Enter the credential again, or another one of yours for the same project." }
            form method="post" action="/oauth2/reauthenticate" {
                (self.hidden_fields())
                (credential_fields("Credential ID", "", false, false))
                button.submit type="submit" { "Stay signed in" }
            }
        }
    }

    fn account(&self) -> Markup {
        let offers = |method| self.keystone.offers(method);
        html! {
            @if !self.keystone.websso.is_empty() {
                form method="post" action="/oauth2/websso/start" {
                    (self.hidden_fields())
                    (hidden("reauthenticate", "1"))
                    @for way in &self.keystone.websso {
                        button.submit type="submit" name="way" value=(way.id) {
                            "Confirm with " (way.label)
                        }
                    }
                }
            }
            @if offers(KeystoneMethod::Password) {
                form method="post" action="/oauth2/reauthenticate" {
                    (self.hidden_fields())
                    label for="password" { "Password" }
                    input #password type="password" name="password" required maxlength="4096"
                        autocomplete="current-password";
                    @if offers(KeystoneMethod::Totp) {
                        label for="passcode" { "One-time code, if your account asks for one" }
                        input #passcode.code type="text" name="passcode" inputmode="numeric"
                            autocomplete="one-time-code" maxlength="12" spellcheck="false";
                    }
                    button.submit type="submit" { "Stay signed in" }
                }
            }
            @if offers(KeystoneMethod::Token) {
                details {
                    summary { "With a Keystone token" }
                    form method="post" action="/oauth2/reauthenticate" {
                        (self.hidden_fields())
                        (token_fields(false, false))
                        button.submit type="submit" { "Stay signed in" }
                    }
                }
            }
        }
    }
}
