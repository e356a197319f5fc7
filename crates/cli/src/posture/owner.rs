//! Whether the owner can be asked, through what, and what needs no asking.

use super::check::{Check, Outcome, critical, found, found_if, warn};
use super::scene::Scene;
use super::server::said;
use super::services::is_open;
use std::time::Duration;
use url::Url;

const DAY: Duration = Duration::from_secs(86_400);

#[rustfmt::skip]
pub(super) const CHECKS: &[Check] = &[
    warn("owner.no_telegram", "The owner is not asked on a phone: what nobody decides on this machine is denied at its time-out", "set TELEGRAM_BOT_TOKEN and TELEGRAM_OWNER_ID, see docs/approvals.md", |s| found_if(s.settings.telegram.pair().is_none() && !half(s), || "neither telegram.bot_token nor telegram.owner_id is set".to_owned())),
    warn("owner.half_telegram", "The bot has a token and no owner, or the other way round: it asks nobody", "set both TELEGRAM_BOT_TOKEN and TELEGRAM_OWNER_ID", |s| found_if(half(s), || match s.settings.telegram.bot_token {
        Some(_) => "telegram.owner_id is not set".to_owned(),
        None => "telegram.bot_token is not set".to_owned(),
    })),
    critical("owner.telegram_plain_http", "The bot's token and all requests go through the network in the clear", "use an https address in telegram.base_url", |s| found_if(is_open(&s.settings.telegram.base_url), || "telegram.base_url is a plain http address on another host".to_owned())),
    warn("owner.telegram_elsewhere", "The bot's token goes to another server than Telegram's", "leave telegram.base_url at its default, or make sure that the server is yours", |s| found_if(s.settings.telegram.base_url.host_str() != Some("api.telegram.org"), || s.said("telegram.base_url"))),
    critical("owner.discord_plain_http", "Requests and alerts go to Discord in the clear", "use the https address that Discord gives", |s| match &s.settings.approvals.discord {
        None => Outcome::NotHere,
        Some(address) => match Url::parse(address.reveal()) {
            Ok(url) if is_open(&url) => found("alerts.discord_webhook_url is a plain http address on another host"),
            _ => Outcome::Fine,
        },
    }),
    critical("owner.link_plain_http", "The owner's token would be typed into a page that comes through the network in the clear", "serve the gateway behind https and say so in approvals.link_url", |s| match &s.settings.approvals.link {
        None => Outcome::NotHere,
        Some(url) => found_if(is_open(url), || "approvals.link_url is a plain http address on another host".to_owned()),
    }),
    warn("owner.posts_open", "Posts go out without the owner's yes", "set REQUIRE_POST_APPROVAL=true", |s| said(s, [("approvals.require_post_approval", !s.settings.approvals.posts)])),
    warn("owner.long_lived", "A request or a yes stays open so long that nobody remembers what it was about", "lower it to a day or less", |s| {
        let approvals = &s.settings.approvals;
        said(s, [
            ("approvals.use_within_seconds", approvals.use_within > DAY),
            ("approvals.payment_timeout_seconds", approvals.payment_timeout > DAY),
            ("approvals.http_timeout_seconds", approvals.http_timeout > DAY),
            ("approvals.post_timeout_seconds", approvals.post_timeout > 7 * DAY),
            ("approvals.skill_timeout_seconds", approvals.skill_timeout > 7 * DAY),
            ("approvals.custom_timeout_seconds", approvals.custom_timeout > 7 * DAY),
        ])
    }),
];

fn half(scene: &Scene) -> bool {
    let telegram = &scene.settings.telegram;
    telegram.bot_token.is_some() != telegram.owner_id.is_some()
}
