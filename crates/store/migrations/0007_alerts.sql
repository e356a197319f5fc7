-- Alerts that a channel has not carried yet. A time of 0 means that nobody carries it now.
CREATE TABLE owner_alerts (
    channel  TEXT NOT NULL,
    id       TEXT NOT NULL,
    at_ms    BIGINT NOT NULL,
    grave    BIGINT NOT NULL,
    shown    TEXT NOT NULL,
    body     TEXT NOT NULL,
    taken_ms BIGINT NOT NULL,
    PRIMARY KEY (channel, id)
);
CREATE INDEX owner_alerts_order ON owner_alerts (channel, at_ms, id);
