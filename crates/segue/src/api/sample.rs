//! The sample library: load, remove, restore.

use super::prelude::*;

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/library/sample",
            post_with(load, |op| {
                op.summary("Load the sample library and add a third of it to your library; operators only")
                    .response::<204, ()>()
            })
            .delete_with(remove, |op| {
                op.summary("Remove the sample library; it is not loaded again").response::<204, ()>()
            }),
        )
        .api_route(
            "/api/library/sample/restore",
            post_with(restore, |op| op.summary("Undo the removal").response::<204, ()>()),
        )
}

const OPERATORS_ONLY: &str = "Only an operator may load the sample library: see SEGUE_OPERATORS, or use 'segue sample'";

async fn load(State(state): Shared, caller: Caller) -> Result<StatusCode> {
    let operator = operator(&state, &caller, OPERATORS_ONLY)?;
    state.app.library().load_sample(&operator, &caller.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove(State(state): Shared, caller: Caller) -> Result<StatusCode> {
    state.app.library().remove_sample(&caller.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn restore(State(state): Shared, caller: Caller) -> Result<StatusCode> {
    state.app.library().restore_sample(&caller.id).await?;
    Ok(StatusCode::NO_CONTENT)
}
