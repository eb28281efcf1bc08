//! `/openapi.json`: every route of the house, as programs read it.

use aide::openapi::{Info, OpenApi, SecurityScheme};
use axum::{Json, Router, routing::get};

/// The document before any route is in it.
pub(crate) fn beginning() -> OpenApi {
    let mut api = OpenApi {
        info: Info {
            title: "Segue".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            summary: Some("A self-hosted chat-agent server".into()),
            ..Info::default()
        },
        ..OpenApi::default()
    };
    let bearer = SecurityScheme::Http {
        scheme: "bearer".into(),
        bearer_format: None,
        description: Some("A token; the page uses a session cookie instead".into()),
        extensions: Default::default(),
    };
    let components = api.components.get_or_insert_default();
    components.security_schemes.insert("bearer".into(), aide::openapi::ReferenceOr::Item(bearer));
    api
}

/// Serves the document once every route is in it.
pub(crate) fn serve(router: Router, api: OpenApi) -> Router {
    let document = serde_json::to_value(&api).expect("the document is plain data");
    router.route("/openapi.json", get(async move || Json(document.clone())))
}
