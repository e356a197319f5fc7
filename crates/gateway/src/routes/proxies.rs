//! `/v1/proxies`: tasks for untrusted services, each run by a sacrificial worker. Agents give tasks and read results;
//! the owner sees services and holds.

use super::guard::wire::{BodyErrors, OwnerErrors};
use super::lockdown;
use super::owner::wire::{Wait, asked_wait, patience};
use crate::error::{ApiError, ErrorBody};
use crate::front;
use crate::json::Strict;
use crate::state::App;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use blastshield_proxies::{PeopleError, ServiceView, SubmitError, TaskView};
use blastshield_recovery::WorkspaceError;
use blastshield_recovery::relationships::{Status, Tier};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::ToSchema;

const NO_SERVICE: ApiError = ApiError::NotFound("there is no service of this name");
const NO_TASK: ApiError = ApiError::NotFound("there is no task with this id");

/// What agents may call. Tasks may wait for a person.
pub(super) fn agents(app: &Arc<App>) -> Router<Arc<App>> {
    let routes = Router::new()
        .route("/v1/proxies/{service}/tasks", post(run))
        .route("/v1/proxies/{service}/tasks/{id}", get(one));
    lockdown::gated(app, routes).route_layer(middleware::from_fn_with_state(
        Arc::clone(app),
        front::patient,
    ))
}

/// What only the owner may call.
pub(super) fn owner(app: &Arc<App>) -> Router<Arc<App>> {
    Router::new()
        .route("/v1/proxies", get(list))
        .route(
            "/v1/proxies/{service}/relationships",
            get(people).post(standing),
        )
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(app),
            front::owner,
        ))
}

/// A task.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskRequest {
    /// What is asked of the service, as its definition names it.
    operation: String,
    /// The operation's parameters; what is not part of path or query becomes the body.
    #[serde(default)]
    #[schema(value_type = Object)]
    params: Map<String, Value>,
    /// With whom it is about, for relationships.
    with: Option<String>,
    /// Seconds to wait for the end; 0 by default.
    wait: Option<u64>,
}

/// A task and what became of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TaskBody {
    /// Its name.
    task_id: String,
    /// The service.
    service: String,
    /// The operation.
    operation: String,
    /// `queued`, `running`, `waiting_for_owner`, `done` or `failed`.
    state: String,
    /// Data that passed every stage, cut down to what the definition declares.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    data: Option<Value>,
    /// In a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    /// What the stages remarked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    /// Who wrote what is in the data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    people: Vec<PersonBody>,
    /// What passed lately between the proxy's identity and those it knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    recent_context: Option<String>,
    /// The request to the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval_id: Option<String>,
    /// Why it came to nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<TaskErrorBody>,
}

/// Somebody who wrote something.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PersonBody {
    /// As the service has it.
    name: String,
    /// `Acquaintance`, `Friend` or `Ally`.
    tier: String,
    /// `ask` or `reply`: how far the proxy may go on its own.
    engagement: String,
}

/// Why a task came to nothing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TaskErrorBody {
    /// For programs.
    code: String,
    /// For people.
    message: String,
    /// When it makes sense to try again.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    /// The hold that the owner has to clear.
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<String>,
}

/// The services.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProxiesBody {
    /// By name.
    #[schema(value_type = Vec<Object>)]
    proxies: Vec<ServiceView>,
}

/// Give a task to a service's proxy.
#[utoipa::path(post, path = "/v1/proxies/{service}/tasks", tag = "proxies", request_body = TaskRequest,
    params(("service" = String, Path, description = "The service")),
    responses(
        (status = 200, description = "It is over", body = TaskBody),
        (status = 202, description = "It runs, or waits for its turn or the owner", body = TaskBody),
        (status = 403, description = "The owner has closed all ways out", body = ErrorBody),
        (status = 404, description = "There is no such service", body = ErrorBody),
        BodyErrors,
    ),
    security((), ("bearer" = [])))]
