/** The client against a real server, whose address and keys the environment has: run by tests/e2e/test_typescript_client.py. */

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Remembrancer, RemembrancerError, type Options } from "../src/index.js";

const url = process.env["REMEMBRANCER_URL"]!;
const key = process.env["REMEMBRANCER_KEY"]!;
const readingKey = process.env["REMEMBRANCER_READING_KEY"]!;
let sessions = 0;

/** A client with a session of its own, so that tests do not see each other's turns. */
function client(options: Options = {}): Remembrancer {
  return new Remembrancer({ url, key, scope: { agent: `agent-${++sessions}` }, ...options });
}

async function problemOf(call: Promise<unknown>): Promise<RemembrancerError> {
  const problem = await call.then(
    () => assert.fail("the call succeeded"),
    (error: unknown) => error,
  );
  assert.ok(problem instanceof RemembrancerError, String(problem));
  return problem;
}

/** A server that answers as told, the first requests first, and the requests it got. */
async function scripted(...answers: ((request: IncomingMessage, response: ServerResponse) => void)[]) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    (answers.shift() ?? ok)(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => new Promise((resolve) => server.close(resolve) && server.closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, close };
}

const json = { "Content-Type": "application/json" };
const ok = (_: IncomingMessage, response: ServerResponse) => void response.writeHead(200, json).end("{}");
const busy = (_: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(503, { "Content-Type": "application/problem+json" }).end('{"type": "urn:x:store_unavailable", "title": "t", "status": 503, "detail": "busy"}');
const silent = () => undefined;

test("what is remembered is recalled, with its text and score", async () => {
  const memory = client();
  const kept = await memory.remember("Checkout needs 2 GiB", { kind: "decision", tags: ["checkout"] });
  const found = await memory.recall("how much memory does checkout need?", { limit: 3 });
  assert.equal(found.hits[0]?.memory?.id, kept.id);
  assert.equal(found.hits[0]?.memory?.text, "Checkout needs 2 GiB");
  assert.ok(found.hits[0]!.score > 0);
});

test("only the fields that are asked for are sent", async () => {
  const memory = client();
  await memory.remember("Checkout needs 2 GiB");
  const found = await memory.recall("checkout", { fields: ["hits.score"] });
  assert.deepEqual(Object.keys(found.hits![0]!), ["score"]);
});

test("what was said is in the journal and recalled", async () => {
  const memory = client();
  await memory.observe({ text: "I take the aisle seat", role: "user", session: "monday" }, "Noted.");
  const page = await memory.journal({ oldest_first: true });
  assert.deepEqual(page.events.map((event) => event.text), ["I take the aisle seat", "Noted."]);
  assert.equal((await memory.recall("which seat?")).hits[0]?.memory?.text, "I take the aisle seat");
});

test("an edit changes what is given, and the previous text is kept", async () => {
  const memory = client();
  const { id } = await memory.remember("Checkout needs 2 GiB", { kind: "decision" });
  const edited = await memory.update(id, { text: "Checkout needs 3 GiB", expected_revision: 1 });
  assert.deepEqual([edited.text, edited.kind, edited.revision], ["Checkout needs 3 GiB", "decision", 2]);
  assert.equal((await memory.show(id)).revisions[0]?.text, "Checkout needs 2 GiB");
});

test("a retired memory is not recalled until it is restored", async () => {
  const memory = client();
  const { id } = await memory.remember("Checkout needs 2 GiB");
  await memory.forget(id);
  assert.equal((await memory.recall("checkout")).hits.length, 0);
  await memory.restore(id);
  assert.equal((await memory.recall("checkout")).hits.length, 1);
});

test("a pinned memory is in every answer", async () => {
  const memory = client();
  const { id } = await memory.remember("Never push to main");
  await memory.pin(id);
  assert.equal((await memory.recall("what is for lunch?")).pinned[0]?.id, id);
  await memory.unpin(id);
  assert.equal((await memory.recall("what is for lunch?")).pinned.length, 0);
});

test("several memories are stored, listed page by page, and counted as used and rated", async () => {
  const memory = client();
  const stored = await memory.rememberMany(["one", "two", { text: "three" }]);
  const listed: string[] = [];
  for await (const one of memory.allMemories({ limit: 2, oldest_first: true })) listed.push(one.text);
  assert.deepEqual(listed, ["one", "two", "three"]);
  const id = stored.memories[0]!.id;
  await memory.mark([id], "used");
  await memory.feedback(id, "helpful");
  const { used, helped } = (await memory.show(id)).memory.strength.usage;
  assert.deepEqual([used, helped], [1, 1]);
});

test("preferences, the timeline, the end of a session and counts have methods", async () => {
  const memory = client();
  await memory.observe({ text: "I always prefer short answers", role: "user", session: "monday" });
  assert.equal((await memory.preferences()).memories[0]?.text, "I always prefer short answers");
  assert.ok((await memory.timeline()).memories.length >= 1);
  await memory.endSession("monday");
  assert.ok((await memory.stats()).events > 0);
  assert.ok((await memory.ready()).status);
});

test("why a memory is not in an answer is told", async () => {
  const memory = client();
  const { id } = await memory.remember("Ana likes tea");
  const told = await memory.whyNot(id, "how much memory does checkout need?");
  assert.equal(told.returned, false);
  assert.ok(told.reason);
});

test("a client with another scope does not see the agent's own memories", async () => {
  const memory = client();
  await memory.remember("Checkout needs 2 GiB", { visibility: "own" });
  assert.equal((await memory.scoped({ agent: "another" }).recall("checkout")).hits.length, 0);
  assert.equal((await memory.recall("checkout")).hits.length, 1);
});

test("every route is typed and can be called", async () => {
  const { data } = await client().api.GET("/v1/presets");
  assert.ok(data?.presets.some((preset) => preset.name === "default"));
});

test("new entries are followed until the signal is aborted", async () => {
  const memory = client();
  const ended = new AbortController();
  const seen: string[] = [];
  const started = memory.follow({}, ended.signal);
  const first = started.next();
  await memory.observe("one", "two");
  seen.push((await first).value?.event.text);
  for await (const entry of started) {
    seen.push(entry.event.text);
    ended.abort();
  }
  assert.deepEqual(seen, ["one", "two"]);
});

test("a value that is not allowed is named with what is allowed", async () => {
  const problem = await problemOf(client().recall("x", { limit: 0 }));
  assert.deepEqual([problem.status, problem.code, problem.argument], [400, "invalid_input", "limit"]);
  assert.match(problem.message, /^limit: 0 is not allowed; expected/);
  assert.ok(problem.allowed);
});

test("an unknown memory, a stale edit and a missing right are errors of their own", async () => {
  const memory = client();
  const { id } = await memory.remember("x");
  assert.equal((await problemOf(memory.show("00000000-0000-7000-8000-000000000000"))).code, "not_found");
  assert.equal((await problemOf(memory.update(id, { text: "y", expected_revision: 9 }))).code, "conflict");
  assert.equal((await problemOf(client({ key: readingKey }).remember("x"))).code, "permission_denied");
  assert.equal((await problemOf(client({ key: "unknown" }).recall("x"))).code, "unauthorized");
});

test("a busy server is asked again, with the same key, so that nothing is written twice", async () => {
  const server = await scripted(busy, busy);
  await new Remembrancer({ url: server.url }).remember("x");
  const keys = new Set(server.requests.map((request) => request.headers["idempotency-key"]));
  assert.deepEqual([server.requests.length, keys.size, keys.has(undefined)], [3, 1, false]);
  await server.close();
});

test("a server that stays busy is an error after the last retry", async () => {
  const server = await scripted(busy, busy);
  const problem = await problemOf(new Remembrancer({ url: server.url, retries: 1 }).recall("x"));
  assert.deepEqual([problem.code, server.requests.length], ["store_unavailable", 2]);
  await server.close();
});

test("a server that does not answer in time is an error", async () => {
  const server = await scripted(silent);
  const asked = new Remembrancer({ url: server.url, timeout: 50, retries: 0 }).recall("x");
  await assert.rejects(asked, { name: "TimeoutError" });
  await server.close();
});

test("an answer that is no problem of the server is an error too", async () => {
  const server = await scripted((_, response) => void response.writeHead(502).end("bad gateway"));
  const problem = await problemOf(new Remembrancer({ url: server.url, retries: 0 }).recall("x"));
  assert.deepEqual([problem.status, problem.code], [502, "http"]);
  await server.close();
});
