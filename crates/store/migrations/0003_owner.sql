-- What the owner was asked, word for word, and what came of it. A time of 0 means never.
CREATE TABLE approvals (
    id             TEXT PRIMARY KEY NOT NULL,
    action         TEXT NOT NULL,
    requester      TEXT NOT NULL,
    session        TEXT,
    host           TEXT,
    confirm        TEXT,
    shown          TEXT NOT NULL,
    shown_sha256   TEXT NOT NULL,
    subject_sha256 TEXT NOT NULL,
    created_ms     BIGINT NOT NULL,
    expires_ms     BIGINT NOT NULL,
    state          TEXT NOT NULL,
    scope          TEXT NOT NULL,
    decided_by     TEXT NOT NULL,
    decided_ms     BIGINT NOT NULL,
    recorded       BIGINT NOT NULL,
    used_ms        BIGINT NOT NULL
);
CREATE INDEX approvals_state ON approvals (state, expires_ms);
CREATE INDEX approvals_created ON approvals (created_ms, id);

-- What the owner allowed beyond one time; made in the transaction of the decision.
CREATE TABLE grants (
    approval_id TEXT PRIMARY KEY NOT NULL,
    action      TEXT NOT NULL,
    host        TEXT NOT NULL,
    at_ms       BIGINT NOT NULL,
    until_ms    BIGINT NOT NULL,
    revoked_ms  BIGINT NOT NULL
);
CREATE INDEX grants_host ON grants (host, until_ms);

-- Messages through which a request went out, to be brought up to date once it is decided.
CREATE TABLE owner_notices (
    approval_id TEXT NOT NULL,
    channel     TEXT NOT NULL,
    message_id  BIGINT NOT NULL,
    closed      BIGINT NOT NULL,
    PRIMARY KEY (approval_id, channel, message_id)
);
CREATE INDEX owner_notices_open ON owner_notices (channel, closed);

-- How far a channel's answers have been read.
CREATE TABLE owner_cursors (
    channel  TEXT PRIMARY KEY NOT NULL,
    position BIGINT NOT NULL,
    at_ms    BIGINT NOT NULL
);
