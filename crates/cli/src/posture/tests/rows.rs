//! For every check: changes after which it must be fine, and changes after which it must find something.

use super::bench::Change::{self, Claw, Flag, Give, Link, Mode, Remove, Scene, Unset, Var, Write};
use super::bench::token;
use blastshield_audit::{
    LogError, Severity, Time,
    log::{Incident, Mark, Verdict},
};
use blastshield_store::StoreState;
use serde_json::json;

pub(super) type Row = (&'static str, Vec<Change>, Vec<Change>);

const PROFILE: &str = "CLAWRUBBER_PROFILE";
const DB_URL: &str = "BLASTSHIELD_DATABASE_URL";
const CHROMIUM: Change = Var("CLAWRUBBER_WEBSITE_RENDERER_BACKEND", "chromium");

#[rustfmt::skip]
pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    // Right in the good deployment, wrong after one or more changes.
    let mut add = |id, wrong: Vec<Change>| rows.push((id, Vec::new(), wrong));

    add("files.config_writable", vec![Mode("blastshield.toml", 0o620)]);
    add("files.config_readable", vec![Write("blastshield.toml", format!("[server]\nowner_token = \"{}\"", token("x"))), Mode("blastshield.toml", 0o604)]);
    add("files.config_owner", vec![Give("blastshield.toml")]);
    add("files.data_writable", vec![Mode("data", 0o770)]);
    add("files.data_readable", vec![Mode("data", 0o750)]);
    add("files.data_owner", vec![Give("data")]);
    add("files.links", vec![Link("data/owner-token")]);
    add("files.store_open", vec![Mode("data/blastshield.db", 0o640)]);
    add("files.store_owner", vec![Give("data/blastshield.db")]);
    add("files.token_open", vec![Mode("data/owner-token", 0o604)]);
    add("files.token_owner", vec![Give("data/owner-token")]);
    add("files.logs_folder", vec![Mode("data/logs", 0o701)]);
    add("files.logs_writable", vec![Mode("data/logs/access.jsonl", 0o602)]);
    add("files.logs_readable", vec![Mode("data/logs/security-supervisor-audit.log", 0o644)]);
    add("files.logs_owner", vec![Give("data/logs/access.jsonl")]);
    add("files.known_secrets", vec![Mode("known.txt", 0o604)]);
    add("files.prompts", vec![Mode("prompt.md", 0o620)]);
    add("files.named_missing", vec![Remove("prompt.md")]);

    add("secrets.in_config", vec![Write("blastshield.toml", format!("[server]\nowner_token = \"{}\"", token("x")))]);
    add("secrets.leaked_in_config", vec![Write("blastshield.toml", format!("# old: {}{}\n", "ghp_", "wQ3kd9".repeat(6)))]);
    add("secrets.on_command_line", vec![Flag("server.owner_token", "0123456789abcdefghijklmnopqrstuvwxyz")]);
    add("secrets.foreign_variables", vec![Var("OTHER_API_KEY", "0123456789")]);
    add("secrets.in_addresses", vec![Var("CLAWRUBBER_SEARXNG_BASE_URL", "https://me:word@search.example")]);
    add("tokens.same", vec![Var("BLASTSHIELD_OWNER_TOKEN", "one-token-for-all-of-them-0123456789"), Var("BLASTSHIELD_AGENT_TOKEN", "one-token-for-all-of-them-0123456789")]);
    add("tokens.reused", vec![Var("CLAWRUBBER_BRAVE_API_KEY", "one-token-for-all-of-them-0123456789"), Var("BLASTSHIELD_AGENT_TOKEN", "one-token-for-all-of-them-0123456789")]);
    add("tokens.short", vec![Var("BLASTSHIELD_AGENT_TOKEN", "0f3c9a71b2d84e65")]);
    add("tokens.guessable", vec![Var("BLASTSHIELD_AGENT_TOKEN", "please-ChangeMe-please-0123456789abc")]);
    add("tokens.guessable", vec![Var("BLASTSHIELD_AGENT_TOKEN", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")]);

    add("server.public", vec![Var("BLASTSHIELD_HOST", "0.0.0.0")]);
    add("server.public_without_tokens", vec![Var("BLASTSHIELD_HOST", "192.0.2.7")]);
    add("server.no_agent_token", vec![Unset("BLASTSHIELD_AGENT_TOKEN")]);
    add("server.wide_limits", vec![Var("BLASTSHIELD_MAX_REQUESTS", "50000")]);
    add("server.test_variables", vec![Var("BLASTSHIELD_TEST_X", "1")]);
    add("policy.fail_open", vec![Var("CLAWRUBBER_FAIL_CLOSED", "false")]);
    add("policy.urls_shown", vec![Var("CLAWRUBBER_REDACT_URLS", "false")]);
    add("policy.baseline", vec![Var(PROFILE, "baseline")]);
    add("policy.baseline_unjudged", vec![Var(PROFILE, "baseline"), Var("CLAWRUBBER_LLM_JUDGE_ENABLED", "false")]);
    add("web.plain_http", vec![Var("BLASTSHIELD_ALLOW_HTTP", "true")]);
    add("web.any_port", vec![Var("BLASTSHIELD_ALLOWED_PORTS", "*")]);
    add("web.service_ports", vec![Var("BLASTSHIELD_ALLOWED_PORTS", "443,22")]);
    add("web.ranges_local", vec![Var("BLASTSHIELD_ALLOWED_RANGES", "127.0.0.0/8")]);
    add("web.ranges_local", vec![Var("BLASTSHIELD_ALLOWED_RANGES", "169.254.169.254/32")]);
    add("web.ranges_everything", vec![Var("BLASTSHIELD_ALLOWED_RANGES", "::/0")]);
    add("web.ranges_wide", vec![Var("BLASTSHIELD_ALLOWED_RANGES", "10.0.0.0/8")]);
    add("web.proxy", vec![Var("BLASTSHIELD_UPSTREAM_PROXY", "http://127.0.0.1:3128")]);
    add("web.authorities", vec![Var("BLASTSHIELD_CA_FILE", "@/authority.pem")]);
    add("web.wide_limits", vec![Var("BLASTSHIELD_MAX_REDIRECTS", "20")]);

    for (id, name, value) in [
        ("lists.allow_everything", "CLAWRUBBER_ALLOWLIST_DOMAINS", "example.org,com"),
        ("lists.allow_everything", "CLAWRUBBER_ALLOWLIST_DOMAINS", "*.org"),
        ("lists.allow_suffix", "CLAWRUBBER_ALLOWLIST_DOMAINS", "*.co.uk"),
        ("lists.allow_suffix", "CLAWRUBBER_ALLOWLIST_DOMAINS", "GitHub.io"),
        ("lists.allow_strangers", "CLAWRUBBER_ALLOWLIST_DOMAINS", "pastebin.com"),
        ("lists.allow_address", "CLAWRUBBER_ALLOWLIST_DOMAINS", "192.0.2.9"),
        ("lists.hosts_everything", "BLASTSHIELD_ALLOWED_HOSTS", "net"),
        ("lists.hosts_local", "BLASTSHIELD_ALLOWED_HOSTS", "localhost"),
        ("lists.hosts_local", "BLASTSHIELD_ALLOWED_HOSTS", "metadata.google.internal"),
        ("lists.hosts_excepted", "BLASTSHIELD_ALLOWED_HOSTS", "wiki.corp.example"),
        ("guard.model_off", "BLASTSHIELD_ENHANCED_DETECTION", "false"),
        ("guard.fences_off", "BLASTSHIELD_TOOL_RESULT_FENCES", "false"),
        ("guard.tool_scan_off", "BLASTSHIELD_TOOL_RESULT_SCAN", "false"),
        ("guard.threshold_loose", "BLASTSHIELD_TOOL_RESULT_THRESHOLD", "11"),
        ("guard.rates_off", "BLASTSHIELD_RATE_LIMITING", "false"),
        ("guard.rates_loose", "BLASTSHIELD_MESSAGES_PER_MINUTE", "10000"),
        ("guard.no_cooldown", "BLASTSHIELD_COOLDOWN_MS", "0"),
        ("guard.exempt_sessions", "BLASTSHIELD_EXEMPT_SESSIONS", "cron"),
        ("guard.output_off", "BLASTSHIELD_OUTPUT_VALIDATION", "false"),
        ("guard.credentials_pass", "BLASTSHIELD_BLOCK_CREDENTIAL_LEAKS", "false"),
        ("guard.prompts_pass", "BLASTSHIELD_BLOCK_PROMPT_LEAKS", "false"),
        ("guard.exfiltration_off", "BLASTSHIELD_SCAN_FOR_EXFILTRATION", "false"),
        ("guard.canaries_off", "BLASTSHIELD_CANARIES", "false"),
        ("guard.abuse_off", "BLASTSHIELD_ABUSE_DETECTION", "false"),
        ("guard.patterns_missing", "BLASTSHIELD_ABUSE_PATTERNS", "credential_probing"),
        ("guard.abuse_only_warns", "BLASTSHIELD_ABUSE_ACTION", "warn"),
        ("leak.no_known_secrets", "BLASTSHIELD_SECRET_FILES", ""),
        ("owner.half_telegram", "TELEGRAM_OWNER_ID", ""),
        ("owner.half_telegram", "TELEGRAM_BOT_TOKEN", ""),
        ("owner.telegram_plain_http", "BLASTSHIELD_TELEGRAM_BASE_URL", "http://bots.example"),
        ("owner.telegram_elsewhere", "BLASTSHIELD_TELEGRAM_BASE_URL", "https://bots.example"),
        ("owner.posts_open", "REQUIRE_POST_APPROVAL", "false"),
        ("owner.long_lived", "BLASTSHIELD_APPROVAL_USE_SECONDS", "90000"),
        ("egress.not_enforced", "BLASTSHIELD_EGRESS_MODE", "report"),
        ("egress.not_enforced", "BLASTSHIELD_EGRESS_MODE", "open"),
        ("egress.allow_everything", "SUPERVISOR_ALLOWED_DOMAINS", "api.openai.com,*.com"),
        ("egress.allow_suffix", "SUPERVISOR_ALLOWED_DOMAINS", "vercel.app"),
        ("egress.allow_strangers", "SUPERVISOR_ALLOWED_DOMAINS", "pastebin.com"),
        ("egress.allow_address", "SUPERVISOR_ALLOWED_DOMAINS", "192.0.2.9"),
        ("egress.any_port", "BLASTSHIELD_EGRESS_PORTS", "*"),
        ("egress.service_ports", "BLASTSHIELD_EGRESS_PORTS", "443,5432"),
        ("egress.ranges_local", "BLASTSHIELD_EGRESS_RANGES", "127.0.0.1/32"),
        ("egress.ranges_everything", "BLASTSHIELD_EGRESS_RANGES", "::/0"),
        ("egress.hosts_local", "BLASTSHIELD_EGRESS_PRIVATE_HOSTS", "localhost"),
        ("egress.hosts_everything", "BLASTSHIELD_EGRESS_PRIVATE_HOSTS", "net"),
        ("egress.hidden_names", "BLASTSHIELD_EGRESS_ECH", "allow"),
        ("egress.hidden_names", "BLASTSHIELD_EGRESS_NON_TLS", "allow"),
        ("proxies.loopback", "BLASTSHIELD_PROXY_LOOPBACK", "true"),
        ("proxies.degraded", "BLASTSHIELD_PROXY_MISSING_LAYERS", "degrade"),
        ("alerts.unsigned", "BLASTSHIELD_ALERT_WEBHOOK_SECRET", ""),
        ("alerts.plain_http", "BLASTSHIELD_ALERT_WEBHOOK_URL", "http://alerts.example/x"),
        ("alerts.deaf", "BLASTSHIELD_ALERT_INJECTION_ATTEMPTS", "1000000"),
        ("judge.plain_http", "CLAWRUBBER_OLLAMA_BASE_URL", "http://models.example:11434"),
        ("search.brave_plain_http", "CLAWRUBBER_BRAVE_API_BASE_URL", "http://api.search.brave.com/res/v1"),
        ("search.searxng_plain_http", "CLAWRUBBER_SEARXNG_BASE_URL", "http://search.example"),
        ("renderer.no_token", "CLAWRUBBER_BROWSERLESS_TOKEN", ""),
        ("renderer.plain_http", "CLAWRUBBER_BROWSERLESS_URL", "http://render.example"),
        ("keep.retention_short", "CLAWRUBBER_RETENTION_DAYS", "2"),
        ("keep.retention_long", "CLAWRUBBER_RETENTION_DAYS", "1000"),
        ("keep.log_size", "BLASTSHIELD_LOG_MAX_BYTES", "9000000000"),
    ] {
        add(id, vec![Var(name, value)]);
    }
    add("leak.no_internal_names", vec![Var("BLASTSHIELD_INTERNAL_PATHS", ""), Var("BLASTSHIELD_INTERNAL_TERMS", "")]);
    add("lists.allow_many", vec![Scene(|scene| {
        let many: Vec<String> = (0..101).map(|n| format!("d{n}.example")).collect();
        scene.settings.policy.domains.allow = many.join(",").parse().unwrap();
    })]);
    add("lists.contradiction", vec![Var("CLAWRUBBER_ALLOWLIST_DOMAINS", "a.example"), Var("CLAWRUBBER_BLOCKLIST_DOMAINS", "example")]);

    add("store.missing", vec![Remove("data/blastshield.db")]);
    add("store.unusable", vec![Write("data/blastshield.db", "not a database, not at all".repeat(100))]);
    add("store.unusable", vec![Write("data/blastshield.db", String::new())]);
    add("store.old_schema", vec![Scene(|scene| scene.store = StoreState::Found { version: 1, newest: 0 })]);
    add("store.new_schema", vec![Scene(|scene| scene.store = StoreState::Found { version: 99, newest: 0 })]);
    add("log.broken", vec![Scene(|scene| {
        let file = scene.settings.logs.dir.join("security-supervisor-audit.log");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replacen("owner", "other", 1)).unwrap();
        scene.log = crate::posture::scene::log_state(&scene.settings.logs.dir);
    })]);
    add("log.incidents", vec![Scene(|scene| {
        let incidents = vec![Incident { seq: 1, severity: Severity::Warn, message: "torn".to_owned() }];
        let verdict = Verdict::Verified { entries: 1, first: Mark::default(), last: Mark::default(), torn: 0, incidents };
        scene.log = Ok(Some((verdict, None)));
    })]);
    add("log.unreadable", vec![Scene(|scene| scene.log = Err(LogError::NotAFile))]);
    add("log.missing", vec![Scene(|scene| scene.log = Ok(None))]);
    add("clock.nonsense", vec![Scene(|scene| scene.now = Time::from_millis(0))]);
    add("clock.behind", vec![Scene(|scene| scene.now = Time::from_millis(scene.now.millis() - 86_400_000))]);
    add("clock.behind", vec![Scene(|scene| scene.store = StoreState::Found { version: 1, newest: i64::MAX })]);
    add("disk.full", vec![Scene(|scene| scene.space = Some((1 << 20, 1 << 40)))]);
    add("disk.low", vec![Scene(|scene| scene.space = Some((512 << 20, 1 << 40)))]);
    add("disk.inodes", vec![Scene(|scene| scene.inodes = Some((10, 1 << 20)))]);

    add("kernel.root", vec![Scene(|scene| scene.root = true)]);
    for (id, path, text) in [
        ("kernel.no_seccomp", "machine/proc/self/status", "Name:\tx\n"),
        ("kernel.no_landlock", "machine/sys/kernel/security/lsm", "capability,yama"),
        ("kernel.ptrace", "machine/proc/sys/kernel/yama/ptrace_scope", "0\n"),
        ("kernel.bpf", "machine/proc/sys/kernel/unprivileged_bpf_disabled", "0\n"),
        ("kernel.core_dumps", "machine/proc/sys/kernel/core_pattern", "|/usr/bin/keep %p\n"),
        ("kernel.core_dumps", "machine/proc/self/limits", "Max core file size   unlimited   unlimited   bytes\n"),
        ("kernel.no_aslr", "machine/proc/sys/kernel/randomize_va_space", "0\n"),
        ("kernel.open_links", "machine/proc/sys/fs/protected_symlinks", "0\n"),
        ("openclaw.unreadable", "openclaw.json", "{ gateway: "),
    ] {
        add(id, vec![Write(path, text.to_owned())]);
    }
    add("openclaw.folder_open", vec![Write(".env", "x".to_owned()), Mode(".env", 0o644)]);
    add("openclaw.folder_open", vec![Scene(|scene| super::bench::chmod(scene.claw.as_ref().unwrap().path.parent().unwrap(), 0o770))]);
    add("openclaw.plugins_unpinned", vec![Write("plugins/installs.json", r#"{"installRecords": {"b": {"source": "npm", "spec": "b@^1.2.3"}}}"#.to_owned())]);
    add("openclaw.file_open", vec![Mode("openclaw.json", 0o644)]);
    let short = json!("0f3c9a71b2d8");
    for (id, path, value) in [
        ("openclaw.includes", "agents.$include", json!("./agents.json")),
        ("openclaw.open_messages", "channels.telegram.dmPolicy", json!("open")),
        ("openclaw.open_messages", "channels.discord.dm.policy", json!("open")),
        ("openclaw.open_messages", "channels.telegram.accounts.two.dmPolicy", json!("open")),
        ("openclaw.open_groups", "channels.slack.groupPolicy", json!("open")),
        ("openclaw.everyone_allowed", "channels.whatsapp.allowFrom", json!(["123", "*"])),
        ("openclaw.exec_full", "tools.exec.security", json!("full")),
        ("openclaw.exec_full", "agents.list.0.tools.exec.security", json!("full")),
        ("openclaw.exec_unasked", "tools.exec.ask", json!("off")),
        ("openclaw.elevated_everyone", "tools.elevated.allowFrom.discord", json!(["*"])),
        ("openclaw.sandbox_off", "agents.defaults.sandbox.mode", json!("off")),
        ("openclaw.sandbox_off", "agents.defaults.sandbox", json!({})),
        ("openclaw.sandbox_off", "agents.entries.helper.sandbox.mode", json!("off")),
        ("openclaw.sandbox_holes", "agents.defaults.sandbox.docker.network", json!("host")),
        ("openclaw.sandbox_holes", "agents.defaults.sandbox.docker.binds", json!(["/var/run/docker.sock:/var/run/docker.sock"])),
        ("openclaw.gateway_public", "gateway.bind", json!("lan")),
        ("openclaw.gateway_unguarded", "gateway.auth.mode", json!("none")),
        ("openclaw.gateway_token_weak", "gateway.auth.token", short.clone()),
        ("openclaw.funnel", "gateway.tailscale.mode", json!("funnel")),
        ("openclaw.dangerous_switches", "gateway.controlUi.dangerouslyDisableDeviceAuth", json!(true)),
        ("openclaw.any_origin", "gateway.controlUi.allowedOrigins", json!(["*"])),
        ("openclaw.plugins_unlisted", "plugins.allow", json!([])),
        ("openclaw.plugins_unpinned", "plugins.installs.a.spec", json!("@me/a@latest")),
        ("openclaw.plugins_unpinned", "plugins.installs.b", json!({"source": "npm", "spec": "b"})),
        ("openclaw.weak_model", "agents.list.0", json!({"id": "x", "model": "ollama/llama-8b", "sandbox": {"mode": "non-main"}})),
        ("openclaw.own_web_fetch", "tools.web.fetch", json!({})),
        ("openclaw.browser", "browser.enabled", json!(true)),
        ("openclaw.redaction_off", "logging.redactSensitive", json!("off")),
        ("openclaw.secrets_inline", "channels.telegram.botToken", json!("inline")),
        ("openclaw.hooks", "hooks.token", short),
        ("openclaw.hooks", "hooks.token", json!("${GATEWAY_TOKEN}")),
        ("openclaw.hooks", "hooks.token", json!("")),
        ("openclaw.mcp_plain", "mcp.servers.two.url", json!("http://mcp.example/mcp")),
        ("openclaw.mcp_plain", "mcp.servers.one.sslVerify", json!(false)),
    ] {
        add(id, vec![Claw(path, value)]);
    }
    add("openclaw.files_everywhere", vec![Claw("tools.fs.workspaceOnly", json!(false)), Claw("agents.defaults.sandbox.mode", json!("off"))]);

    let silent = ["TELEGRAM_BOT_TOKEN", "TELEGRAM_OWNER_ID", "BLASTSHIELD_ALERT_WEBHOOK_URL"];
    add("alerts.nobody", silent.map(Unset).to_vec());
    add("owner.no_telegram", silent.map(Unset).to_vec());

    // Right only after a change of its own.
    let file = Var("BLASTSHIELD_ENV_FILE", "@/known.txt");
    rows.push(("files.environment", vec![file.clone()], vec![file, Mode("known.txt", 0o604)]));
    let schema = Var("BLASTSHIELD_ENV_SCHEMA", "@/known.txt");
    rows.push(("files.requirements", vec![schema.clone()], vec![schema, Mode("known.txt", 0o620)]));
    rows.push(("owner.discord_plain_http", vec![Var("BLASTSHIELD_DISCORD_WEBHOOK_URL", "https://discord.com/api/webhooks/1/x")], vec![Var("BLASTSHIELD_DISCORD_WEBHOOK_URL", "http://discord.com/api/webhooks/1/x")]));
    rows.push(("owner.link_plain_http", vec![Var("BLASTSHIELD_APPROVAL_LINK_URL", "http://127.0.0.1:3000/approve")], vec![Var("BLASTSHIELD_APPROVAL_LINK_URL", "http://192.168.1.5:3000/approve")]));
    rows.push(("egress.public", vec![Var("BLASTSHIELD_EGRESS_ADDRESS", "127.0.0.1:3128")], vec![Var("BLASTSHIELD_EGRESS_ADDRESS", "192.0.2.7:3128"), Var("BLASTSHIELD_EGRESS_REQUIRE_CREDENTIALS", "true")]));
    let wallet = |limit, threshold| vec![
        Var("LNBITS_URL", "https://lnbits.example"),
        Var("LNBITS_ADMIN_KEY", "5ec2e7ad0123456789abcdef5ec2e7ad"),
        Var("WALLET_DAILY_LIMIT_SATS", limit),
        Var("WALLET_APPROVAL_THRESHOLD_SATS", threshold),
    ];
    rows.push(("wallet.high_limit", wallet("10000", "1000"), wallet("2100000000", "1000")));
    rows.push(("wallet.never_repeated", wallet("10000", "1000"), wallet("10000", "10000")));
    rows.push(("wallet.half_set", wallet("10000", "1000"), wallet("10000", "")));
    rows.push(("wallet.half_set", wallet("10000", "1000"), vec![Var("LNBITS_INVOICE_KEY", "5ec2e7ad0123456789abcdef5ec2e7ad")]));
    let ca = Var("BLASTSHIELD_CA_FILE", "@/authority.pem");
    rows.push(("files.authorities", vec![ca.clone()], vec![ca, Mode("authority.pem", 0o666)]));
    let browser = Var("BLASTSHIELD_CHROMIUM", "@/browser");
    rows.push(("files.browser", vec![browser.clone()], vec![browser, Mode("browser", 0o777)]));
    rows.push(("files.config_parent", Vec::new(), vec![Scene(|scene| {
        let folder = scene.config.as_ref().unwrap().0.parent().unwrap().to_owned();
        super::bench::chmod(&folder, 0o777);
    })]));
    rows.push(("files.data_parent", Vec::new(), vec![Scene(|scene| {
        super::bench::chmod(scene.settings.data_dir.parent().unwrap(), 0o777);
    })]));
    let quiet = ["TELEGRAM_BOT_TOKEN", "BLASTSHIELD_AGENT_TOKEN", "BLASTSHIELD_ALERT_WEBHOOK_SECRET", "CLAWRUBBER_BROWSERLESS_TOKEN", "CLAWRUBBER_BRAVE_API_KEY"];
    rows.push(("secrets.in_environment", quiet.map(Unset).to_vec(), Vec::new()));
    rows.push(("web.own_dns", vec![Var("BLASTSHIELD_DNS", "127.0.0.1:53")], vec![Var("BLASTSHIELD_DNS", "192.0.2.53:53")]));
    rows.push(("renderer.no_sandbox", vec![CHROMIUM], vec![CHROMIUM, Var("BLASTSHIELD_CHROMIUM_NO_SANDBOX", "true")]));
    rows.push(("renderer.root", vec![CHROMIUM], vec![CHROMIUM, Scene(|scene| scene.root = true)]));
    rows.push(("kernel.no_user_namespaces", vec![CHROMIUM], vec![CHROMIUM, Write("machine/proc/sys/user/max_user_namespaces", "0\n".to_owned())]));
    // Nobody listens there: the check of the address itself needs no database.
    let near = Var(DB_URL, "postgres://me@127.0.0.1:1/x?sslmode=disable");
    rows.push(("store.plain_postgres", vec![near.clone()], vec![Scene(|scene| scene.settings.store.url = Some(blastshield_config::Secret::new("postgres://me@db.example/x?sslmode=disable".to_owned())))]));
    rows.push(("store.unverified_postgres", vec![near], vec![Scene(|scene| scene.settings.store.url = Some(blastshield_config::Secret::new("postgres://me@db.example/x?sslmode=require".to_owned())))]));
    // Near to wrong, and right.
    for (id, name, right, wrong) in [
        ("lists.allow_suffix", "CLAWRUBBER_ALLOWLIST_DOMAINS", "bbc.co.uk,me.github.io", "co.uk"),
        ("lists.allow_everything", "CLAWRUBBER_ALLOWLIST_DOMAINS", "example.com,*.example.org", ".dev"),
        ("lists.allow_strangers", "CLAWRUBBER_ALLOWLIST_DOMAINS", "docs.github.com", "github.com"),
        ("lists.hosts_local", "BLASTSHIELD_ALLOWED_HOSTS", "wiki.corp.example,10.1.2.3", "127.0.0.1"),
        ("web.ranges_local", "BLASTSHIELD_ALLOWED_RANGES", "10.1.2.3/32,fd12::/64", "0.0.0.0/1,128.0.0.0/1"),
        ("web.ranges_wide", "BLASTSHIELD_ALLOWED_RANGES", "10.1.2.0/24", "fd12::/48"),
        ("alerts.plain_http", "BLASTSHIELD_ALERT_WEBHOOK_URL", "http://127.0.0.1:9000/x", "http://10.0.0.1/x"),
        ("judge.plain_http", "CLAWRUBBER_OLLAMA_BASE_URL", "http://[::1]:11434", "http://127.0.0.1.example"),
        ("renderer.plain_http", "CLAWRUBBER_BROWSERLESS_URL", "http://browserless:3000", "http://192.0.2.1:3000"),
        ("guard.threshold_loose", "BLASTSHIELD_TOOL_RESULT_THRESHOLD", "9.5", "10.5"),
        ("secrets.foreign_variables", "SSH_AUTH_TOKEN", "/run/agent", "0123456789abcdef"),
    ] {
        rows.push((id, vec![Var(name, right)], vec![Var(name, wrong)]));
    }
    rows
}
