//! Statements that keep what core knows of security proxies, and rows read back.

use super::{ProxyCrash, ProxyHold, ProxyQuarantine};
use crate::{
    StoreError,
    backend::{Arg, Row},
    bounds::is_id,
};

pub(super) const MAX_LABEL: usize = 128;
const MAX_TEXT: usize = 4096;
const MAX_JSON: usize = 256 << 10;

pub(super) type Statement = (&'static str, Vec<Arg<'static>>);

pub(super) fn insert_crash(crash: ProxyCrash) -> Result<Statement, StoreError> {
    const SQL: &str = "INSERT INTO proxy_crashes (id, service, kind, at_ms, adversarial, detail, last_action, requests, \
        files, files_count, report, settled) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0)";
    check_id("id", &crash.id)?;
    label("service", &crash.service)?;
    label("kind", &crash.kind)?;
    long("detail", &crash.detail)?;
    long("last_action", &crash.last_action)?;
    long("report", &crash.report)?;
    let args = vec![
        text(crash.id),
        text(crash.service),
        text(crash.kind),
        Arg::Int(crash.at_ms),
        Arg::Int(crash.adversarial.into()),
        text(crash.detail),
        text(crash.last_action),
        size(crash.requests),
        text(json("files", &crash.files)?),
        size(crash.files_count),
        text(crash.report),
    ];
    Ok((SQL, args))
}

pub(super) fn insert_hold(hold: ProxyHold) -> Result<Statement, StoreError> {
    const SQL: &str = "INSERT INTO proxy_holds (id, service, crash_id, kind, reason, at_ms, cleared_ms, cleared_by) \
        VALUES ($1, $2, $3, $4, $5, $6, 0, '')";
    check_id("id", &hold.id)?;
    check_id("crash_id", &hold.crash_id)?;
    label("service", &hold.service)?;
    label("kind", &hold.kind)?;
    long("reason", &hold.reason)?;
    let args = vec![
        text(hold.id),
        text(hold.service),
        text(hold.crash_id),
        text(hold.kind),
        text(hold.reason),
        Arg::Int(hold.at_ms),
    ];
    Ok((SQL, args))
}

pub(super) fn insert_quarantine(one: ProxyQuarantine) -> Result<Statement, StoreError> {
    const SQL: &str = "INSERT INTO proxy_quarantines (id, service, home, folder, step, before_ms, backup, review) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    check_id("id", &one.id)?;
    label("service", &one.service)?;
    label("home", &one.home)?;
    label("folder", &one.folder)?;
    label("backup", &one.backup)?;
    let review = json("review", &one.review)?;
    let args = vec![
        text(one.id),
        text(one.service),
        text(one.home),
        text(one.folder),
        Arg::Int(one.step),
        Arg::Int(one.before_ms),
        text(one.backup),
        text(review),
    ];
    Ok((SQL, args))
}

pub(super) fn crash(row: &Row) -> Result<ProxyCrash, StoreError> {
    Ok(ProxyCrash {
        id: row.text(0)?,
        service: row.text(1)?,
        kind: row.text(2)?,
        at_ms: row.int(3)?,
        adversarial: row.int(4)? != 0,
        detail: row.text(5)?,
        last_action: row.text(6)?,
        requests: row.size(7)?,
        files: row.flags(8)?,
        files_count: row.size(9)?,
        report: row.text(10)?,
    })
}

pub(super) fn hold(row: &Row) -> Result<ProxyHold, StoreError> {
    Ok(ProxyHold {
        id: row.text(0)?,
        service: row.text(1)?,
        crash_id: row.text(2)?,
        kind: row.text(3)?,
        reason: row.text(4)?,
        at_ms: row.int(5)?,
        cleared_ms: row.int(6)?,
        cleared_by: row.text(7)?,
    })
}

pub(super) fn quarantine(row: &Row) -> Result<ProxyQuarantine, StoreError> {
    Ok(ProxyQuarantine {
        id: row.text(0)?,
        service: row.text(1)?,
        home: row.text(2)?,
        folder: row.text(3)?,
        step: row.int(4)?,
        before_ms: row.int(5)?,
        backup: row.text(6)?,
        review: row.flags(7)?,
    })
}

pub(super) fn text(text: String) -> Arg<'static> {
    crate::owner::text(text)
}

pub(super) fn size(number: u64) -> Arg<'static> {
    Arg::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(super) fn check_id(field: &'static str, id: &str) -> Result<(), StoreError> {
    if is_id(id) {
        Ok(())
    } else {
        Err(StoreError::Invalid(field))
    }
}

pub(super) fn label(field: &'static str, text: &str) -> Result<(), StoreError> {
    bounded(field, text, MAX_LABEL)
}

pub(super) fn long(field: &'static str, text: &str) -> Result<(), StoreError> {
    bounded(field, text, MAX_TEXT)
}

pub(super) fn bounded(field: &'static str, text: &str, most: usize) -> Result<(), StoreError> {
    if text.len() <= most {
        Ok(())
    } else {
        Err(StoreError::Invalid(field))
    }
}

pub(super) fn json(field: &'static str, list: &[String]) -> Result<String, StoreError> {
    let json = serde_json::to_string(list).map_err(|_| StoreError::Invalid(field))?;
    bounded(field, &json, MAX_JSON)?;
    Ok(json)
}
