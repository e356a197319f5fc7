//! Renders pages in a local Chromium, where nothing the page asks for escapes the address guard and the domain policy.
//!
//! [`Chromium::render`] gives every page a browser context of its own, whose only way out is a door: a forward proxy
//! on loopback that checks, resolves once and dials what the guard admitted, for documents, subresources, redirects and
//! WebSockets alike. The browser resolves no names and speaks no UDP.

mod browser;
mod cdp;
mod chromium;
mod context;
mod door;
mod error;
mod flags;
mod forward;
mod options;
mod page;
mod process;
mod progress;
mod traffic;
mod tunnel;
mod wire;

pub use chromium::Chromium;
pub use error::{LaunchError, RenderError};
pub use options::{ChromiumOptions, RenderOptions, Rendered, TrafficLimits, WaitUntil};
