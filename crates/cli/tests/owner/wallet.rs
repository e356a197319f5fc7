//! `blastshield wallet` against a running gateway and an LNbits that keeps count.

use crate::lnbits::{Fake, Fault, KEY};
use crate::*;

/// Invoices that live for a hundred years, over 500, 5000 and 60000 sats, and one without an amount.
const SMALL: &str = "lnbc5u1p53j9qqdqvdaexgetjyqcspp5e5nxy92wd4mt9v4e9ecvpjkren6nf7dhf66m3xqea3gfpq7spfgqsp59g4z52329g4z52329g4z52329g4z52329g4z52329g4z52329g4q9qrsgqcqzysxq8zals8sqx9z5yzuwwxvd87gpulf7vl9sl4nsjtq264tpwxqf0l0hgucmpl98upvdp73y7aujt6dxvkvwpd2xw8zlfc4xqxnal3qhsks875pupcqpnrj2t7";
const LARGE: &str = "lnbc50u1p53j9qqdqvdaexgetjyqeqpp5e5z2ga2ynrsxmddp830nw8clqnlk6frs7f92n0vgv4qwth880acqsp59g4z52329g4z52329g4z52329g4z52329g4z52329g4z52329g4q9qrsgqcqzysxq8zals8sqtrj0nem0ajp27k6lv0y0cxxxkp0e3dm3te3ezws045a3tfpsa0ekespd5hud3l7tkl4udm96qpp75nlzespv9vmd5lrjvq6mu4sputcpk7d4vm";
const HUGE: &str = "lnbc600u1p53j9qqdqvdaexgetjyqespp5645g55k4tgpwcjh2tmq74hllu8y7pmn2fhd7ydmlnqex6skle96ssp59g4z52329g4z52329g4z52329g4z52329g4z52329g4z52329g4q9qrsgqcqzysxq8zals8sqj6jvn327ktp5u799sdpf6cmzl6znpkxvenpzwrrgrtl6dhaxksw4dsazaxcrz3ytvh8w5ytn6zq46w6r5cguhwypedyyyw8uaes8gfcq37aecl";
const DONATION: &str = "lnbc1p53j9qqdqvdaexgetjyq6qpp5sqzlqt2rlgrw05zct7mye9sa2l333vn6z3wg277d8f4aksfl7l7qsp59g4z52329g4z52329g4z52329g4z52329g4z52329g4z52329g4q9qrsgqcqzysxq8zals8sql3manxrzw2w76k9yqwaw03vke2mu5uzu0whage2fm3ngyvhz3cvnya2cxe6r20lvvecjdkqxkgp8tmfgpq0yrtvk4fs9fmfaw5hfawqpn9nrht";

fn spending(fake: &Fake) -> Server {
    let variables = [
        ("LNBITS_URL", fake.base.as_str()),
        ("LNBITS_ADMIN_KEY", KEY),
        ("WALLET_DAILY_LIMIT_SATS", "10000"),
        ("WALLET_APPROVAL_THRESHOLD_SATS", "1000"),
        ("BLASTSHIELD_WALLET_TIMEOUT_MS", "1000"),
        ("BLASTSHIELD_WALLET_PAY_TIMEOUT_MS", "1000"),
    ];
    Server::plain(Arc::new(tempfile::tempdir().unwrap()), &variables)
}

/// What a command printed and said, and its exit code; neither key nor whole invoice is ever in it.
fn run(server: &Server, arguments: &[&str]) -> (i32, String) {
    told(&server.run(&[&["wallet"], arguments].concat()))
}

fn told(output: &Output) -> (i32, String) {
    let out = [output.stdout.as_slice(), &output.stderr].concat();
    let out = String::from_utf8(out).unwrap();
    assert!(!out.contains(KEY), "{out}");
    assert!(
        [SMALL, LARGE, HUGE, DONATION]
            .iter()
            .all(|one| !out.contains(&one[..40])),
        "{out}"
    );
    (output.status.code().unwrap(), out)
}

