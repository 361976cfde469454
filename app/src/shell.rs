//! The document around the app; rendered on the server only.
use crate::{app::App, context::initial_session};
use leptos::{
    config::LeptosOptions,
    hydration::{AutoReload, HydrationScripts},
    nonce::use_nonce,
    prelude::*,
};
use leptos_meta::{HashedStylesheet, MetaTags};

/// Runs before the first paint: sets the chosen appearance, so that nothing flashes. The gateway
/// reads the same cookie for its own pages, and passes none of Portico's on to the panel.
const APPLY_THEME: &str = "try{var t=/(?:^|; )portico-theme=(light|dark)(?:;|$)/.exec(document.cookie);\
    if(t)document.documentElement.setAttribute('data-theme',t[1])}catch(e){}";

/// Notes what the user enters before the page is hydrated, which sets fields to their initial values, and gives it
/// back afterwards: with the events that the page then handles.
const EARLY_INPUT: &str = include_str!("early_input.js");

/// Renders the whole document. Its inline scripts carry the response's nonce.
pub fn shell(options: LeptosOptions) -> impl IntoView {
    let csrf_token = initial_session().csrf_token;
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <meta name="csrf-token" content=csrf_token />
                <link rel="icon" type="image/svg+xml" href="/favicon.svg" />
                <HashedStylesheet options=options.clone() />
                <script nonce=use_nonce()>{APPLY_THEME}</script>
                <script nonce=use_nonce()>{EARLY_INPUT}</script>
                <AutoReload options=options.clone() />
                <HydrationScripts options />
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
}
