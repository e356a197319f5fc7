//! `/v1/wallet` and `/v1/payments`: what the wallet may spend, and paying an invoice with the owner's yes.

use super::guard::wire::{BodyErrors, OwnerErrors};
use super::lockdown;
use super::owner::wire::{Wait, asked_wait};
use crate::error::{ApiError, ErrorBody};
use crate::front;
use crate::json::Strict;
use crate::state::App;
use crate::wallet::UNKNOWN;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use blastshield_wallet::{Outcome, Payment, State as Stand, Status, Wish};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// In whose name the owner is asked; an agent may look at these requests.
const REQUESTER: &str = "agent/wallet";
const MAX_LIST: u32 = 200;

/// What agents may call. Payments may wait for a person.
pub(super) fn agents(app: &Arc<App>) -> Router<Arc<App>> {
    let routes = Router::new()
        .route("/v1/wallet", get(status))
        .route("/v1/payments", post(pay))
        .route("/v1/payments/{id}", get(one));
    lockdown::gated(app, routes).route_layer(middleware::from_fn_with_state(
        Arc::clone(app),
        front::patient,
    ))
}

/// What only the owner may call.
pub(super) fn owner(app: &Arc<App>) -> Router<Arc<App>> {
    Router::new()
        .route("/v1/payments", get(list))
        .route("/v1/payments/{id}/resolve", post(resolve))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(app),
            front::owner,
        ))
}

/// How the wallet stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct WalletBody {
    /// `disabled`, `receive-only` or `approval-gated`.
    mode: String,
    /// Variables without which it may not be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
    /// Today, where the owner lives.
    day: String,
    /// Paid today, with fees.
    spent_sats: u64,
    /// Set aside for payments that are open or whose outcome is unknown.
    reserved_sats: u64,
    /// The most that a day's payments may come to.
    daily_limit_sats: u64,
    /// What is left of it.
    left_sats: u64,
    /// Over this amount the owner repeats the amount.
    approval_threshold_sats: u64,
    /// What the wallet holds; absent when LNbits does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    balance_sats: Option<u64>,
}

impl WalletBody {
    fn of(status: &Status) -> Self {
        Self {
            mode: status.mode.as_str().to_owned(),
            missing: status.mode.missing().to_vec(),
            day: status.day.clone(),
            spent_sats: status.spent_sats,
            reserved_sats: status.reserved_sats,
            daily_limit_sats: status.limit_sats,
            left_sats: status.left_sats(),
            approval_threshold_sats: status.threshold_sats,
            balance_sats: status.balance_sats,
        }
    }
}

/// A payment.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct PaymentBody {
    /// Its name.
    payment_id: String,
    /// `requested`, `asked`, `approved`, `sending`, `paid`, `failed`, `denied`, `expired` or `unknown`.
    state: String,
    /// Why, in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The state in a sentence.
    message: String,
    /// The request to the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval_id: Option<String>,
    /// Whether the owner has to repeat the amount.
    must_confirm: bool,
    /// How much, in whole sats.
    amount_sats: u64,
    /// The most that fees may add.
    fee_limit_sats: u64,
    /// What fees added, once paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    fee_sats: Option<u64>,
    /// A fingerprint of the invoice.
    invoice: String,
    /// What the network knows it by.
    payment_hash: String,
    /// What it is for, in the requester's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    memo: Option<String>,
    /// From when on the invoice cannot be paid, in milliseconds since the epoch.
    invoice_expires_ms: i64,
    /// When it was asked for.
    created_ms: i64,
    /// When it got where it stands.
    changed_ms: i64,
}

impl From<Payment> for PaymentBody {
    fn from(payment: Payment) -> Self {
        Self {
            message: message(payment.state).to_owned(),
            state: payment.state.as_str().to_owned(),
            reason: Some(payment.why).filter(|why| !why.is_empty()),
            payment_id: payment.id,
            approval_id: payment.approval_id,
            must_confirm: payment.must_confirm,
            amount_sats: payment.amount_sats,
            fee_limit_sats: payment.fee_limit_sats,
            fee_sats: payment.fee_sats,
            invoice: payment.invoice,
            payment_hash: payment.payment_hash,
            memo: payment.memo,
            invoice_expires_ms: payment.expires_ms,
            created_ms: payment.created_ms,
            changed_ms: payment.changed_ms,
        }
    }
}

const fn message(state: Stand) -> &'static str {
    match state {
        Stand::Requested => "the owner is about to be asked",
        Stand::Asked => "the owner has not answered yet",
        Stand::Approved => "the owner said yes; it is about to be sent",
        Stand::Sending => "it is on its way",
        Stand::Paid => "it is paid",
        Stand::Failed => "it was not paid and will not be; another try needs a new invoice",
        Stand::Denied => "the owner said no",
        Stand::Expired => "timeout: nobody answered in time, which means no",
        Stand::Unknown => "nobody can say yet whether it was paid; do not pay it in another way",
    }
}

