//! Every setting in one table: file, then environment, then flags; a bad one stops the start and is named.

mod reader;
mod secret;
mod settings;
mod show;
mod table;
mod values;

pub use secret::Secret;
pub use settings::{
    JudgeProvider, JudgeSettings, LogSettings, OpenAiApi, PolicySettings, RateClass, Renderer,
    RendererSettings, SearchProvider, SearchSettings, SearchStrategy, ServerSettings, Settings,
    StoreSettings, WaitUntil, WebSettings,
};
pub use show::{Shown, markdown, shown};
pub use table::{SETTINGS, Setting, find};
pub use values::{ConfigError, Origin, Values};
