import { expect, test } from "vitest"
import { decodePolicyAnswer } from "./policy-webhook.ts"

const id = "9b2c"
const decoded = (answer: object) => decodePolicyAnswer(Buffer.from(JSON.stringify({ request_uuid: id, ...answer })), id)

test.each([
  { why: "names no pause", answer: {}, retryAfterMs: 60_000 },
  { why: "names a pause", answer: { retry_after: 90 }, retryAfterMs: 90_000 },
  { why: "names null", answer: { retry_after: null, error: null, certificate: null }, retryAfterMs: 60_000 },
  { why: "names no time at all", answer: { retry_after: 0 }, retryAfterMs: 1_000 },
  { why: "names a long pause", answer: { retry_after: 1_000_000 }, retryAfterMs: 86_400_000 },
])("an answer is pending when it $why", ({ answer, retryAfterMs }) => {
  expect(decoded({ decision: "pending", ...answer })).toEqual({ kind: "pending", retryAfterMs })
})

test.each([
  { why: "decision is unknown", answer: { decision: "later" }, text: 'has an invalid "decision"' },
  {
    why: "retry_after is negative",
    answer: { decision: "pending", retry_after: -1 },
    text: 'has an invalid "retry_after"',
  },
  {
    why: "retry_after is no integer",
    answer: { decision: "pending", retry_after: "60" },
    text: 'has an invalid "retry_after"',
  },
  {
    why: "it has a decision and an error",
    answer: { decision: "pending", error: "no" },
    text: 'has "decision" together with "certificate" or "error"',
  },
  {
    why: "it has a decision and a certificate",
    answer: { decision: "pending", certificate: "x" },
    text: 'has "decision" together with "certificate" or "error"',
  },
  { why: "it has neither", answer: { retry_after: 60 }, text: 'has neither "certificate" nor "error"' },
])("an answer is invalid when $why", ({ answer, text }) => {
  expect(decoded(answer)).toBe(text)
})