/// How the wallet stands: mode, today's spending, limits, and the balance if LNbits says.
#[utoipa::path(
    get,
    path = "/v1/wallet",
    responses(
        (status = 200, body = WalletBody),
        (status = 401, body = ErrorBody),
        (status = 503, body = ErrorBody)
    )
)]
pub(crate) async fn status(State(app): State<Arc<App>>) -> Result<Json<WalletBody>, ApiError> {
    let _turn = front::turn(&app)?;
    let status = app.purse.wallet().status().await?;
    Ok(Json(WalletBody::of(&status)))
}

/// An invoice to pay.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PayRequest {
    /// The BOLT 11 invoice; it must name an amount.
    #[schema(min_length = 1, max_length = 4096)]
    bolt11: String,
    /// What it is for; the owner sees it.
    #[schema(min_length = 1, max_length = 200)]
    memo: Option<String>,
    /// What it is expected to cost, in whole sats; another amount in the invoice is refused.
    amount_sats: Option<u64>,
}

/// Asks the owner to pay an invoice. The same invoice again is the same payment.
#[utoipa::path(
    post,
    path = "/v1/payments",
    request_body = PayRequest,
    responses(
        (status = 202, body = PaymentBody, description = "The owner is asked, or was before"),
        (status = 403, body = ErrorBody, description = "`wallet_disabled`, `receive_only` or `daily_limit`"),
        (status = 409, body = ErrorBody, description = "`invoice_conflict`: another invoice with this payment hash is known"),
        (status = 429, body = ErrorBody),
        BodyErrors
    )
)]
pub(crate) async fn pay(
    State(app): State<Arc<App>>,
    Strict(request): Strict<PayRequest>,
) -> Result<(StatusCode, Json<PaymentBody>), ApiError> {
    let _turn = front::turn(&app)?;
    let wish = Wish {
        bolt11: &request.bolt11,
        memo: request.memo.as_deref(),
        amount_sats: request.amount_sats,
        requester: REQUESTER,
    };
    let payment = app.purse.wallet().request(&wish).await?;
    Ok((StatusCode::ACCEPTED, Json(payment.into())))
}

/// Where a payment stands.
#[utoipa::path(
    get,
    path = "/v1/payments/{id}",
    params(("id" = String, Path, description = "The payment"), Wait),
    responses(
        (status = 200, body = PaymentBody),
        (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody),
        (status = 404, body = ErrorBody),
        (status = 429, body = ErrorBody),
        (status = 503, body = ErrorBody)
    )
)]
pub(crate) async fn one(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    query: Result<Query<Wait>, QueryRejection>,
) -> Result<Json<PaymentBody>, ApiError> {
    let Path(id) = path.map_err(|_| UNKNOWN)?;
    let wait = asked_wait(&app, query)?;
    let payment = app.purse.wallet().wait(&id, wait).await?;
    Ok(Json(payment.into()))
}

/// How many.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Many {
    /// How many at most.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// Payments, newest first.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct PaymentsBody {
    /// The payments.
    payments: Vec<PaymentBody>,
}

/// The latest payments, newest first. Owner only.
#[utoipa::path(
    get,
    path = "/v1/payments",
    params(Many),
    responses(
        (status = 200, body = PaymentsBody),
        (status = 400, body = ErrorBody),
        OwnerErrors
    ),
    security(("bearer" = []))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    query: Result<Query<Many>, QueryRejection>,
) -> Result<Json<PaymentsBody>, ApiError> {
    let wrong = || ApiError::field("limit", format!("limit must be from 1 to {MAX_LIST}"));
    let Query(Many { limit }) = query.map_err(|_| wrong())?;
    let limit = limit.unwrap_or(50);
    if !(1..=MAX_LIST).contains(&limit) {
        return Err(wrong());
    }
    let payments = app.purse.wallet().list(limit).await?;
    Ok(Json(PaymentsBody {
        payments: payments.into_iter().map(PaymentBody::from).collect(),
    }))
}

/// What became of a payment.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResolveRequest {
    /// The owner's word on a payment whose outcome is unknown; without it LNbits is looked at once more.
    outcome: Option<OutcomeName>,
}

/// What became of a payment.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutcomeName {
    /// It went out.
    Paid,
    /// It did not.
    Failed,
}

/// Looks at a payment once more, or takes the owner's word for what became of it. Never pays. Owner only.
#[utoipa::path(
    post,
    path = "/v1/payments/{id}/resolve",
    params(("id" = String, Path, description = "The payment")),
    request_body = ResolveRequest,
    responses(
        (status = 200, body = PaymentBody),
        (status = 403, body = ErrorBody),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody, description = "`not_unknown`: its outcome is known"),
        BodyErrors
    ),
    security(("bearer" = []))
)]
pub(crate) async fn resolve(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    Strict(request): Strict<ResolveRequest>,
) -> Result<Json<PaymentBody>, ApiError> {
    let Path(id) = path.map_err(|_| UNKNOWN)?;
    let word = request.outcome.map(|outcome| match outcome {
        OutcomeName::Paid => Outcome::Paid,
        OutcomeName::Failed => Outcome::Failed,
    });
    let payment = app.purse.wallet().resolve(&id, word).await?;
    Ok(Json(payment.into()))
}
