import assert from "node:assert/strict";
import test from "node:test";
import { isContextOverflow } from "./oracle/node_modules/pi-1.6/node_modules/@earendil-works/pi-ai/dist/utils/overflow.js";
import { isRetryableAssistantError } from "./oracle/node_modules/pi-1.6/node_modules/@earendil-works/pi-ai/dist/utils/retry.js";
import { failed, prepared, RETRY, run, windowed } from "./support/model.mjs";
import { frozen } from "./support/random.mjs";

const SHORT = frozen(prepared([{ role: "user", content: "Port the tokenizer." }]));

/** What is made of a failure: `transient`, `permanent` or `overflow`. @param {any} failure */
async function classOf(failure) {
  const { error, calls } = await run(windowed(32_768, 8_192, [failure]), SHORT, {
    retry: { ...RETRY, baseDelayMs: 0 },
  });
  if (error.code === "context_overflow") {
    assert.equal(calls.length, 1);
    return "overflow";
  }
  assert.equal(error.code, "summary_provider");
  assert.equal(error.retryable, calls.length === 4);
  assert.ok(calls.length === 4 || calls.length === 1);
  return error.retryable ? "transient" : "permanent";
}

/** Both ways in which a client fails. @param {string} words */
async function classesOf(words) {
  return [await classOf(failed(words)), await classOf(new Error(words))];
}

/** @type {Record<string, string[]>} */
const TRANSIENT = {
  "A20 overload": [
    'Overloaded: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    '529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    "The servers are currently busy, please try again later",
    "Our servers are currently experiencing high demand",
    "server_busy",
    "The model is at capacity",
    "overloaded_error",
  ],
  "A21 rate limits": [
    "429 Too Many Requests",
    "429 status code (no body)",
    "rate limit exceeded",
    '429 {"error":{"type":"rate_limit_error","message":"Number of request tokens has exceeded your per-minute rate limit"}}',
    "ThrottlingException: Too many tokens, please wait before trying again.",
    "ResourceExhausted: 8 RESOURCE_EXHAUSTED",
    "429 Quota exceeded for quota metric 'Generate requests' and limit 'per minute'",
  ],
  "A22 5xx": [
    "500 Internal Server Error",
    "502 Bad Gateway",
    "502",
    "503 Service Unavailable",
    "504 Gateway Timeout",
    "520 status code (no body)",
    "524 A timeout occurred",
    "openai API error (500): upstream",
    "Provider returned error",
    "The upstream provider returned an error",
    "The service is temporarily unavailable",
    "internal_error",
  ],
  "A23 dropped streams": [
    "terminated",
    "Anthropic stream ended before message_stop",
    "stream ended without a terminal event",
    "stream disconnected before completion: stream closed before response.completed",
    "other side closed",
    "http2 request did not get a response",
    "upstream_stream_read_error",
    "Premature close",
    "WebSocket closed 1006",
    "The pending stream has been canceled (caused by: )",
    '{"type":"error","error":{"type":"api_error","message":"Connection closed."}}',
    "Claude Code's stream from Anthropic was cut short after the reply had begun",
  ],
  "A24 timeouts": [
    "Request timed out.",
    "timeout of 60000ms exceeded",
    "connect ETIMEDOUT 1.2.3.4:443",
    "The operation timed out",
  ],
  "A25 resets": [
    "read ECONNRESET",
    "write EPIPE",
    "connect ECONNREFUSED 127.0.0.1:443",
    "socket hang up",
    "fetch failed",
    "Connection error.",
    "connection reset by peer",
    "getaddrinfo ENOTFOUND api.example.com",
    "getaddrinfo EAI_AGAIN api.example.com",
    "request to https://oauth2.example.com/token failed, reason: ",
    "upstream connect error or disconnect/reset before headers",
    "The socket connection was closed unexpectedly",
    "Network error",
  ],
};

