-- Runs unchanged on SQLite and PostgreSQL. Times are milliseconds since the epoch; yes/no is 0/1.
-- SQLite reads BYTEA as a type without affinity rules for blobs: bytes stay bytes.

CREATE TABLE search_requests (
    request_id   TEXT PRIMARY KEY NOT NULL,
    at_ms        BIGINT NOT NULL,
    query_sha256 TEXT NOT NULL,
    query_len    BIGINT NOT NULL,
    provider     TEXT NOT NULL,
    result_count BIGINT NOT NULL
);
CREATE INDEX search_requests_at ON search_requests (at_ms);

CREATE TABLE search_results_cache (
    result_id     TEXT PRIMARY KEY NOT NULL,
    request_id    TEXT NOT NULL,
    rank          BIGINT NOT NULL,
    url           TEXT NOT NULL,
    title         TEXT NOT NULL,
    snippet       TEXT NOT NULL,
    source        TEXT NOT NULL,
    published     TEXT,
    standing      TEXT NOT NULL,
    risk_hint     TEXT,
    expires_at_ms BIGINT NOT NULL
);
CREATE INDEX search_results_cache_expiry ON search_results_cache (expires_at_ms);

CREATE TABLE fetch_events (
    fetch_id       TEXT PRIMARY KEY NOT NULL,
    at_ms          BIGINT NOT NULL,
    kind           TEXT NOT NULL,
    result_id      TEXT,
    host           TEXT NOT NULL,
    url_sha256     TEXT NOT NULL,
    final_host     TEXT,
    decision       TEXT NOT NULL,
    score          DOUBLE PRECISION NOT NULL,
    flags          TEXT NOT NULL,
    reason         TEXT,
    bypassed       BIGINT NOT NULL,
    duration_ms    BIGINT NOT NULL,
    bytes          BIGINT NOT NULL,
    content_sha256 TEXT,
    content_len    BIGINT NOT NULL,
    backend        TEXT NOT NULL,
    error_code     TEXT
);
CREATE INDEX fetch_events_at ON fetch_events (at_ms);

CREATE TABLE flagged_payloads (
    fetch_id      TEXT PRIMARY KEY NOT NULL,
    at_ms         BIGINT NOT NULL,
    sha256        TEXT NOT NULL,
    len           BIGINT NOT NULL,
    content       BYTEA NOT NULL,
    score         DOUBLE PRECISION NOT NULL,
    flags         TEXT NOT NULL,
    expires_at_ms BIGINT NOT NULL
);
CREATE INDEX flagged_payloads_at ON flagged_payloads (at_ms, fetch_id);
CREATE INDEX flagged_payloads_expiry ON flagged_payloads (expires_at_ms);

-- One row that a health check rewrites after a failed write, to learn whether writing works again.
CREATE TABLE store_probe (
    id    BIGINT PRIMARY KEY NOT NULL,
    count BIGINT NOT NULL
);
