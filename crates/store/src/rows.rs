//! Rows as records again. The order of columns is that of the queries in `store`.

use crate::{
    CachedResult, FetchDecision, FetchEvent, FetchKind, FlaggedPayload, FlaggedSummary, StoreError,
    backend::Row,
};

pub(crate) fn cached_result(row: &Row) -> Result<CachedResult, StoreError> {
    Ok(CachedResult {
        result_id: row.text(0)?,
        url: row.text(1)?,
        title: row.text(2)?,
        snippet: row.text(3)?,
        source: row.text(4)?,
        rank: u32::try_from(row.int(5)?).map_err(|_| StoreError::Corrupt)?,
        published: row.maybe_text(6)?,
        standing: row.text(7)?,
        risk_hint: row.maybe_text(8)?,
        expires_at_ms: row.int(9)?,
    })
}

pub(crate) fn fetch_event(row: &Row) -> Result<FetchEvent, StoreError> {
    Ok(FetchEvent {
        fetch_id: row.text(0)?,
        at_ms: row.int(1)?,
        kind: FetchKind::parse(&row.text(2)?)?,
        result_id: row.maybe_text(3)?,
        host: row.text(4)?,
        url_sha256: row.text(5)?,
        final_host: row.maybe_text(6)?,
        decision: FetchDecision::parse(&row.text(7)?)?,
        score: row.real(8)?,
        flags: row.flags(9)?,
        reason: row.maybe_text(10)?,
        bypassed: row.int(11)? != 0,
        duration_ms: row.size(12)?,
        bytes: row.size(13)?,
        content_sha256: row.maybe_text(14)?,
        content_len: row.size(15)?,
        backend: row.text(16)?,
        error_code: row.maybe_text(17)?,
    })
}

pub(crate) fn flagged_summary(row: &Row) -> Result<FlaggedSummary, StoreError> {
    Ok(FlaggedSummary {
        fetch_id: row.text(0)?,
        at_ms: row.int(1)?,
        sha256: row.text(2)?,
        len: row.size(3)?,
        score: row.real(4)?,
        flags: row.flags(5)?,
        expires_at_ms: row.int(6)?,
    })
}

pub(crate) fn flagged_payload(row: &Row) -> Result<FlaggedPayload, StoreError> {
    let FlaggedSummary {
        fetch_id,
        at_ms,
        sha256,
        len,
        score,
        flags,
        expires_at_ms,
    } = flagged_summary(row)?;
    Ok(FlaggedPayload {
        fetch_id,
        at_ms,
        sha256,
        len,
        content: row.bytes(7)?,
        score,
        flags,
        expires_at_ms,
    })
}
