//! The model that an operator connected on the settings page. It is used if no setting names a model.

use std::sync::{Arc, PoisonError};

use engine::Model;
use tokio_util::task::TaskTracker;
use tracing::warn;

use super::{Active, Fallback, Models, choose};
use crate::{
    Error,
    config::{Config, ModelChoice},
};

impl Models {
    /// The models of the settings, and the connected one. A connection that cannot be used must not prevent the start,
    /// because the operator corrects it on the page.
    pub(crate) async fn open(
        config: &Config,
        model: Arc<dyn Model>,
        connected: Option<Box<Config>>,
        spawned: &TaskTracker,
    ) -> anyhow::Result<Self> {
        let models = Self::new(config, model, spawned.clone())?;
        let Some(connected) = connected else { return Ok(models) };
        let ModelChoice::Of { provider, .. } = connected.model else { return Ok(models) };
        match Box::pin(choose(&connected)).await {
            Ok(model) => models.fall_back_to(Some((model, connected.providers.of(provider).url.clone()))),
            Err(error) => warn!("The model of the settings page is not used: {error:#}"),
        }
        Ok(models)
    }

    /// Uses this model from now on; `None`: the one of the settings. A server that was selected before is no longer
    /// used.
    pub(crate) fn connect(&self, connected: Option<(Arc<dyn Model>, String)>) -> Result<(), Error> {
        self.keep_selection(None)?;
        self.fall_back_to(connected);
        let mut active = self.0.active.write().unwrap_or_else(PoisonError::into_inner);
        *active = Active { model: self.fallback().model, selected: None };
        Ok(())
    }

    fn fall_back_to(&self, connected: Option<(Arc<dyn Model>, String)>) {
        let fallback = match connected {
            Some((model, server)) => Fallback { model, is_real: true, connected_to: Some(server) },
            None => self.0.of_settings.clone(),
        };
        let mut active = self.0.active.write().unwrap_or_else(PoisonError::into_inner);
        if active.selected.is_none() {
            active.model = fallback.model.clone();
        }
        *self.0.fallback.write().unwrap_or_else(PoisonError::into_inner) = fallback;
    }
}
