-- Tasks of security proxies that were taken, and what became of them. A time of 0 means that they are on; an empty answer,
-- that core ended meanwhile.
CREATE TABLE proxy_tasks (
    id          TEXT PRIMARY KEY NOT NULL,
    service     TEXT NOT NULL,
    operation   TEXT NOT NULL,
    home        TEXT NOT NULL,
    created_ms  BIGINT NOT NULL,
    finished_ms BIGINT NOT NULL,
    size        BIGINT NOT NULL,
    answer      TEXT NOT NULL
);
CREATE INDEX proxy_tasks_home ON proxy_tasks (home, finished_ms);
