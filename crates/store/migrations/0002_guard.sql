-- Sessions that have to wait: a pause after a limit, or a block until its time is up or the owner pardons it.
CREATE TABLE session_holds (
    session_key TEXT PRIMARY KEY NOT NULL,
    kind        TEXT NOT NULL,
    reason      TEXT NOT NULL,
    at_ms       BIGINT NOT NULL,
    until_ms    BIGINT NOT NULL
);
CREATE INDEX session_holds_until ON session_holds (until_ms);

-- Texts placed where only the agent's inside is, to be found again when they leave.
CREATE TABLE canaries (
    value    TEXT PRIMARY KEY NOT NULL,
    location TEXT NOT NULL,
    severity TEXT NOT NULL,
    at_ms    BIGINT NOT NULL
);
