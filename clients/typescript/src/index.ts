/** A client of the Remembrancer server. Its types are generated from the server's OpenAPI document. */

import { EventSourceParserStream } from "eventsource-parser/stream";
import createClient, { type Client, type Middleware } from "openapi-fetch";
import type { components, paths } from "./openapi.js";

type Schemas = components["schemas"];
type Body<P extends keyof paths, M extends "post" | "patch"> = paths[P] extends {
  [K in M]: { requestBody?: { content: { "application/json": infer T } } };
}
  ? T
  : never;
type Query<P extends keyof paths> = paths[P] extends { get: { parameters: { query?: infer T } } } ? NonNullable<T> : never;

type NotSent =
  "strength" | "status" | "recorded_at" | "superseded_by" | "superseded_at" | "retired_at" | "consolidated_at";

export type Memory = Schemas["MemoryOut"];
export type MemoryDetails = Schemas["MemoryDetailsOut"];
export type MemoryPage = Schemas["MemoryPageOut"];
/** The parts of an answer that were asked for with `fields`. */
export type RecallFields = Schemas["RecallFieldsOut"];
/** A memory of an answer without the seven parts that are only sent if `fields` names them. */
export type RecalledMemory = Omit<Required<Schemas["MemoryFieldsOut"]>, NotSent>;
export type Hit = Omit<Required<Schemas["HitFieldsOut"]>, "memory"> & { memory: RecalledMemory };
export type Recall = Omit<Required<RecallFields>, "hits" | "pinned"> & { hits: Hit[]; pinned: RecalledMemory[] };
export type Field = NonNullable<NonNullable<Body<"/v1/recall", "post">>["fields"]>[number];
export type RecallOptions = Omit<Body<"/v1/recall", "post">, "query" | "fields">;
export type Event = Schemas["EventOut"];
/** An entry of the stream. `position`: the number of events recorded up to and including this one. */
export type Recorded = { position: number; event: Event };
export type NewMemory = Schemas["MemoryIn"];
export type NewEvent = Schemas["EventIn"];
export type Verdict = Schemas["Feedback"];
export type Problem = Schemas["ProblemOut"];

export interface Options {
  /** The server's address. Default: http://127.0.0.1:8765. */
  url?: string;
  /** A key made by `remembrancer keys create`. A server without keys needs none. */
  key?: string;
  /** The scope of every call, within the key's workspace. */
  scope?: { project?: string; crew?: string; agent?: string; session?: string; role?: string };
  /** The time limit of one request in milliseconds. Default: 30,000. */
  timeout?: number;
  /** How often a request is sent again if the server cannot be reached or is busy. Default: 2. */
  retries?: number;
  /** The function that sends requests. Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

/** An answer of the server that says what is wrong. */
export class RemembrancerError extends Error {
  override readonly name = "RemembrancerError";
  /** The kind of problem: `invalid_input`, `not_found`, `conflict` … */
  readonly code: string;
  readonly status: number;
  /** The argument that is not allowed, and what is allowed instead. */
  readonly argument: string | undefined;
  readonly allowed: string | undefined;

  constructor(problem: Problem) {
    super(problem.detail);
    this.code = problem.type.split(":").at(-1) ?? problem.type;
    this.status = problem.status;
    this.argument = problem.argument ?? undefined;
    this.allowed = problem.allowed ?? undefined;
  }
}

const PATIENCE_MS = 30_000;
const RETRIES = 2;
const FIRST_PAUSE_MS = 250;
const BUSY = new Set([429, 503, 504]);
const WRITES = new Set(["POST", "PATCH", "DELETE"]);
/** Routes that only read, or are not sent again: they take no Idempotency-Key. */
const WITHOUT_KEY = new Set(["/v1/import"]);

export class Remembrancer {
  /** Every route of the server, typed: `client.api.GET("/v1/stats")`. */
  readonly api: Client<paths>;
  readonly #url: string;
  readonly #options: Options;

