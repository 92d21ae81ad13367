// A client of coffer, a payment gateway. Start with `Client`; `types` has the requests and the responses.
export { Client } from "./client.js";
export {
  type CallOptions, type ClientOptions, CofferError, ConnectionLostError, Pages, PaymentTimeoutError, ProblemError,
  WebhookError, verifyWebhook,
} from "./runtime.js";
export * as types from "./types.js";
