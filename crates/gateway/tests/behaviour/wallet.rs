//! Paying over HTTP: what an agent may ask for, that nothing leaves without the owner, and that nothing shows.

use crate::common::*;
use reqwest::Method;
use serde_json::{Value, json};
use wiremock::matchers::{body_json, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

const AGENT: &str = "agent-token-0123456789";
const OWNER: &str = "owner-token-0123456789";
const KEY: &str = "5ec2e7ad0123456789abcdef5ec2e7ad";

/// Invoices that live for a hundred years, over 500, 5000 and 60000 sats, and one without an amount.
const SMALL: &str = "lnbc5u1p53j9qqdqvdaexgetjyqcspp5e5nxy92wd4mt9v4e9ecvpjkren6nf7dhf66m3xqea3gfpq7spfgqsp59g4z52329g4z52329g4z52329g4z52329g4z52329g4z52329g4q9qrsgqcqzysxq8zals8sqx9z5yzuwwxvd87gpulf7vl9sl4nsjtq264tpwxqf0l0hgucmpl98upvdp73y7aujt6dxvkvwpd2xw8zlfc4xqxnal3qhsks875pupcqpnrj2t7";
const SMALL_HASH: &str = "cd2662154e6d76b2b2b92e70c0cac3ccf534f9b74eb5b89819ec509083d00a50";
const LARGE: &str = "lnbc50u1p53j9qqdqvdaexgetjyqeqpp5e5z2ga2ynrsxmddp830nw8clqnlk6frs7f92n0vgv4qwth880acqsp59g4z52329g4z52329g4z52329g4z52329g4z52329g4z52329g4q9qrsgqcqzysxq8zals8sqtrj0nem0ajp27k6lv0y0cxxxkp0e3dm3te3ezws045a3tfpsa0ekespd5hud3l7tkl4udm96qpp75nlzespv9vmd5lrjvq6mu4sputcpk7d4vm";
const LARGE_HASH: &str = "cd04a4754498e06db5a13c5f371f1f04ff6d2470f24aa9bd886540e5dce77f70";
const HUGE: &str = "lnbc600u1p53j9qqdqvdaexgetjyqespp5645g55k4tgpwcjh2tmq74hllu8y7pmn2fhd7ydmlnqex6skle96ssp59g4z52329g4z52329g4z52329g4z52329g4z52329g4z52329g4q9qrsgqcqzysxq8zals8sqj6jvn327ktp5u799sdpf6cmzl6znpkxvenpzwrrgrtl6dhaxksw4dsazaxcrz3ytvh8w5ytn6zq46w6r5cguhwypedyyyw8uaes8gfcq37aecl";
const DONATION: &str = "lnbc1p53j9qqdqvdaexgetjyq6qpp5sqzlqt2rlgrw05zct7mye9sa2l333vn6z3wg277d8f4aksfl7l7qsp59g4z52329g4z52329g4z52329g4z52329g4z52329g4z52329g4q9qrsgqcqzysxq8zals8sql3manxrzw2w76k9yqwaw03vke2mu5uzu0whage2fm3ngyvhz3cvnya2cxe6r20lvvecjdkqxkgp8tmfgpq0yrtvk4fs9fmfaw5hfawqpn9nrht";

/// An LNbits that pays this invoice, once.
async fn lnbits(bolt11: &str, hash: &str, msat: i64) -> MockServer {
    let server = MockServer::start().await;
    serve(&server, bolt11, hash, msat).await;
    server
}

async fn serve(server: &MockServer, bolt11: &str, hash: &str, msat: i64) {
    let answered = |status, body: Value| ResponseTemplate::new(status).set_body_json(body);
    Mock::given(method("GET"))
        .and(path("/api/v1/wallet"))
        .and(header("x-api-key", KEY))
        .respond_with(answered(200, json!({"name": "w", "balance": 9_000_999})))
        .mount(server)
        .await;
    Mock::given(method("GET"))
        .and(path("/api/v1/payments/fee-reserve"))
        .respond_with(answered(200, json!({"fee_reserve": 2000})))
        .mount(server)
        .await;
    Mock::given(method("GET"))
        .and(path(format!("/api/v1/payments/{hash}")))
        .respond_with(answered(404, json!({"detail": "Payment does not exist."})))
        .mount(server)
        .await;
    let paid = json!({"payment_hash": hash, "amount": -msat, "fee": -1000, "status": "success"});
    Mock::given(method("POST"))
        .and(path("/api/v1/payments"))
        .and(header("x-api-key", KEY))
        .and(body_json(json!({"out": true, "bolt11": bolt11})))
        .respond_with(answered(201, paid))
        .up_to_n_times(1)
        .mount(server)
        .await;
}

fn variables(url: &str) -> [(&str, &str); 7] {
    [
        ("BLASTSHIELD_AGENT_TOKEN", AGENT),
        ("BLASTSHIELD_OWNER_TOKEN", OWNER),
        ("LNBITS_URL", url),
        ("LNBITS_ADMIN_KEY", KEY),
        ("WALLET_DAILY_LIMIT_SATS", "10000"),
        ("WALLET_APPROVAL_THRESHOLD_SATS", "1000"),
        ("BLASTSHIELD_WALLET_TIME_ZONE", "Europe/Vienna"),
    ]
}

async fn gateway(url: &str) -> Running {
    start(&variables(url)).await
}

async fn call(gateway: &Running, method: Method, path: &str, token: &str, body: Value) -> Answer {
    let mut request = gateway.request(method, path).bearer_auth(token);
    if !body.is_null() {
        request = request.json(&body);
    }
    answer(request).await
}

async fn get(gateway: &Running, path: &str, token: &str) -> Answer {
    call(gateway, Method::GET, path, token, Value::Null).await
}

async fn pay(gateway: &Running, body: Value) -> Answer {
    call(gateway, Method::POST, "/v1/payments", AGENT, body).await
}

async fn decide(gateway: &Running, approval: &Value, body: Value) -> Answer {
    let id = approval.as_str().unwrap();
    let path = format!("/v1/approvals/{id}/decision");
    call(gateway, Method::POST, &path, OWNER, body).await
}

fn posts(requests: &[wiremock::Request]) -> usize {
    let posts = requests.iter().filter(|one| one.method.as_str() == "POST");
    posts.count()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invoice_is_paid_with_the_owners_yes() {
    let server = lnbits(SMALL, SMALL_HASH, 500_000).await;
    let gateway = gateway(&server.uri()).await;
    let wallet = get(&gateway, "/v1/wallet", AGENT).await;
    assert_eq!(wallet.status, 200, "{}", wallet.text);
    assert_eq!(wallet.body["mode"], "approval-gated");
    assert_eq!(wallet.body["balance_sats"], 9000);
    assert_eq!(wallet.body["daily_limit_sats"], 10_000);
    let made = pay(
        &gateway,
        json!({"bolt11": SMALL, "memo": "a book", "amount_sats": 500}),
    )
    .await;
    assert_eq!(made.status, 202, "{}", made.text);
    assert_eq!(made.body["state"], "asked");
    assert_eq!(made.body["invoice"], "lnbc...[redacted]...j2t7");
    assert_eq!(made.body["must_confirm"], false);
    let approval = made.body["approval_id"].clone();
    let theirs = get(
        &gateway,
        &format!("/v1/approvals/{}", approval.as_str().unwrap()),
        AGENT,
    )
    .await;
    assert_eq!(theirs.body["state"], "pending", "{}", theirs.text);
    assert_eq!(posts(&server.received_requests().await.unwrap()), 0);
    let decided = decide(&gateway, &approval, json!({"decision": "approve"})).await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let id = made.body["payment_id"].as_str().unwrap();
    let paid = get(&gateway, &format!("/v1/payments/{id}?wait=30"), AGENT).await;
    assert_eq!(paid.body["state"], "paid", "{}", paid.text);
    assert_eq!(paid.body["fee_sats"], 1);
    let again = pay(&gateway, json!({"bolt11": SMALL})).await;
    assert_eq!((again.status, &again.body["state"]), (202, &json!("paid")));
    assert_eq!(again.body["payment_id"], made.body["payment_id"]);
    assert_eq!(posts(&server.received_requests().await.unwrap()), 1);
    let wallet = get(&gateway, "/v1/wallet", AGENT).await;
    assert_eq!(wallet.body["spent_sats"], 501);
    assert_eq!(wallet.body["left_sats"], 9499);
    let status = get(&gateway, "/v1/status", OWNER).await;
    let told = &status.body["wallet"];
    for (name, expected) in [
        ("mode", json!("approval-gated")),
        ("spent_sats", json!(501)),
        ("reserved_sats", json!(0)),
        ("daily_limit_sats", json!(10_000)),
        ("left_sats", json!(9499)),
        ("approval_threshold_sats", json!(1000)),
        ("day", wallet.body["day"].clone()),
    ] {
        assert_eq!(told[name], expected, "{name}: {told}");
    }
    let file = gateway
        .folder
        .path()
        .join("logs/security-supervisor-status.json");
    let written =
        || -> Option<Value> { serde_json::from_str(&std::fs::read_to_string(&file).ok()?).ok() };
    for _ in 0..400 {
        if written().is_some_and(|status| status["wallet"] == *told) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    assert_eq!(written().unwrap()["wallet"], *told, "the file follows");
    let list = get(&gateway, "/v1/payments", OWNER).await;
    assert_eq!(list.body["payments"].as_array().unwrap().len(), 1);
    for text in [&made.text, &paid.text, &wallet.text, &list.text] {
        assert!(!text.contains(&SMALL[20..60]) && !text.contains(KEY));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_payment_needs_the_amount_repeated() {
    let server = lnbits(LARGE, LARGE_HASH, 5_000_000).await;
    let gateway = gateway(&server.uri()).await;
    let made = pay(&gateway, json!({"bolt11": LARGE})).await;
    assert_eq!(made.body["must_confirm"], true, "{}", made.text);
    let approval = made.body["approval_id"].clone();
    for body in [
        json!({"decision": "approve"}),
        json!({"decision": "approve", "confirm": 500}),
    ] {
        let refused = decide(&gateway, &approval, body).await;
        assert!((400..500).contains(&refused.status), "{}", refused.text);
    }
    let path = format!("/v1/payments/{}", made.body["payment_id"].as_str().unwrap());
    assert_eq!(get(&gateway, &path, AGENT).await.body["state"], "asked");
    let decided = decide(
        &gateway,
        &approval,
        json!({"decision": "approve", "confirm": 5000}),
    )
    .await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let paid = get(&gateway, &format!("{path}?wait=30"), AGENT).await;
    assert_eq!(paid.body["state"], "paid", "{}", paid.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_means_that_nothing_leaves() {
    let server = lnbits(SMALL, SMALL_HASH, 500_000).await;
    let gateway = gateway(&server.uri()).await;
    let made = pay(&gateway, json!({"bolt11": SMALL})).await;
    decide(
        &gateway,
        &made.body["approval_id"],
        json!({"decision": "deny"}),
    )
    .await;
    let id = made.body["payment_id"].as_str().unwrap();
    let denied = get(&gateway, &format!("/v1/payments/{id}?wait=30"), AGENT).await;
    assert_eq!(denied.body["state"], "denied", "{}", denied.text);
    assert_eq!(denied.body["reason"], "owner_denied");
    assert_eq!(posts(&server.received_requests().await.unwrap()), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_say_what_is_wrong() {
    let server = lnbits(SMALL, SMALL_HASH, 500_000).await;
    let gateway = gateway(&server.uri()).await;
    for (body, status, code) in [
        (json!({"bolt11": "lnbc1x"}), 400, "invoice_invalid"),
        (json!({"bolt11": DONATION}), 400, "amount_missing"),
        (
            json!({"bolt11": SMALL, "amount_sats": 499}),
            400,
            "amount_mismatch",
        ),
        (json!({"bolt11": HUGE}), 403, "daily_limit"),
        (json!({"bolt11": SMALL, "memo": "a\nb"}), 400, "bad_request"),
        (json!({"bolt11": SMALL, "fee": 1}), 400, "bad_request"),
        (
            json!({"bolt11": SMALL, "amount_sats": -1}),
            400,
            "bad_request",
        ),
        (json!({}), 400, "bad_request"),
    ] {
        let refused = pay(&gateway, body).await;
        assert_eq!(refused.status, status, "{}", refused.text);
        assert_eq!(refused.body["error"]["code"], code, "{}", refused.text);
        assert!(!refused.text.contains(&SMALL[20..60]));
    }
    for path in [
        "/v1/payments/pay_0",
        "/v1/payments/%00",
        "/v1/payments/a%2Fb",
    ] {
        assert_eq!(get(&gateway, path, AGENT).await.status, 404);
    }
    let list = get(&gateway, "/v1/payments", OWNER).await;
    assert_eq!(list.body["payments"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_keys_there_is_no_wallet_and_with_one_it_only_receives() {
    let bare = start(&[]).await;
    let wallet = bare.get("/v1/wallet").await;
    assert_eq!(wallet.body["mode"], "disabled", "{}", wallet.text);
    let refused = bare.post("/v1/payments", &json!({"bolt11": SMALL})).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    assert_eq!(refused.body["error"]["code"], "wallet_disabled");
    let server = lnbits(SMALL, SMALL_HASH, 500_000).await;
    let url = server.uri();
    let receive = start(&[("LNBITS_URL", &url), ("LNBITS_INVOICE_KEY", KEY)]).await;
    let wallet = receive.get("/v1/wallet").await;
    assert_eq!(wallet.body["mode"], "receive-only");
    assert_eq!(wallet.body["balance_sats"], 9000);
    let refused = receive
        .post("/v1/payments", &json!({"bolt11": SMALL}))
        .await;
    assert_eq!(refused.body["error"]["code"], "receive_only");
    let lacking = start(&[("LNBITS_URL", &url), ("LNBITS_ADMIN_KEY", KEY)]).await;
    let refused = lacking
        .post("/v1/payments", &json!({"bolt11": SMALL}))
        .await;
    assert_eq!(refused.body["error"]["code"], "wallet_disabled");
    assert_eq!(
        refused.body["error"]["details"]["missing"],
        json!(["WALLET_DAILY_LIMIT_SATS", "WALLET_APPROVAL_THRESHOLD_SATS"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_opens_no_owner_route_of_the_wallet() {
    let server = lnbits(SMALL, SMALL_HASH, 500_000).await;
    let gateway = gateway(&server.uri()).await;
    let made = pay(&gateway, json!({"bolt11": SMALL})).await;
    assert_eq!(get(&gateway, "/v1/payments", AGENT).await.status, 403);
    let id = made.body["payment_id"].as_str().unwrap();
    let path = format!("/v1/payments/{id}/resolve");
    let word = json!({"outcome": "paid"});
    let agents = call(&gateway, Method::POST, &path, AGENT, word.clone()).await;
    assert_eq!(agents.status, 403, "{}", agents.text);
    // Nor does the owner's word overrule what is not unknown.
    let owners = call(&gateway, Method::POST, &path, OWNER, word).await;
    assert_eq!(owners.status, 409, "{}", owners.text);
    let looked = call(&gateway, Method::POST, &path, OWNER, json!({})).await;
    assert_eq!(looked.body["state"], "asked", "{}", looked.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_payment_goes_on_after_a_restart() {
    let server = MockServer::start().await;
    let gateway = gateway(&server.uri()).await;
    let made = pay(&gateway, json!({"bolt11": SMALL})).await;
    let yes = json!({"decision": "approve"});
    decide(&gateway, &made.body["approval_id"], yes).await;
    // LNbits does not answer as it should: the yes waits, over the end of the gateway too.
    let id = made.body["payment_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/payments/{id}");
    while get(&gateway, &path, AGENT).await.body["state"] != "approved" {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let folder = gateway.stop().await;
    serve(&server, SMALL, SMALL_HASH, 500_000).await;
    let gateway = start_in(folder, &variables(&server.uri())).await;
    let paid = get(&gateway, &format!("{path}?wait=30"), AGENT).await;
    assert_eq!(paid.body["state"], "paid", "{}", paid.text);
    assert_eq!(posts(&server.received_requests().await.unwrap()), 1);
}
