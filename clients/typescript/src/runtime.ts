// Tokens, retries, decimals, pages, problems, and the verification of webhooks.
import { type Event, type Transaction, freeForm } from "./types.js";

const FINAL: ReadonlySet<string> = new Set(["succeeded", "failed", "refunded", "refund_failed", "expired"]);
const LONGEST_WAIT_MS = 8_000;
const NOT_CONNECTED: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

/** The base of all errors of this package, except of invalid arguments. */
export class CofferError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The server did not respond until the deadline. Whether it processed the request is unknown. */
export class ConnectionLostError extends CofferError {}

/** The payment has no final status yet. */
export class PaymentTimeoutError extends CofferError {}

/** The delivery is not genuine, or too old. Respond with 400, and do not process it. */
export class WebhookError extends CofferError {}

/** An error response. `slug` identifies the problem; it is empty if the response is not a problem of coffer. */
export class ProblemError extends CofferError {
  readonly slug: string;
  readonly title: string;
  readonly detail: string | undefined;
  /** A sentence about each invalid field, by the path of the field. */
  readonly errors: { readonly [field: string]: string };
  readonly requestId: string | undefined;

  constructor(readonly status: number, text: string, headers: Headers) {
    const body = parsed(text);
    // On business routes, the envelope has the code and the text in `message`.
    const [code, said] = "success" in body ? split(String(body.message), ": ") : [];
    const slug = code?.toLowerCase().replaceAll("_", "-") ?? /^urn:coffer:problem:(.+)$/.exec(String(body.type))?.[1] ?? "";
    const title = code ? slug : String(body.title ?? "");
    const detail = said ?? (body.detail as string | undefined);
    super([`${status}`, slug || title, detail].filter(Boolean).join(": "));
    this.slug = slug;
    this.title = title;
    this.detail = detail;
    const rows = (slug && body.errors ? body.errors : []) as { field: string; message: string }[];
    this.errors = Object.fromEntries(rows.map((row) => [row.field, row.message]));
    this.requestId = (body.requestId as string | undefined) ?? headers.get("x-request-id") ?? undefined;
  }
}

/** Options of a client. Times are in milliseconds. */
export interface ClientOptions {
  /** The address of the server, such as `https://pay.example.com`. */
  baseUrl: string;
  /** These three come from the registration of the application. */
  clientId?: string;
  clientSecret?: string;
  apiKey?: string;
  /** The Connect group needs these three instead. */
  connectSecret?: string;
  publicKey?: string;
  signInSecret?: string;
  /** Scopes to request, separated by spaces; all of the application by default. */
  scope?: string;
  /** Limit of one attempt, 20 s by default. */
  timeout?: number;
  /** Limit of all attempts of a call, 60 s by default. */
  deadline?: number;
  /** The first wait before a retry, 500 ms by default; doubled each time. */
  retryDelay?: number;
  /** For tests: replaces the global `fetch`. */
  fetch?: typeof fetch;
  /** For tests: a clock that never goes back. */
  monotonic?: () => number;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call. Whether the server processed the request is then unknown. */
  signal?: AbortSignal;
}

interface Call {
  query?: object | undefined;
  body?: object | undefined;
  auth?: "public" | "token" | "connect";
  repeat?: "always" | "transaction" | "never";
  form?: boolean;
  envelope?: boolean;
  text?: boolean;
  success?: number;
  deadline?: number;
  options?: CallOptions;
}

interface Token {
  value: string;
  renewAt: number;
}

/** A token, and how to request a new one. */
interface Login {
  path: string;
  body: object;
  member: "accessToken" | "idToken";
  secret: string;
  token?: Token | undefined;
  pending?: Promise<Token> | undefined;
}

/** What the methods of `Client` have in common. */
export class Runtime {
  readonly #baseUrl: string;
  readonly #timeout: number;
  readonly #deadline: number;
  readonly #retryDelay: number;
  readonly #fetch: typeof fetch;
  private readonly monotonic: () => number;
  readonly #logins: { token: Login; connect: Login };
  readonly #waiting = new Set<{ recordId: string; wake: () => void }>();

