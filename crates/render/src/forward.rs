//! Passes one plain request on, over a connection of its own.

use blastshield_web::FetchError;
use http::header::{
    CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION,
    TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{Request, StatusCode, Uri};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use crate::door::{Answer, Keeper, Passage, bare};

const HEADERS: usize = 128;
const HEAD_BYTES: usize = 64 * 1024;

/// Headers that concern one connection only.
const BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Sends the request to the admitted target and gives back what it answers.
pub(crate) async fn send(
    keeper: &Keeper,
    request: Request<Incoming>,
    passage: Passage,
) -> Result<Answer, FetchError> {
    let request = rewrite(request, &passage)?;
    let (mut sender, connection) = http1::Builder::new()
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES)
        .handshake(TokioIo::new(passage.stream))
        .await
        .map_err(|_| FetchError::Protocol)?;
    keeper.spawn(async move {
        // The failure reaches the browser through the answer.
        let _ = connection.await;
    });
    let answer = sender
        .send_request(request)
        .await
        .map_err(|_| FetchError::Protocol)?;
    if answer.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
        // Only the door may ask for the door's password.
        return Ok(bare(StatusCode::BAD_GATEWAY));
    }
    let (mut head, body) = answer.into_parts();
    strip(&mut head.headers);
    Ok(Answer::from_parts(head, body.boxed()))
}

/// From the form for proxies to the form for origins.
fn rewrite(
    mut request: Request<Incoming>,
    passage: &Passage,
) -> Result<Request<Incoming>, FetchError> {
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    let path = Uri::try_from(path).map_err(|_| FetchError::Protocol)?;
    *request.uri_mut() = path;
    let url = &passage.target.url;
    let name = url.host_str().ok_or(FetchError::Protocol)?;
    let host = match url.port() {
        Some(port) => format!("{name}:{port}"),
        None => name.to_owned(),
    };
    let host = HeaderValue::try_from(host).map_err(|_| FetchError::Protocol)?;
    strip(request.headers_mut());
    request.headers_mut().insert(HOST, host);
    request
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("close"));
    Ok(request)
}

fn strip(headers: &mut HeaderMap) {
    for name in &BY_HOP {
        headers.remove(name);
    }
}