/** @type {Record<string, string[]>} */
const PERMANENT = {
  "A26 quota": [
    '429 {"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"You exceeded your current quota, please check your plan and billing details."}}',
    "You exceeded your current quota: insufficient_quota",
    "429 usage_limit_reached",
    "Monthly usage limit reached. Enable usage from your available balance",
    '{"type":"GoUsageLimitError","message":"limit"}',
    "FreeUsageLimitError",
    '429 {"error":{"code":"1308","message":"Usage limit reached for 5 hour"}}',
    "subscription_sharing_usage_limit_exceeded",
  ],
  "A27 billing": [
    "402 Your credit balance is too low to access the API. Please go to Plans & Billing",
    "billing_hard_limit_reached",
    "402 Insufficient credits",
    "Your organization is out of budget",
  ],
  "A28 auth": [
    '401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
    "401 Unauthorized",
    "403 Forbidden",
    '403 {"error":{"type":"permission_error","message":"Your key does not have permission"}}',
    "Incorrect API key provided: sk-***",
    "No API key found for provider anthropic",
  ],
  "A29 malformed": [
    "400 Bad Request",
    '400 {"type":"error","error":{"type":"invalid_request_error","message":"messages: roles must alternate"}}',
    "404 model not found",
    '400 {"error":{"message":"Unsupported parameter: reasoning_effort","code":"unsupported_parameter"}}',
    "422 Unprocessable Entity",
    '400 {"error":{"code":"content_filter","message":"The response was filtered due to the prompt"}}',
    "something that nobody has ever seen",
  ],
  "G9 numbers that are no status": [
    "400 max_tokens: 1500 tokens is more than the model writes",
    "400 max_tokens 5020 is too large",
    '400 {"error":{"message":"max_tokens: 250000 > 128000, which is the maximum"}}',
    "model not found: gpt-500",
    "404 The model `gpt-500` does not exist",
    "invalid value 503 for parameter seed",
    "req_502ab invalid_request_error",
  ],
};

/** @type {string[]} */
const OVERFLOW = [
  "prompt is too long: 213462 tokens > 200000 maximum",
  '413 {"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
  "Your input exceeds the context window of this model",
  "Requested token count exceeds the model's maximum context length of 131072 tokens",
  "litellm.ContextWindowExceededError: Context Window exceeded for given call.",
  "Input length (265330) exceeds model's maximum context length (262144).",
  "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
  "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
  "Please reduce the length of the messages or completion",
  "400 This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens",
  "Input length 9 exceeds the maximum allowed input length of 8 tokens.",
  "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
  "the request exceeds the available context size, try increasing it",
  "tokens to keep from the initial prompt is greater than the context length",
  "prompt token count of 9 exceeds the limit of 8",
  'github-copilot API error (413): {"message":"failed to parse request","code":""}',
  "invalid params, context window exceeds limit",
  "Your request exceeded model token limit: 8 (requested: 9)",
  "Prompt has 9,000 tokens, but the configured context size is 8,192 tokens",
  "Prompt contains 9 tokens, too large for model with 8 maximum context length",
  '{"code":"1261","message":"Prompt too long"}',
  "Prompt exceeds max length",
  "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]",
  "prompt too long; exceeded max context length by 5 tokens",
  '400 {"error":{"code":"context_length_exceeded","type":"invalid_request_error","message":"too long"}}',
  "413 <html><head><title>413 Request Entity Too Large</title></head></html>",
  "413 请求体过大",
  "413 Payload Too Large",
];

for (const [title, wordings] of Object.entries(TRANSIENT)) {
  test(`${title} pass: four requests`, async () => {
    for (const words of wordings) assert.deepEqual(await classesOf(words), ["transient", "transient"], words);
  });
}

for (const [title, wordings] of Object.entries(PERMANENT)) {
  test(`${title} do not pass: one request`, async () => {
    for (const words of wordings) assert.deepEqual(await classesOf(words), ["permanent", "permanent"], words);
  });
}

test("G9 codex#11440 an overflow is a class of its own", async () => {
  for (const words of OVERFLOW) assert.deepEqual(await classesOf(words), ["overflow", "overflow"], words);
});