pub(crate) async fn run(
    State(app): State<Arc<App>>,
    service: Result<Path<String>, PathRejection>,
    Strict(request): Strict<TaskRequest>,
) -> Result<(StatusCode, Json<TaskBody>), ApiError> {
    let Path(service) = service.map_err(|_| NO_SERVICE)?;
    let wait = patience(&app, request.wait)?;
    let proxies = app.proxies.get(&app).await?;
    let task = proxies
        .submit(
            &service,
            &request.operation,
            &request.params,
            request.with.as_deref(),
        )
        .await
        .map_err(|error| refused(&error))?;
    let task = if wait.is_zero() {
        task
    } else {
        proxies.wait(&task.id, wait).await?.ok_or(NO_TASK)?
    };
    Ok(answer(task))
}

/// How a task stands.
#[utoipa::path(get, path = "/v1/proxies/{service}/tasks/{id}", tag = "proxies",
    params(("service" = String, Path, description = "The service"), ("id" = String, Path, description = "The task"), Wait),
    responses(
        (status = 200, description = "It is over", body = TaskBody),
        (status = 202, description = "It runs, or waits for its turn or the owner", body = TaskBody),
        (status = 400, description = "The query is malformed", body = ErrorBody),
        (status = 401, description = "No token, or a wrong one", body = ErrorBody),
        (status = 404, description = "There is no such task", body = ErrorBody),
        (status = 503, description = "The proxies cannot be used", body = ErrorBody),
    ),
    security((), ("bearer" = [])))]
pub(crate) async fn one(
    State(app): State<Arc<App>>,
    path: Result<Path<(String, String)>, PathRejection>,
    query: Result<Query<Wait>, QueryRejection>,
) -> Result<(StatusCode, Json<TaskBody>), ApiError> {
    let Path((service, id)) = path.map_err(|_| NO_TASK)?;
    let wait = asked_wait(&app, query)?;
    let proxies = app.proxies.get(&app).await?;
    let task = proxies.wait(&id, wait).await?;
    task.filter(|task| task.service == service)
        .map(answer)
        .ok_or(NO_TASK)
}

/// The services, with what holds them.
#[utoipa::path(get, path = "/v1/proxies", tag = "proxies",
    responses((status = 200, description = "All services", body = ProxiesBody), OwnerErrors),
    security(("bearer" = [])))]
pub(crate) async fn list(State(app): State<Arc<App>>) -> Result<Json<ProxiesBody>, ApiError> {
    let proxies = app.proxies.get(&app).await?.services().await;
    let proxies = proxies.map_err(|error| {
        tracing::error!(target: "security", %error, "the holds cannot be read");
        ApiError::Busy("the holds cannot be read now; try again")
    })?;
    Ok(Json(ProxiesBody { proxies }))
}

/// Whom a service's identity knows.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RelationshipsBody {
    /// By name: tier, status, the last interactions.
    #[schema(value_type = Object)]
    relationships: Value,
}

/// The owner's word on somebody.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StandingRequest {
    /// As the service has it.
    name: String,
    /// `Acquaintance`, `Friend` or `Ally`.
    #[schema(value_type = Option<String>)]
    tier: Option<Tier>,
    /// `ACTIVE`, `PAUSED`, `BLOCKED` or `REVIEW_REQUIRED`.
    #[schema(value_type = Option<String>)]
    status: Option<Status>,
}

/// Whom the service's identity knows.
#[utoipa::path(get, path = "/v1/proxies/{service}/relationships", tag = "proxies",
    params(("service" = String, Path, description = "The service")),
    responses(
        (status = 200, description = "All relationships", body = RelationshipsBody),
        (status = 404, description = "There is no such service", body = ErrorBody),
        OwnerErrors,
    ),
    security(("bearer" = [])))]