  constructor(options: Options = {}) {
    this.#url = (options.url ?? "http://127.0.0.1:8765").replace(/\/+$/, "");
    this.#options = options;
    this.api = createClient<paths>({ baseUrl: this.#url, fetch: (request: Request) => this.#send(request) });
    this.api.use(this.#scoped());
  }

  /** A client of the same server with another scope; what is not given stays. */
  scoped(scope: NonNullable<Options["scope"]>): Remembrancer {
    return new Remembrancer({ ...this.#options, scope: { ...this.#options.scope, ...scope } });
  }

  /** Record what was said or happened, as it was. */
  async observe(...events: (NewEvent | string)[]) {
    const given = events.map((event) => (typeof event === "string" ? { text: event } : event));
    return answer(await this.api.POST("/v1/events", { body: { events: given } }));
  }

  async remember(text: string, fields: Omit<NewMemory, "text"> = {}) {
    return answer(await this.api.POST("/v1/memories", { body: { text, ...fields } }));
  }

  /** Store several memories, all or none; at most 10,000. */
  async rememberMany(memories: (NewMemory | string)[]) {
    const given = memories.map((memory) => (typeof memory === "string" ? { text: memory } : memory));
    return answer(await this.api.POST("/v1/memories/batch", { body: { memories: given } }));
  }

  /** The memories that answer a question, or with mode "message" matter to what was said; none if nothing does. */
  async recall(query: string, options?: RecallOptions): Promise<Recall>;
  /** Only some parts of the answer, such as ["hits.score", "hits.memory.text"]. */
  async recall(query: string, options: RecallOptions & { fields: Field[] }): Promise<RecallFields>;
  async recall(query: string, options: RecallOptions & { fields?: Field[] } = {}) {
    return answer(await this.api.POST("/v1/recall", { body: { query, ...options } })) as Recall;
  }

  /** Why a memory is not in the answer to a question. */
  async whyNot(id: string, query: string, options: Omit<Query<"/v1/memories/{memory_id}/why-not">, "query"> = {}) {
    const params = { path: { memory_id: id }, query: { ...options, query } };
    return answer(await this.api.GET("/v1/memories/{memory_id}/why-not", { params }));
  }

  /** A memory with its sources, revisions and relations. */
  async show(id: string) {
    return answer(await this.api.GET("/v1/memories/{memory_id}", { params: { path: { memory_id: id } } }));
  }

  /** Edit a memory: the given fields change, null clears one, the others stay. */
  async update(id: string, changes: Body<"/v1/memories/{memory_id}", "patch">) {
    const params = { path: { memory_id: id } };
    return answer(await this.api.PATCH("/v1/memories/{memory_id}", { params, body: changes }));
  }

  /** Retire a memory: it is kept, and no longer recalled. */
  async forget(id: string) {
    return answer(await this.api.DELETE("/v1/memories/{memory_id}", { params: { path: { memory_id: id } } }));
  }

  async restore(id: string) {
    return answer(await this.api.POST("/v1/memories/{memory_id}/restore", { params: { path: { memory_id: id } } }));
  }

  async pin(id: string) {
    return answer(await this.api.POST("/v1/memories/{memory_id}/pin", { params: { path: { memory_id: id } } }));
  }

  async unpin(id: string) {
    return answer(await this.api.POST("/v1/memories/{memory_id}/unpin", { params: { path: { memory_id: id } } }));
  }

  async feedback(id: string, verdict: Verdict) {
    const params = { path: { memory_id: id } };
    return answer(await this.api.POST("/v1/memories/{memory_id}/feedback", { params, body: { verdict } }));
  }

  /** Report how a task ended; the memories that it used share its credit. */
  async outcome(result: Schemas["TaskResult"], options: Omit<Schemas["OutcomeIn"], "result"> = {}) {
    return answer(await this.api.POST("/v1/outcomes", { body: { result, ...options } }));
  }

  /** Count that memories were retrieved, shown in a prompt, or used in an answer. */
  async mark(memories: string[], exposure: Schemas["Exposure"], query = "") {
    return answer(await this.api.POST("/v1/exposures", { body: { memories, exposure, query } }));
  }

  /** Stated preferences and lasting instructions, newest first. */
  async preferences(options: Query<"/v1/preferences"> = {}) {
    return answer(await this.api.GET("/v1/preferences", { params: { query: options } }));
  }

  /** One page of the memories. Its `next` is the `after` of the next page, and null on the last one. */
  async memories(options: Query<"/v1/memories"> = {}) {
    return answer(await this.api.GET("/v1/memories", { params: { query: options } }));
  }

  /** All memories, page by page. */
  async *allMemories(options: Query<"/v1/memories"> = {}) {
    let after = options.after;
    do {
      const page = await this.memories({ ...options, after });
      yield* page.memories;
      after = page.next;
    } while (after);
  }

  /** One page of the journal. */
  async journal(options: Query<"/v1/events"> = {}) {
    return answer(await this.api.GET("/v1/events", { params: { query: options } }));
  }

  /** What happened in a period, oldest first. */
  async timeline(options: Query<"/v1/timeline"> = {}) {
    return answer(await this.api.GET("/v1/timeline", { params: { query: options } }));
  }

  /** The journal's new entries as they are recorded, until `signal` is aborted. */
  async *follow(options: Query<"/v1/events/stream"> = {}, signal?: AbortSignal): AsyncGenerator<Recorded> {
    const asked = { params: { query: options }, parseAs: "stream" as const, signal };
    const { data, error } = await this.api.GET("/v1/events/stream", asked);
    if (error) throw new RemembrancerError(error);
    const events = (data as unknown as ReadableStream<Uint8Array<ArrayBuffer>>)
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream()) as unknown as AsyncIterable<{ data: string }>;
    try {
      for await (const event of events) if (event.data) yield JSON.parse(event.data) as Recorded;
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  }

  /** End a session: its turns become episodes. */
  async endSession(session: string) {
    return answer(await this.api.POST("/v1/sessions/{ended}/end", { params: { path: { ended: session } } }));
  }

  /** Counts of what is kept. */
  async stats() {
    return answer(await this.api.GET("/v1/stats"));
  }

  /** Whether the server is ready for requests. */
  async ready() {
    return answer(await this.api.GET("/readyz"));
  }

  #scoped(): Middleware {
    const scope = Object.entries(this.#options.scope ?? {});
    const key = this.#options.key;
    return {
      onRequest({ request }) {
        const url = new URL(request.url);
        for (const [name, value] of scope) if (value && !url.searchParams.has(name)) url.searchParams.set(name, value);
        const scoped = new Request(url, request);
        if (key) scoped.headers.set("Authorization", `Bearer ${key}`);
        if (WRITES.has(request.method) && !WITHOUT_KEY.has(url.pathname) && !scoped.headers.has("Idempotency-Key"))
          scoped.headers.set("Idempotency-Key", crypto.randomUUID());
        return scoped;
      },
    };
  }

  /** Send a request, and send it again if that can do no harm and may help. */
  async #send(request: Request): Promise<Response> {
    const { timeout = PATIENCE_MS, retries = RETRIES, fetch = globalThis.fetch } = this.#options;
    const streamed = request.url.includes("/events/stream");
    const repeatable = !WRITES.has(request.method) || request.headers.has("Idempotency-Key");
    for (let sent = 0; ; sent++) {
      const last = sent >= retries || !repeatable;
      const limit = streamed ? request.signal : AbortSignal.any([request.signal, AbortSignal.timeout(timeout)]);
      let pause = FIRST_PAUSE_MS * 2 ** sent;
      try {
        const response = await fetch(request.clone(), { signal: limit });
        if (last || !BUSY.has(response.status)) return response;
        pause = Math.max(pause, 1_000 * Number(response.headers.get("Retry-After") ?? 0));
        await response.body?.cancel();
      } catch (error) {
        if (last || request.signal.aborted) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/** The data of an answer. Throws RemembrancerError for a problem. */
function answer<T>(result: { data?: T; error?: unknown; response: Response }): T {
  if (result.response.ok) return result.data as T;
  const problem = result.error as Partial<Problem> | undefined;
  throw new RemembrancerError({
    type: problem?.type ?? "http",
    title: problem?.title ?? result.response.statusText,
    status: result.response.status,
    detail: problem?.detail ?? `the server answered ${result.response.status} ${result.response.statusText}`,
    argument: problem?.argument,
    allowed: problem?.allowed,
  });
}
