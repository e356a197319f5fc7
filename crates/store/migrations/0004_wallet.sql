-- Payments: what may be spent, and how far each got. An invoice is paid at most once, whoever asks how often.
CREATE TABLE payments (
    id                 TEXT PRIMARY KEY NOT NULL,
    payment_hash       TEXT NOT NULL UNIQUE,
    invoice            TEXT NOT NULL,
    invoice_sha256     TEXT NOT NULL,
    invoice_shown      TEXT NOT NULL,
    invoice_expires_ms BIGINT NOT NULL,
    memo               TEXT,
    requester          TEXT NOT NULL,
    backend            TEXT NOT NULL,
    amount_msat        BIGINT NOT NULL,
    fee_limit_sats     BIGINT NOT NULL,
    fee_msat           BIGINT NOT NULL,
    confirm            BIGINT NOT NULL,
    day                TEXT NOT NULL,
    counted_sats       BIGINT NOT NULL,
    state              TEXT NOT NULL,
    why                TEXT NOT NULL,
    approval_id        TEXT NOT NULL,
    sender             TEXT NOT NULL,
    created_ms         BIGINT NOT NULL,
    changed_ms         BIGINT NOT NULL
);
CREATE INDEX payments_day ON payments (day);
CREATE INDEX payments_state ON payments (state, created_ms);
CREATE INDEX payments_created ON payments (created_ms);

-- Whoever adds up a day's spending takes the turn first, so that two gateways do not add up the same sats.
CREATE TABLE wallet_turn (
    id   BIGINT PRIMARY KEY NOT NULL,
    turn BIGINT NOT NULL
);
INSERT INTO wallet_turn (id, turn) VALUES (1, 0);
