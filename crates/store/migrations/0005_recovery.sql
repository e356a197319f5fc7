-- Sessions of security proxies that have begun and not been judged. One that is left over ended without anybody seeing it.
CREATE TABLE proxy_sessions (
    spawn_id   TEXT PRIMARY KEY NOT NULL,
    service    TEXT NOT NULL,
    home       TEXT NOT NULL,
    started_ms BIGINT NOT NULL
);
CREATE INDEX proxy_sessions_home ON proxy_sessions (home, service);

-- Ends of sessions other than by finishing. Settled ones no longer count towards a pattern.
CREATE TABLE proxy_crashes (
    id          TEXT PRIMARY KEY NOT NULL,
    service     TEXT NOT NULL,
    kind        TEXT NOT NULL,
    at_ms       BIGINT NOT NULL,
    adversarial BIGINT NOT NULL,
    detail      TEXT NOT NULL,
    last_action TEXT NOT NULL,
    requests    BIGINT NOT NULL,
    files       TEXT NOT NULL,
    files_count BIGINT NOT NULL,
    report      TEXT NOT NULL,
    settled     BIGINT NOT NULL
);
CREATE INDEX proxy_crashes_kind ON proxy_crashes (service, kind, at_ms);

-- Why a service may not be spawned. A time of 0 means never.
CREATE TABLE proxy_holds (
    id         TEXT PRIMARY KEY NOT NULL,
    service    TEXT NOT NULL,
    crash_id   TEXT NOT NULL,
    kind       TEXT NOT NULL,
    reason     TEXT NOT NULL,
    at_ms      BIGINT NOT NULL,
    cleared_ms BIGINT NOT NULL,
    cleared_by TEXT NOT NULL
);
CREATE INDEX proxy_holds_open ON proxy_holds (cleared_ms, service);

-- A workspace that is moved aside, with the step that was done last. Has the id of its hold.
CREATE TABLE proxy_quarantines (
    id        TEXT PRIMARY KEY NOT NULL,
    service   TEXT NOT NULL,
    home      TEXT NOT NULL,
    folder    TEXT NOT NULL,
    step      BIGINT NOT NULL,
    before_ms BIGINT NOT NULL,
    backup    TEXT NOT NULL,
    review    TEXT NOT NULL
);
CREATE INDEX proxy_quarantines_step ON proxy_quarantines (home, step);
