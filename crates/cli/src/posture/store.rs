//! The store of these settings as it lies there.

use blastshield_config::StoreSettings;
use blastshield_store::StoreState;

/// Looks at it without touching it.
pub(crate) fn look(settings: &StoreSettings) -> StoreState {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else {
        return StoreState::Unusable("no runtime to look at it");
    };
    runtime.block_on(async {
        match &settings.url {
            Some(url) => StoreState::of_postgres(url.reveal()).await,
            None => StoreState::of_sqlite(&settings.path).await,
        }
    })
}