fn json(server: &Server, arguments: &[&str]) -> Value {
    let (_, out) = run(server, &[arguments, &["--json"]].concat());
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn without_keys_there_is_nothing_to_spend() {
    let server = Server::plain(Arc::new(tempfile::tempdir().unwrap()), &[]);
    let (code, out) = run(&server, &["status"]);
    assert_eq!(code, 0, "{out}");
    assert!(
        out.contains("mode       disabled") && out.contains("0 sats spent"),
        "{out}"
    );
    assert_eq!(json(&server, &["status"])["mode"], "disabled");
    let (code, out) = run(&server, &["pay", SMALL]);
    assert_eq!(code, 1, "{out}");
    let (code, out) = run(&server, &["list"]);
    assert_eq!((code, out.trim()), (0, "nothing was asked to be paid"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_waits_for_the_owner_and_is_paid_once() {
    let fake = Fake::start().await;
    let server = spending(&fake);
    let paying = server
        .command(&[
            "wallet", "pay", SMALL, "--memo", "a book", "--amount", "500",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut id = String::new();
    until("the owner is asked", async || {
        let open = server.owner("/v1/approvals?state=pending").await;
        id = open["approvals"][0]["id"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        !id.is_empty()
    })
    .await;
    let list = run(&server, &["list"]);
    assert!(
        list.1.contains("asked") && list.1.contains("a book"),
        "{}",
        list.1
    );
    assert_eq!(fake.posts(SMALL), 0, "nothing leaves before the yes");
    let yes = server.run(&["approvals", "approve", &id]);
    assert!(yes.status.success(), "{yes:?}");
    let (code, out) = told(&paying.wait_with_output().unwrap());
    assert_eq!(code, 0, "{out}");
    assert!(out.contains(&format!("approvals show {id}")), "{out}");
    assert!(
        out.contains(": paid\n500 sats for lnbc...[redacted]..."),
        "{out}"
    );
    let payment = out
        .split(": paid")
        .next()
        .unwrap()
        .lines()
        .last()
        .unwrap()
        .to_owned();

    let (code, again) = run(&server, &["pay", SMALL]);
    assert_eq!(code, 0, "{again}");
    assert!(again.contains(&payment), "the same payment: {again}");
    assert_eq!((fake.times(SMALL), fake.posts(SMALL)), (1, 1));
    assert_eq!(json(&server, &["show", &payment])["state"], "paid");
    let status = json(&server, &["status"]);
    assert_eq!(status["mode"], "approval-gated");
    let spent = status["spent_sats"].as_u64().unwrap();
    assert!((500..=505).contains(&spent), "{status}");
    assert_eq!(status["left_sats"].as_u64().unwrap(), 10_000 - spent);
    let (_, people) = run(&server, &["status"]);
    assert!(
        people.contains(&format!("{spent} sats spent, 0 set aside")),
        "{people}"
    );
    let told = server.owner("/v1/status").await;
    assert_eq!(told["wallet"]["spent_sats"], spent);
    assert_eq!(fake.complaints(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_paid_is_refused_by_code_and_word() {
    let fake = Fake::start().await;
    let server = spending(&fake);
    for (arguments, words) in [
        (vec!["pay", HUGE], "daily limit"),
        (vec!["pay", DONATION], "amount"),
        (vec!["pay", SMALL, "--amount", "499"], "500"),
        (vec!["pay", "lnbc1nonsense"], "invoice"),
        (vec!["show", "pay_0123456789abcdef"], "no payment"),
        (vec!["resolve", "pay_0123456789abcdef"], "no payment"),
    ] {
        let (code, out) = run(&server, &arguments);
        assert_eq!(code, 1, "{out}");
        assert!(out.to_lowercase().contains(words), "{words}: {out}");
    }
    for wrong in [
        vec!["show", "../status"],
        vec!["resolve", "pay_1", "--as", "maybe"],
        vec!["pay"],
        vec!["list", "--limit", "0"],
    ] {
        assert_eq!(run(&server, &wrong).0, 2, "{wrong:?}");
    }
    // Over the threshold the amount is part of the yes; a no frees what was set aside.
    let asked = json(&server, &["pay", LARGE, "--no-wait"]);
    assert_eq!(
        (&asked["state"], &asked["must_confirm"]),
        (&json!("asked"), &json!(true))
    );
    let id = asked["approval_id"].as_str().unwrap();
    let bare = server.run(&["approvals", "approve", id]);
    assert_eq!(bare.status.code(), Some(1));
    assert!(
        json(&server, &["status"])["reserved_sats"]
            .as_u64()
            .unwrap()
            >= 5000
    );
    assert!(server.run(&["approvals", "deny", id]).status.success());
    let payment = asked["payment_id"].as_str().unwrap();
    until("the payment is over", async || {
        json(&server, &["show", payment])["state"] == "denied"
    })
    .await;
    assert_eq!(
        run(&server, &["show", payment]).0,
        1,
        "denied is no success"
    );
    assert_eq!(json(&server, &["status"])["reserved_sats"], 0);
    assert_eq!(fake.posts(LARGE), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_outcome_is_resolved_by_looking_and_never_by_paying() {
    let fake = Fake::start().await;
    let server = spending(&fake);
    // It goes out, the answer is lost, and nobody can be asked.
    fake.fault("pay", &[Fault::Lose]);
    let asked = json(&server, &["pay", SMALL, "--no-wait"]);
    let (id, payment) = (
        asked["approval_id"].as_str().unwrap(),
        asked["payment_id"].as_str().unwrap(),
    );
    fake.fault(
        "look",
        &[
            Fault::Slow(0),
            Fault::Status(500),
            Fault::Status(500),
            Fault::Status(500),
        ],
    );
    assert!(server.run(&["approvals", "approve", id]).status.success());
    until("it went out", async || fake.times(SMALL) == 1).await;
    until("a look tells", async || {
        run(&server, &["resolve", payment]);
        json(&server, &["show", payment])["state"] == "paid"
    })
    .await;
    assert_eq!(
        (fake.times(SMALL), fake.posts(SMALL)),
        (1, 1),
        "never paid again"
    );
    let (code, out) = run(&server, &["resolve", payment, "--as", "failed"]);
    assert_eq!(code, 1, "what is known is not up to anybody's word: {out}");
    assert_eq!(json(&server, &["show", payment])["state"], "paid");
}