pub(crate) async fn people(
    State(app): State<Arc<App>>,
    service: Result<Path<String>, PathRejection>,
) -> Result<Json<RelationshipsBody>, ApiError> {
    let Path(service) = service.map_err(|_| NO_SERVICE)?;
    let all = app.proxies.get(&app).await?.relationships(&service).await;
    let mut all = serde_json::to_value(all.map_err(unpeopled)?).unwrap_or_default();
    let relationships = all
        .get_mut("relationships")
        .map(Value::take)
        .unwrap_or_default();
    Ok(Json(RelationshipsBody { relationships }))
}

/// Say how well somebody is known.
#[utoipa::path(post, path = "/v1/proxies/{service}/relationships", tag = "proxies", request_body = StandingRequest,
    params(("service" = String, Path, description = "The service")),
    responses(
        (status = 200, description = "All relationships, as they are now", body = RelationshipsBody),
        (status = 403, description = "The agent's token does not open this", body = ErrorBody),
        (status = 404, description = "There is no such service", body = ErrorBody),
        BodyErrors,
    ),
    security(("bearer" = [])))]
pub(crate) async fn standing(
    State(app): State<Arc<App>>,
    service: Result<Path<String>, PathRejection>,
    Strict(request): Strict<StandingRequest>,
) -> Result<Json<RelationshipsBody>, ApiError> {
    let Path(name) = service.map_err(|_| NO_SERVICE)?;
    let proxies = app.proxies.get(&app).await?;
    proxies
        .set_relationship(&name, &request.name, request.tier, request.status)
        .await
        .map_err(unpeopled)?;
    people(State(app), Ok(Path(name))).await
}

fn unpeopled(error: PeopleError) -> ApiError {
    match error {
        PeopleError::Service => NO_SERVICE,
        PeopleError::Workspace(WorkspaceError::Malformed("name")) => {
            ApiError::field("name", "a name has 1 to 64 visible ASCII characters")
        }
        PeopleError::Workspace(WorkspaceError::Missing) => {
            ApiError::field("name", "the service has no workspace yet: run a task first")
        }
        PeopleError::Workspace(_) | PeopleError::Unrecorded => {
            tracing::error!(target: "security", %error, "a relationship was not changed");
            ApiError::Internal
        }
    }
}

fn answer(task: TaskView) -> (StatusCode, Json<TaskBody>) {
    let status = if task.is_over() {
        StatusCode::OK
    } else {
        StatusCode::ACCEPTED
    };
    let state = serde_json::to_value(task.state).unwrap_or_default();
    let body = TaskBody {
        task_id: task.id,
        service: task.service,
        operation: task.operation,
        state: state.as_str().unwrap_or_default().to_owned(),
        data: task.data,
        summary: task.summary,
        flags: task.flags,
        people: task
            .people
            .into_iter()
            .map(|person| PersonBody {
                name: person.name,
                tier: person.tier,
                engagement: person.engagement,
            })
            .collect(),
        recent_context: task.recent_context,
        approval_id: task.approval,
        error: task.error.map(|error| TaskErrorBody {
            code: error.code,
            message: error.message,
            retry_after_ms: error.retry_after_ms,
            hold: error.hold,
        }),
    };
    (status, Json(body))
}

fn refused(error: &SubmitError) -> ApiError {
    match error {
        SubmitError::Service => NO_SERVICE,
        SubmitError::Operation => ApiError::field("operation", error.to_string()),
        SubmitError::Input(_) => ApiError::field("params", error.to_string()),
        SubmitError::With => ApiError::field("with", error.to_string()),
        SubmitError::Credential(_) => {
            ApiError::Disabled("the service's credential is not set; the owner has to set it")
        }
        SubmitError::Busy => ApiError::Busy("too many tasks are on; try again"),
        SubmitError::Unkept => ApiError::Busy("the task could not be kept; try again"),
        SubmitError::Closing => ApiError::Busy("the gateway is going down"),
        SubmitError::NoRandom => ApiError::Internal,
    }
}