  constructor(options: ClientOptions) {
    this.#baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.#timeout = options.timeout ?? 20_000;
    this.#deadline = options.deadline ?? 60_000;
    this.#retryDelay = options.retryDelay ?? 500;
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.monotonic = options.monotonic ?? (() => performance.now());
    const { clientId = "", clientSecret = "", scope, publicKey = "", signInSecret = "" } = options;
    this.#logins = {
      token: {
        path: "/v1/auth/token", body: { clientId, clientSecret, scope }, member: "accessToken",
        secret: options.apiKey ?? "",
      },
      connect: {
        path: "/v1/public/auth-connect/sign-in", body: { publicKey, secret: signInSecret }, member: "idToken",
        secret: options.connectSecret ?? "",
      },
    };
  }

  /** Sends a request until there is a response, and returns its content. */
  async request<T>(method: string, path: string, call: Call): Promise<T> {
    const url = new URL(this.#baseUrl + path);
    const add = (name: string, value: unknown): void => {
      if (value === undefined || value === null) return;
      if (value instanceof Date) url.searchParams.set(name, value.toISOString());
      else if (typeof value !== "object") url.searchParams.set(name, String(value));
      else for (const [key, each] of Object.entries(value)) add(`${name}[${key}]`, each);
    };
    for (const [name, value] of Object.entries(call.query ?? {})) add(name, value);
    refuseFractions(call.body, "The value");
    const form = call.form === true ? new URLSearchParams(call.body as Record<string, string>).toString() : undefined;
    const end = this.monotonic() + Math.min(this.#deadline, call.deadline ?? Infinity);
    const content = await this.attempts(method, url, form ?? JSON.stringify(call.body), call, end);
    return (call.envelope === true ? (content as { data: unknown }).data : content) as T;
  }

  /** Passes on a verified event, so that `waitForPayment` reads its payment at once. */
  notify(event: Event): void {
    const record = "id" in event.data ? event.data.id : "";
    for (const { recordId, wake } of this.#waiting) if (recordId === record) wake();
  }

  /**
   * Returns the transaction when its status is final. Reads it every `interval` milliseconds, and after each `notify`.
   * Throws PaymentTimeoutError after `timeout` milliseconds; the payment then continues.
   */
  async waitForPayment(
    recordId: string, options: CallOptions & { timeout?: number; interval?: number } = {},
  ): Promise<Transaction> {
    const { timeout = 60_000, interval = 1_000 } = options;
    const end = this.monotonic() + timeout;
    const path = `/v1/transactions/${escape(recordId)}`;
    let status = "unknown";
    for (let left = timeout; left > 0; left = end - this.monotonic()) {
      let wake = () => {};
      const woken = new Promise<void>((resolve) => { wake = resolve; });
      const entry = { recordId, wake };
      this.#waiting.add(entry);
      try {
        const record = await this.request<Transaction>("GET", path, { options, deadline: left });
        if (FINAL.has(record.status)) return record;
        status = record.status;
        await sleep(Math.max(Math.min(interval, end - this.monotonic()), 0), options.signal, woken);
      } catch (error) {
        if (!(error instanceof ConnectionLostError) || left >= this.#deadline) throw error;
        break;
      } finally {
        this.#waiting.delete(entry);
      }
    }
    throw new PaymentTimeoutError(`Payment ${recordId} is ${status} after ${timeout} ms.`);
  }

  private async attempts(
    method: string, url: URL, data: string | undefined, call: Call, end: number,
  ): Promise<unknown> {
    const login = call.auth === "public" ? undefined : this.#logins[call.auth ?? "token"];
    const repeatable = call.repeat !== "never";
    for (let attempt = 0, renewed = false, lost = false; ; attempt++) {
      const headers: Record<string, string> = {};
      if (data !== undefined) {
        headers["Content-Type"] = call.form === true ? "application/x-www-form-urlencoded" : "application/json";
      }
      const token = login && (await this.token(login, end));
      if (login && token) {
        headers["x-svc-auth"] = login.secret;
        headers["Authorization"] = `Bearer ${token.value}`;
      }
      let failure: CofferError, again: boolean;
      let wait = Math.min(this.#retryDelay * 2 ** attempt, LONGEST_WAIT_MS) * (0.5 + Math.random() / 2);
      try {
        const response = await this.send(method, url, headers, data, end, call.options?.signal);
        const { status, text } = response;
        if (call.success ? status === call.success : status >= 200 && status < 300) {
          return call.text === true ? text : text === "" ? undefined : JSON.parse(text);
        }
        if (status === 404 && method === "DELETE" && lost) return undefined; // an attempt without a response deleted it
        failure = new ProblemError(status, text, response.headers);
        if (status === 401 && login && !renewed) {
          renewed = true;
          if (login.token === token) login.token = undefined;
          attempt--;
          continue;
        }
        again = status === 429 || status === 503 || (repeatable && (status === 502 || status === 504));
        const retryAfter = response.headers.get("retry-after") ?? "";
        if (/^\d+$/.test(retryAfter)) wait = Math.max(wait, Number(retryAfter) * 1000);
      } catch (error) {
        if (call.options?.signal?.aborted) throw error;
        const cause = (error as { cause?: { code?: string; message?: string } }).cause;
        failure = new ConnectionLostError(`${method} ${url.pathname}: ${cause?.message ?? String(error)}`, { cause: error });
        const code = cause?.code ?? "";
        const untrusted = /CERT|SIGNATURE/.test(code); // of TLS: no retry
        lost = !untrusted && !NOT_CONNECTED.has(code);
        again = !untrusted && (repeatable || !lost);
      }
      if (!again || this.monotonic() + wait > end) throw failure;
      await sleep(wait, call.options?.signal);
    }
  }

  /** One attempt, with its time limit. */
  private async send(
    method: string, url: URL, headers: Record<string, string>, body: string | undefined, end: number,
    signal: AbortSignal | undefined,
  ): Promise<{ status: number; headers: Headers; text: string }> {
    const limit = new AbortController();
    const abort = () => limit.abort(signal?.reason);
    const timer = setTimeout(() => limit.abort(new Error("no response in time")),
      Math.max(Math.min(this.#timeout, end - this.monotonic()), 10));
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
    try {
      const init: RequestInit = { method, headers, signal: limit.signal, redirect: "manual" };
      const response = await this.#fetch(url.href, body === undefined ? init : { ...init, body });
      return { status: response.status, headers: response.headers, text: await response.text() };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  /** The token, shared by all calls; requested or renewed when needed. */
  private async token(login: Login, end: number): Promise<Token> {
    if (login.token && this.monotonic() < login.token.renewAt) return login.token;
    login.pending ??= this.requestToken(login, end).finally(() => { login.pending = undefined; });
    return (login.token = await login.pending);
  }

  private async requestToken(login: Login, end: number): Promise<Token> {
    const began = this.monotonic();
    const url = new URL(this.#baseUrl + login.path);
    const reply = await this.attempts("POST", url, JSON.stringify(login.body), { auth: "public" }, end);
    const found = reply as { accessToken: string; idToken: string; expiresIn: number };
    const life = found.expiresIn * 1000;
    return { value: found[login.member], renewAt: began + life - Math.min(60_000, life / 10) };
  }
}

/** A list: an async iterator over the rows of all pages. `pages()` iterates over the pages, `first()` returns one. */
export class Pages<P extends { data: T[]; nextCursor: string | null }, T> implements AsyncIterable<T> {
  constructor(private readonly client: Runtime, private readonly path: string, private readonly call: Call) {}

  /** The page at `cursor`, or the first page. */
  first(): Promise<P> {
    return this.client.request<P>("GET", this.path, this.call);
  }

  /** All pages from this one on. A page can be empty and not the last. */
  async *pages(): AsyncGenerator<P, void, undefined> {
    for (let call = this.call; ; ) {
      const page = await this.client.request<P>("GET", this.path, call);
      yield page;
      if (page.nextCursor === null) return;
      call = { ...this.call, query: { ...this.call.query, cursor: page.nextCursor } };
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }
}

/**
 * Verifies a delivery by its raw body and headers (Standard Webhooks), and returns the event. Give both secrets during a
 * rotation. Throws WebhookError if no signature is valid, or if the time differs by more than `tolerance` milliseconds
 * from the clock `now`.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers | { readonly [name: string]: string | string[] | undefined },
  secrets: string | readonly string[],
  { tolerance = 300_000, now = () => Date.now() }: { tolerance?: number; now?: () => number } = {},
): Promise<Event> {
  const given = new Map([...(headers instanceof Headers ? headers.entries() : Object.entries(headers))]
    .map(([name, value]) => [name.toLowerCase(), String(value ?? "")]));
  const id = given.get("webhook-id"), stamp = given.get("webhook-timestamp"), signatures = given.get("webhook-signature");
  if (!id || !signatures || !stamp || !/^[0-9]{1,12}$/.test(stamp)) {
    throw new WebhookError("A webhook header is missing or malformed.");
  }
  if (Math.abs(now() - Number(stamp) * 1000) > tolerance) {
    throw new WebhookError("The delivery is too old, or a clock is wrong.");
  }
  const raw = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const start = new TextEncoder().encode(`${id}.${stamp}.`);
  const signed = new Uint8Array(start.length + raw.length);
  signed.set(start);
  signed.set(raw, start.length);
  const subtle = await subtleCrypto();
  for (const secret of typeof secrets === "string" ? [secrets] : secrets) {
    const bytes = fromBase64(secret.replace(/^whsec_/, ""));
    if (!bytes || bytes.length === 0) throw new TypeError("A webhook secret must be whsec_ followed by base64.");
    const key = await subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const each of signatures.split(" ")) {
      const signature = each.startsWith("v1,") ? fromBase64(each.slice(3)) : undefined;
      if (signature && (await subtle.verify("HMAC", key, signature, signed))) {
        return JSON.parse(new TextDecoder().decode(raw)) as Event;
      }
    }
  }
  throw new WebhookError("No signature of the delivery is valid.");
}

/** A value as one segment of a path. An empty one would name another resource. */
export function escape(value: string): string {
  if (["", ".", ".."].includes(value)) throw new TypeError(`"${value}" is not an ID.`);
  return encodeURIComponent(value);
}

/** Web cryptography; Node 18 has it only in a module. */
async function subtleCrypto(): Promise<SubtleCrypto> {
  const found = (globalThis as { crypto?: Crypto }).crypto;
  const name = "node:crypto";
  return (found ?? ((await import(name)) as { webcrypto: Crypto }).webcrypto).subtle;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Refuses a fraction or an unsafe integer, except where the API takes any JSON value. */
function refuseFractions(value: unknown, name: string): void {
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw new TypeError(`${name} must be a string such as "12.50", not the number ${value}, which is not exact.`);
  }
  if (typeof value !== "object" || value === null) return;
  for (const [member, found] of Object.entries(value)) {
    if (!freeForm.has(member)) refuseFractions(found, Array.isArray(value) ? name : member);
  }
}

function sleep(ms: number, signal?: AbortSignal, woken?: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => { clearTimeout(timer); reject(signal?.reason as Error); };
    const done = () => { clearTimeout(timer); signal?.removeEventListener("abort", abort); resolve(); };
    const timer = setTimeout(done, ms);
    void woken?.then(done);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

function parsed(text: string): Record<string, unknown> {
  try {
    const content: unknown = JSON.parse(text);
    return typeof content === "object" && content !== null ? (content as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function split(text: string, at: string): [string?, string?] {
  const found = text.indexOf(at);
  return found < 0 ? [] : [text.slice(0, found), text.slice(found + at.length)];
}