test("A19 the tables agree with pi-ai 1.6.0 but for its known faults", () => {
  const faulty =
    /gpt-500|invalid value 503|req_502ab|^429 usage_limit_reached|^429 Quota|insufficient_quota|Premature close/;
  const pi = (/** @type {string} */ errorMessage) => {
    const message = /** @type {any} */ ({
      ...failed(errorMessage),
      usage: { input: 0, cacheRead: 0, output: 0 },
    });
    if (isContextOverflow(message)) return "overflow";
    return isRetryableAssistantError(message) ? "transient" : "permanent";
  };
  const differing = [];
  const tables = {
    transient: Object.values(TRANSIENT).flat(),
    permanent: Object.values(PERMANENT).flat(),
    overflow: OVERFLOW,
  };
  for (const [name, wordings] of Object.entries(tables)) {
    differing.push(...wordings.filter((words) => !faulty.test(words) && pi(words) !== name));
  }
  assert.ok(differing.length <= 12, differing.join("\n"));
});

/** @param {string} message @param {object} more */
const thrown = (message, more) => Object.assign(new Error(message), more);

test("coder PR#26200 structured codes first, status next, loose words last", async () => {
  for (const [failure, expected] of /** @type {[any, string][]} */ ([
    [thrown("quota", { status: 429, code: "rate_limit_exceeded" }), "transient"],
    [thrown("slow down", { status: 429, error: { code: "insufficient_quota" } }), "permanent"],
    [thrown("try later", { status: 429, error: { type: "usage_limit_reached" } }), "permanent"],
    [thrown("", { status: 429 }), "transient"],
    [thrown("", { status: 500 }), "transient"],
    [thrown("", { status: 529 }), "transient"],
    [thrown("", { statusCode: 503 }), "transient"],
    [thrown("", { status: 408 }), "transient"],
    [thrown("", { status: 409 }), "transient"],
    [thrown("", { status: 425 }), "transient"],
    [thrown("", { status: 400 }), "permanent"],
    [thrown("", { status: 401 }), "permanent"],
    [thrown("", { status: 404 }), "permanent"],
    [thrown("", { status: 413 }), "overflow"],
    [thrown("fetch failed", { cause: thrown("read", { code: "ECONNRESET" }) }), "transient"],
    [
      thrown("request error", {
        cause: thrown("", { code: "UND_ERR_SOCKET", cause: thrown("", { code: "EPIPE" }) }),
      }),
      "transient",
    ],
    [thrown("bad", { code: "ECONNRESET" }), "transient"],
    [
      thrown("x", { status: 400, error: { type: "invalid_request_error", code: "context_length_exceeded" } }),
      "overflow",
    ],
    [thrown("x", { status: 200, error: { type: "overloaded_error" } }), "transient"],
    [thrown("timed out in billing-service", { status: 504 }), "transient"],
  ])) {
    assert.equal(await classOf(failure), expected, `${failure.message} ${JSON.stringify(failure)}`);
  }
});

test("pi#1038 pi#5511 a 429 and a bare 502 without a body are never an overflow", async () => {
  for (const words of ["429 status code (no body)", "502 status code (no body)", "429", "502"]) {
    assert.deepEqual(await classesOf(words), ["transient", "transient"], words);
  }
});

test("a rejection and an error answer are the same failure", async () => {
  for (const words of ["503", "401", "prompt is too long: 9 tokens > 8 maximum"]) {
    const answered = await run(windowed(32_768, 8_192, [failed(words)]), SHORT, { retry: RETRY });
    const rejected = await run(windowed(32_768, 8_192, [new Error(words)]), SHORT, { retry: RETRY });
    assert.deepEqual(answered.error.toJSON(), rejected.error.toJSON());
    assert.equal(answered.calls.length, rejected.calls.length);
  }
});

test("what the client threw is the cause of a provider's failure, and only of that", async () => {
  const mine = new Error("503 my own words");
  const { error } = await run(windowed(32_768, 8_192, [mine]), SHORT, { retry: { ...RETRY, maxRetries: 0 } });
  assert.equal(error.cause, mine);
  assert.ok(!Object.keys(error).includes("cause"), "not enumerable, as JavaScript has it");
  const long = await run(windowed(32_768, 8_192, [mine, { content: [], stopReason: "stop" }]), SHORT);
  assert.equal(long.error.code, "summary_empty");
  assert.equal(long.error.cause, undefined);
  const text = await run(windowed(32_768, 8_192, [failed("503")]), SHORT, {
    retry: { ...RETRY, maxRetries: 0 },
  });
  assert.equal(text.error.cause, undefined);
});
