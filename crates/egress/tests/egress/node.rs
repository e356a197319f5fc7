//! Node through the proxy: by hand, by its own fetch, and HTTP/2.

use crate::clients::{command, home, keep, run};
use crate::intercepting::secure;
use crate::origin::{Origin, reply};
use crate::world::{Plan, World};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, BufReader};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_over_a_tunnel_and_in_absolute_form() {
    let origin = secure("allowed.test").await;
    let world = World::with(Plan {
        tls: blastshield_egress::TlsRules::default(),
        ..Plan::default()
    })
    .await;
    let home = home();
    let pem = keep(home.path(), "origin.pem", &origin.pem);
    // Node's fetch takes a proxy only from a dispatcher; here a tunnel is opened by hand and TLS spoken in it.
    let script = "
const http = require('http'), tls = require('tls'), fs = require('fs');
const [proxy, port, pem] = process.argv.slice(1);
const [host, at] = proxy.split(':');
const ask = http.request({ host, port: at, method: 'CONNECT', path: `allowed.test:${port}` });
ask.on('connect', (answer, socket) => {
  if (answer.statusCode !== 200) { console.log('refused', answer.statusCode); process.exit(1); }
  const inner = tls.connect({ socket, servername: 'allowed.test', ca: fs.readFileSync(pem) }, () => {
    inner.write(`GET / HTTP/1.1\\r\\nHost: allowed.test:${port}\\r\\nConnection: close\\r\\n\\r\\n`);
  });
  inner.on('data', data => process.stdout.write(data));
  inner.on('end', () => process.exit(0));
  inner.on('error', error => { console.log(error.message); process.exit(1); });
});
ask.end();
";
    let mut node = command("node", &world, home.path());
    node.args([
        "-e",
        script,
        &world.address.to_string(),
        &origin.port.to_string(),
    ])
    .arg(&pem);
    let Some((good, said)) = run(&mut node).await else {
        return;
    };
    assert!(good && said.contains("fine"), "{said}");
    // An absolute-form request by hand: what older libraries do.
    let plain = Origin::new(|_| reply("text/plain", "plainly")).await;
    let script = "
const http = require('http');
const [proxy, url] = process.argv.slice(1);
const [host, port] = proxy.split(':');
http.get({ host, port, path: url, headers: { Host: new URL(url).host } }, answer => {
  answer.on('data', data => process.stdout.write(data));
});
";
    let mut node = command("node", &world, home.path());
    node.args([
        "-e",
        script,
        &world.address.to_string(),
        &plain.url("allowed.test", "/"),
    ]);
    let (good, said) = run(&mut node).await.unwrap();
    assert!(good && said.contains("plainly"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_own_fetch() {
    let (tls, other) = (secure("allowed.test").await, secure("bad.test").await);
    let world = World::with(Plan {
        tls: blastshield_egress::TlsRules::default(),
        ..Plan::default()
    })
    .await;
    let home = home();
    let pem = keep(
        home.path(),
        "origin.pem",
        &format!("{}{}", tls.pem, other.pem),
    );
    // Newer versions take the proxy from the environment. For older ones, fetch is given an agent of its own kind whose
    // connections begin with CONNECT.
    let script = "
const http = require('http'), tls = require('tls');
const [one, two] = process.argv.slice(1);
(async () => {
  await fetch('data:,');
  const [major, minor] = process.versions.node.split('.').map(Number);
  const options = {};
  if (!(major >= 24 || (major === 22 && minor >= 21))) {
    const proxy = new URL(process.env.HTTPS_PROXY);
    const Agent = globalThis[Symbol.for('undici.globalDispatcher.1')].constructor;
    options.dispatcher = new Agent({ connect({ hostname, port }, done) {
      const path = `${hostname}:${port || 443}`;
      const ask = http.request({ host: proxy.hostname, port: proxy.port, method: 'CONNECT', path });
      ask.on('connect', (answer, socket) => {
        if (answer.statusCode !== 200) { socket.destroy(); return done(new Error(`refused ${answer.statusCode}`)); }
        const inner = tls.connect({ socket, servername: hostname }, () => done(null, inner));
        inner.on('error', done);
      });
      ask.on('error', done);
      ask.end();
    } });
  }
  console.log(await (await fetch(one, options)).text());
  try { console.log(await (await fetch(two, options)).text()); } catch (error) { console.log('no', error.cause?.message); }
})();
";
    let mut node = command("node", &world, home.path());
    node.env("NODE_USE_ENV_PROXY", "1")
        .env("NODE_EXTRA_CA_CERTS", &pem)
        .args(["-e", script])
        .args([
            format!("https://allowed.test:{}/", tls.port),
            format!("https://bad.test:{}/", other.port),
        ]);
    let Some((good, said)) = run(&mut node).await else {
        return;
    };
    assert!(good && said.starts_with("fine\nno"), "{said}");
    assert!(said.contains("403"), "{said}");
    assert_eq!(tls.asked.lock().unwrap().len(), 1);
    assert_eq!(other.asked.lock().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn http2_within_a_tunnel() {
    let world = World::with(Plan {
        tls: blastshield_egress::TlsRules::default(),
        ..Plan::default()
    })
    .await;
    let home = home();
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["allowed.test".to_owned()])
        .unwrap()
        .self_signed(&key)
        .unwrap();
    let pem = keep(home.path(), "origin.pem", &certificate.pem());
    let key = keep(home.path(), "origin.key", &key.serialize_pem());
    let server = "
const http2 = require('http2'), fs = require('fs');
const [cert, key] = process.argv.slice(1).map(file => fs.readFileSync(file));
const server = http2.createSecureServer({ cert, key });
server.on('stream', (stream, headers) => {
  stream.respond({ ':status': 200 });
  stream.end(`over ${stream.session.alpnProtocol} ${headers[':path']}`);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
";
    let mut node = command("node", &world, home.path());
    node.args(["-e", server]).arg(&pem).arg(&key);
    let Ok(mut node) = node.stdout(Stdio::piped()).spawn() else {
        eprintln!("SKIPPED: no Node here");
        return;
    };
    let mut port = String::new();
    let mut lines = BufReader::new(node.stdout.take().unwrap());
    lines.read_line(&mut port).await.unwrap();
    let mut curl = command("curl", &world, home.path());
    curl.args([
        "-sS",
        "--http2",
        "--max-time",
        "20",
        "-w",
        " %{http_version}",
    ])
    .arg("--cacert")
    .arg(&pem)
    .arg(format!("https://allowed.test:{}/x", port.trim()));
    let Some((good, said)) = run(&mut curl).await else {
        return;
    };
    if !said.contains("over h2 /x 2") && said.contains("doesn't support") {
        eprintln!("SKIPPED: this curl has no HTTP/2");
        return;
    }
    assert!(good && said.contains("over h2 /x 2"), "{said}");
}
