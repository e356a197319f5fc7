//! Rows of a batch, gathered by table and written several per statement.

use crate::{
    StoreError,
    backend::{Arg, Conn},
    records::{FetchEvent, FlaggedPayload, SearchRecord},
    writer::Work,
};
use std::fmt::Write as _;
use std::sync::LazyLock;

struct Table {
    name: &'static str,
    columns: &'static [&'static str],
}

const TABLES: [Table; 4] = [
    Table {
        name: "search_requests",
        columns: &[
            "request_id",
            "at_ms",
            "query_sha256",
            "query_len",
            "provider",
            "result_count",
        ],
    },
    Table {
        name: "search_results_cache",
        columns: &[
            "result_id",
            "request_id",
            "rank",
            "url",
            "title",
            "snippet",
            "source",
            "published",
            "standing",
            "risk_hint",
            "expires_at_ms",
        ],
    },
    Table {
        name: "fetch_events",
        columns: &[
            "fetch_id",
            "at_ms",
            "kind",
            "result_id",
            "host",
            "url_sha256",
            "final_host",
            "decision",
            "score",
            "flags",
            "reason",
            "bypassed",
            "duration_ms",
            "bytes",
            "content_sha256",
            "content_len",
            "backend",
            "error_code",
        ],
    },
    Table {
        name: "flagged_payloads",
        columns: &[
            "fetch_id",
            "at_ms",
            "sha256",
            "len",
            "content",
            "score",
            "flags",
            "expires_at_ms",
        ],
    },
];

/// Rows per statement. A small batch is one statement; of larger ones there are few sizes, so that each is prepared
/// once. The largest stays far below both databases' limit on placeholders.
const SIZES: [usize; 10] = [64, 16, 8, 7, 6, 5, 4, 3, 2, 1];

/// The statements by table, then by size.
static STATEMENTS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    TABLES
        .iter()
        .map(|table| SIZES.iter().map(|rows| statement(table, *rows)).collect())
        .collect()
});

fn statement(table: &Table, rows: usize) -> String {
    let width = table.columns.len();
    let mut sql = format!(
        "INSERT INTO {} ({}) VALUES ",
        table.name,
        table.columns.join(", ")
    );
    for at in 1..=rows * width {
        let open = if at % width == 1 { "(" } else { "" };
        let close = match (at % width, at == rows * width) {
            (0, true) => ")",
            (0, false) => "), ",
            _ => ", ",
        };
        let _ = write!(sql, "{open}${at}{close}");
    }
    sql
}

/// What one transaction inserts; borrows from the records.
#[derive(Default)]
pub(crate) struct Rows<'a> {
    tables: [Vec<Vec<Arg<'a>>>; 4],
}

impl<'a> Rows<'a> {
    /// Takes the rows of a piece of work; whether it is one that consists of rows.
    pub(crate) fn gather(&mut self, work: &'a Work) -> bool {
        match work {
            Work::Search(search) => self.search(search),
            Work::Fetch(event) => self.fetch(event),
            Work::Flag(payload) => self.flagged(payload),
            Work::Blocked(both) => {
                let (event, payload) = &**both;
                self.fetch(event);
                self.flagged(payload);
            }
            Work::Statement(..) | Work::Statements(_) | Work::Prune(_) | Work::Probe => {
                return false;
            }
        }
        true
    }

    /// Whether all rows go into one table by one statement.
    pub(crate) fn fit_one_statement(&self) -> bool {
        let mut used = self.tables.iter().filter(|rows| !rows.is_empty());
        let only = used.next().filter(|rows| SIZES.contains(&rows.len()));
        only.is_some() && used.next().is_none()
    }

