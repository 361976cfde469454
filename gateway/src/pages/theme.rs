//! The appearance that a user chose in the panel, for the pages of the gateway itself.
tokio::task_local! {
    static CHOSEN: Theme;
}

/// An appearance. The panel stores it in a cookie that identifies no user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    /// As the system has it.
    System,
    Light,
    Dark,
}

impl Theme {
    /// Returns the theme by the value of its cookie; the system's without it, or with another value.
    pub fn of(chosen: Option<&str>) -> Self {
        match chosen {
            Some("light") => Self::Light,
            Some("dark") => Self::Dark,
            _ => Self::System,
        }
    }

    /// Returns the theme of the request that is being handled.
    pub fn current() -> Self {
        CHOSEN.try_with(|theme| *theme).unwrap_or(Self::System)
    }

    /// Returns the value of the attribute that the style sheet reads; `None` for the system's.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::System => None,
            Self::Light => Some("light"),
            Self::Dark => Some("dark"),
        }
    }

    /// Handles a request whose pages have this theme.
    pub async fn scope<F: Future>(self, handle: F) -> F::Output {
        if self == Self::System {
            // what `current` returns without one
            return handle.await;
        }
        CHOSEN.scope(self, handle).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::cookies::Cookies;
    use http::{HeaderMap, HeaderValue, header};

    #[test]
    fn only_the_two_themes_are_read() {
        for (line, theme) in [
            ("portico-theme=dark", Theme::Dark),
            ("a=b; portico-theme=light", Theme::Light),
            ("portico-theme=\"><script>", Theme::System),
            ("portico-theme=", Theme::System),
            ("theme=dark", Theme::System),
            // one of them was planted
            ("portico-theme=dark; portico-theme=light", Theme::System),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::from_static(line));
            let [chosen, _] = Cookies { secure: true }.of_pages(&headers);
            assert_eq!(Theme::of(chosen), theme, "{line}");
        }
    }
}
