//! A tunnel to an admitted target. Where plain http is switched off, only TLS may pass through it.

use std::sync::Arc;

use blastshield_policy::Refusal;
use http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};

use crate::door::{Answer, Keeper, Passage, bare, refused};

/// The first byte of every TLS connection: a handshake record.
const TLS_HANDSHAKE: u8 = 22;

/// Agrees to the tunnel and carries it until either side ends it, or the door closes.
pub(crate) fn open(keeper: &Arc<Keeper>, request: Request<Incoming>, passage: Passage) -> Answer {
    let from = Arc::clone(keeper);
    keeper.spawn(async move {
        if let Ok(upgraded) = hyper::upgrade::on(request).await {
            carry(&from, TokioIo::new(upgraded), passage).await;
        }
    });
    bare(StatusCode::OK)
}

async fn carry(
    keeper: &Keeper,
    mut inside: impl AsyncRead + AsyncWrite + Unpin,
    mut passage: Passage,
) {
    if !passage.allow_http {
        let Ok(first) = inside.read_u8().await else {
            return;
        };
        if first != TLS_HANDSHAKE {
            keeper.traffic.count_refusal();
            let target = &passage.target;
            keeper
                .traffic
                .note(&target.host, target.port, refused(Refusal::PlainHttp));
            return;
        }
        if passage.stream.write_u8(first).await.is_err() {
            return;
        }
    }
    // Either side may end it as it likes.
    let _ = copy_bidirectional(&mut inside, &mut passage.stream).await;
}