    fn search(&mut self, search: &'a SearchRecord) {
        let [requests, results, ..] = &mut self.tables;
        requests.push(vec![
            Arg::text(&search.request_id),
            Arg::Int(search.at_ms),
            Arg::text(&search.query_sha256),
            Arg::size(search.query_len),
            Arg::text(&search.provider),
            Arg::size(search.results.len() as u64),
        ]);
        results.extend(search.results.iter().map(|result| {
            vec![
                Arg::text(&result.result_id),
                Arg::text(&search.request_id),
                Arg::Int(result.rank.into()),
                Arg::text(&result.url),
                Arg::text(&result.title),
                Arg::text(&result.snippet),
                Arg::text(&result.source),
                Arg::maybe(result.published.as_deref()),
                Arg::text(&result.standing),
                Arg::maybe(result.risk_hint.as_deref()),
                Arg::Int(result.expires_at_ms),
            ]
        }));
    }

    fn fetch(&mut self, event: &'a FetchEvent) {
        let [_, _, events, _] = &mut self.tables;
        events.push(vec![
            Arg::text(&event.fetch_id),
            Arg::Int(event.at_ms),
            Arg::text(event.kind.as_str()),
            Arg::maybe(event.result_id.as_deref()),
            Arg::text(&event.host),
            Arg::text(&event.url_sha256),
            Arg::maybe(event.final_host.as_deref()),
            Arg::text(event.decision.as_str()),
            Arg::Real(event.score),
            flags(&event.flags),
            Arg::maybe(event.reason.as_deref()),
            Arg::Int(event.bypassed.into()),
            Arg::size(event.duration_ms),
            Arg::size(event.bytes),
            Arg::maybe(event.content_sha256.as_deref()),
            Arg::size(event.content_len),
            Arg::text(&event.backend),
            Arg::maybe(event.error_code.as_deref()),
        ]);
    }

    fn flagged(&mut self, payload: &'a FlaggedPayload) {
        let [.., payloads] = &mut self.tables;
        payloads.push(vec![
            Arg::text(&payload.fetch_id),
            Arg::Int(payload.at_ms),
            Arg::text(&payload.sha256),
            Arg::size(payload.len),
            Arg::Bytes(&payload.content),
            Arg::Real(payload.score),
            flags(&payload.flags),
            Arg::Int(payload.expires_at_ms),
        ]);
    }

    pub(crate) async fn insert(self, conn: &mut Conn) -> Result<(), StoreError> {
        for (rows, statements) in self.tables.into_iter().zip(STATEMENTS.iter()) {
            let mut rows = rows.into_iter();
            for (size, sql) in SIZES.into_iter().zip(statements) {
                while rows.len() >= size {
                    conn.execute(sql, rows.by_ref().take(size).flatten().collect())
                        .await?;
                }
            }
        }
        Ok(())
    }
}

fn flags<'a>(flags: &[String]) -> Arg<'a> {
    let text = serde_json::Value::from(flags).to_string();
    Arg::Text(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_has_a_placeholder_per_value() {
        let table = Table {
            name: "t",
            columns: &["a", "b"],
        };
        assert_eq!(statement(&table, 1), "INSERT INTO t (a, b) VALUES ($1, $2)");
        assert_eq!(
            statement(&table, 2),
            "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4)"
        );
    }

    #[test]
    fn one_statement_writes_a_few_rows_of_one_table() {
        let fit = |counts: [usize; 4]| {
            let tables = counts.map(|count| vec![Vec::new(); count]);
            Rows { tables }.fit_one_statement()
        };
        assert!(fit([0, 0, 1, 0]));
        assert!(fit([0, 0, 0, 8]));
        assert!(!fit([0, 0, 0, 0]));
        assert!(!fit([0, 0, 1, 1]));
        assert!(!fit([0, 0, 9, 0]));
    }

    #[test]
    fn the_largest_statement_stays_below_the_limit_on_placeholders() {
        let most = TABLES
            .iter()
            .map(|table| table.columns.len())
            .max()
            .unwrap()
            * SIZES[0];
        assert!(most < 32_766, "{most}");
    }
}
