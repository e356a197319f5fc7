//! Every setting in one table: file, then environment, then flags; a bad one stops the start and is named.

mod reader;
mod secret;
mod settings;
mod show;
mod table;
mod values;

pub use secret::Secret;
pub use settings::{
    AbuseAction, AbusePattern, AbuseSettings, AlertSettings, ApprovalSettings, CanaryEntry,
    CanarySettings, EgressAgent, EgressMode, EgressSettings, EnvironmentSettings, JudgeProvider,
    JudgeSettings, LeakSettings, LogSettings, OpenAiApi, OutputSettings, OwnPattern, OwnTrigger,
    PolicySettings, ProxySettings, RateClass, RateSettings, Renderer, RendererSettings,
    SHIPPED_PATTERNS, SearchProvider, SearchSettings, SearchStrategy, SecuritySettings,
    ServerSettings, Settings, StatusSettings, StoreSettings, TelegramSettings, ToolResultSettings,
    WaitUntil, WalletNetwork, WalletSettings, WebSettings,
};
pub use show::{Shown, markdown, shown};
pub use table::{SETTINGS, Setting, find};
pub use values::{ConfigError, Origin, Values};
