//! What ends a handler early.
use axum::response::{IntoResponse, Response};
use portico_store::StoreError;

use super::error_response::Problem;
use crate::{
    hosts::rate_limit::RateLimited,
    sessions::{assertion::AssertionError, keystone_tokens::TokenError, stay_signed_in::StayError},
};

/// Why a handler stopped: a problem, or a response that redirects.
#[derive(Debug)]
pub(crate) enum Interrupt {
    Problem(Box<Problem>),
    Answer(Box<Response>),
}

impl From<Problem> for Interrupt {
    fn from(problem: Problem) -> Self {
        Interrupt::Problem(Box::new(problem))
    }
}

impl From<AssertionError> for Interrupt {
    fn from(error: AssertionError) -> Self {
        Problem::from(error).into()
    }
}

impl From<RateLimited> for Interrupt {
    fn from(error: RateLimited) -> Self {
        Problem::from(error).into()
    }
}

impl From<StayError> for Interrupt {
    fn from(error: StayError) -> Self {
        Problem::from(error).into()
    }
}

impl From<TokenError> for Interrupt {
    fn from(error: TokenError) -> Self {
        Problem::from(error).into()
    }
}

impl From<StoreError> for Interrupt {
    fn from(error: StoreError) -> Self {
        Problem::from(error).into()
    }
}

impl IntoResponse for Interrupt {
    fn into_response(self) -> Response {
        match self {
            Interrupt::Problem(problem) => problem.into_response(),
            Interrupt::Answer(response) => *response,
        }
    }
}
