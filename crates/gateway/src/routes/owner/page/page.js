// Shows one request and sends the owner's answer. The token stays in this page's memory.
"use strict";

const at = (name) => document.getElementById(name);
const id = decodeURIComponent(location.pathname.split("/").filter(Boolean).pop() || "");
const place = "../v1/approvals/" + encodeURIComponent(id);
let token = "";
let seen = "";

function say(text) {
  at("said").textContent = text;
}

async function ask(path, options) {
  const answer = await fetch(path, {
    ...options,
    credentials: "omit",
    cache: "no-store",
    redirect: "error",
    headers: { authorization: "Bearer " + token, "content-type": "application/json" },
  });
  const body = await answer.json();
  if (!answer.ok) {
    throw new Error(body.error ? body.error.message : "the gateway answered " + answer.status);
  }
  return body;
}

function show(request) {
  if (!request.owner) {
    throw new Error("this is not the owner's token");
  }
  const open = request.state === "pending";
  seen = request.owner.shown_sha256;
  at("shown").textContent = request.owner.shown;
  at("until").textContent = open
    ? "Until " + new Date(request.expires_ms).toLocaleString() + "; then the answer is no."
    : request.reason;
  at("amount-line").hidden = !(open && request.owner.must_confirm);
  at("scope-line").hidden = !(open && request.owner.may_widen);
  at("buttons").hidden = !open;
  at("request").hidden = false;
  at("open").hidden = true;
}

async function decide(decision) {
  const body = { decision, shown_sha256: seen, via: "page" };
  const amount = at("amount").value.trim();
  if (decision === "approve" && !at("amount-line").hidden) {
    body.confirm = amount;
  }
  if (decision === "approve" && !at("scope-line").hidden) {
    body.scope = at("scope").value;
  }
  at("approve").disabled = at("deny").disabled = true;
  try {
    show(await ask(place + "/decision", { method: "POST", body: JSON.stringify(body) }));
    say("Done.");
  } catch (error) {
    say(error.message);
  }
  at("approve").disabled = at("deny").disabled = false;
}

at("open").addEventListener("submit", async (event) => {
  event.preventDefault();
  token = at("token").value.trim();
  at("token").value = "";
  try {
    show(await ask(place, { method: "GET" }));
    say("");
  } catch (error) {
    token = "";
    say(error.message);
  }
});
at("approve").addEventListener("click", () => decide("approve"));
at("deny").addEventListener("click", () => decide("deny"));
