//! Who is asking: the one place that turns a request into a caller.

use std::sync::Arc;

use aide::{OperationInput, generate::GenContext, openapi::Operation};
use app::config::AuthMode;
use axum::{
    extract::{FromRequestParts, Request, State},
    http::request::Parts,
    middleware::Next,
    response::{IntoResponse, Response},
};
use engine::UserId;

use crate::{error::ApiError, local_origin, router::Doors};

/// The one person of `local` mode.
pub const LOCAL_USER: &str = "local";

/// Someone who has been let in.
#[derive(Clone, Debug)]
pub struct Caller {
    pub id: UserId,
    pub name: String,
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        parts.extensions.get::<Caller>().cloned().ok_or_else(|| ApiError::unauthorized("Please sign in."))
    }
}

impl OperationInput for Caller {
    fn operation_input(_: &mut GenContext, operation: &mut Operation) {
        operation.security.push([("bearer".to_owned(), Vec::new())].into_iter().collect());
    }
}

/// Lets a request in, or says why not, before any handler sees it.
pub async fn identify(State(doors): State<Arc<Doors>>, mut request: Request, next: Next) -> Response {
    let caller = match doors.app.config.auth {
        AuthMode::Local => {
            local_origin::check(request.headers()).map(|()| Caller { id: UserId::new(LOCAL_USER), name: "You".into() })
        }
        AuthMode::Accounts | AuthMode::Jwt => Err(ApiError::unauthorized("Please sign in.")),
    };
    match caller {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(refusal) => refusal.into_response(),
    }
}
