-- Whether all ways out are closed; one row, with the number 1.
CREATE TABLE lockdown (
    id     BIGINT PRIMARY KEY NOT NULL,
    locked BIGINT NOT NULL,
    said   TEXT NOT NULL,
    at_ms  BIGINT NOT NULL
);
