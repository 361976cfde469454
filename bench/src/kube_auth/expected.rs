//! The expected content of a response, compared while the clock runs.
use anyhow::{Result, bail};
use bytes::Bytes;

/// The expected response for one token.
#[derive(Clone, Debug)]
pub enum Expected {
    /// This user and none of the others.
    User { uid: String, others: Vec<String> },
    /// `authenticated: false`.
    Refused,
    /// This text.
    Exactly(Bytes),
}

impl Expected {
    /// Compares a response.
    pub fn check(&self, answer: &[u8]) -> Result<()> {
        let text = std::str::from_utf8(answer)?;
        let right = match self {
            Self::User { uid, others } => {
                field(text, r#""uid":""#) == Some(uid)
                    && !others.iter().any(|other| text.contains(other.as_str()))
            }
            Self::Refused => text.contains(r#""authenticated":false"#) && !text.contains("\"uid\""),
            Self::Exactly(expected) => answer == expected,
        };
        if !right {
            bail!("a wrong answer: expected {self:?}, got {text}");
        }
        Ok(())
    }
}

fn field<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    text.split_once(start)?.1.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ada() -> Expected {
        Expected::User {
            uid: "ada".to_owned(),
            others: vec!["otto".to_owned()],
        }
    }

    #[test]
    fn only_the_right_user_alone_passes() {
        let answer = |uid: &str, group: &str| {
            format!(
                r#"{{"status":{{"authenticated":true,"user":{{"uid":"{uid}","groups":["{group}"]}}}}}}"#
            )
        };
        assert!(ada().check(answer("ada", "x").as_bytes()).is_ok());
        for (uid, group) in [("otto", "x"), ("ada", "user:otto"), ("adam", "x")] {
            assert!(ada().check(answer(uid, group).as_bytes()).is_err());
        }
    }

    #[test]
    fn a_refusal_is_not_a_user() {
        let refusal = br#"{"status":{"authenticated":false}}"#;
        assert!(ada().check(refusal).is_err());
        assert!(Expected::Refused.check(refusal).is_ok());
        assert!(Expected::Refused.check(b"{}").is_err());
    }
}
