import type { ServerResponse } from "node:http"
import { afterEach, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { FetchFailure } from "../../core/fetch.ts"
import type { ReviewQuestion } from "../../access/kubernetes/token-reviewer.ts"
import { reviewed, startApiServer } from "../../../testing/api-server.ts"
import { testTlsPem } from "../../../testing/policy-server.ts"
import { guardedFetch } from "./guarded-fetch.ts"
import { kubernetesTokenReviewer } from "./pod-account.ts"

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

async function serving(answer: Parameters<typeof startApiServer>[0]) {
  const server = await startApiServer(answer)
  opened.push(() => server[Symbol.asyncDispose]())
  const question: ReviewQuestion = {
    url: server.url,
    trust: { kind: "authorities", certificates: server.authorities },
    bearer: "the-reviewers-own",
    token: "the-one-to-review",
    audiences: ["vault://shop/issuer"],
  }
  return { question, seen: server.seen }
}

function reviewer(kinds: readonly ("loopback" | "private" | "link-local")[] = ["loopback"]) {
  const { fetch, ...rest } = guardedFetch({ permitted: { kinds, ranges: [] }, digest: systemRuntime().digest })
  opened.push(() => rest[Symbol.asyncDispose]())
  return kubernetesTokenReviewer(fetch)
}

const genuine = {
  authenticated: true,
  user: { username: "system:serviceaccount:shop:web", uid: "u-1", groups: ["system:serviceaccounts"], extra: {} },
  audiences: ["vault://shop/issuer"],
}

test("the token is sent once with the requested audience, authorized by the reviewer's token", async () => {
  const { question, seen } = await serving(reviewed(genuine))
  expect(await reviewer()(question)).toEqual({
    kind: "genuine",
    account: { namespace: "shop", name: "web", uid: "u-1" },
    audiences: ["vault://shop/issuer"],
  })
  expect(seen).toEqual([
    {
      method: "POST",
      url: "/apis/authentication.k8s.io/v1/tokenreviews",
      authorization: "Bearer the-reviewers-own",
      document: {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        spec: { token: "the-one-to-review", audiences: ["vault://shop/issuer"] },
      },
    },
  ])
})

test("the API server's default audience is not sent, and its URL may have a path", async () => {
  const { question, seen } = await serving(reviewed({ ...genuine, audiences: undefined }))
  const review = await reviewer()({ ...question, url: `${question.url}/k8s/clusters/c-1`, audiences: [] })
  expect(review).toMatchObject({ kind: "genuine", audiences: [] })
  expect(seen).toMatchObject([{ url: "/k8s/clusters/c-1/apis/authentication.k8s.io/v1/tokenreviews" }])
  expect(seen[0]?.document).toHaveProperty("spec", { token: "the-one-to-review" })
})

test.each([
  { why: "it is not authenticated", status: { authenticated: false, error: "expired" } },
  { why: "the status is empty", status: {} },
  { why: "the review has an error", status: { ...genuine, error: "audience check failed" } },
  { why: "its user is a person", status: { ...genuine, user: { username: "alice", uid: "u-1" } } },
  { why: "its user is a node", status: { ...genuine, user: { username: "system:node:one" } } },
  {
    why: "its user name has an extra part",
    status: { ...genuine, user: { username: "system:serviceaccount:shop:web:x" } },
  },
  { why: "its user name has no account", status: { authenticated: true } },
])("a token is not a genuine service account token when $why", async ({ status }) => {
  const { question } = await serving(reviewed(status))
  expect(await reviewer()(question)).toEqual({ kind: "not-genuine" })
})

test.each([401, 403])("the status %i refuses the reviewer", async (status) => {
  const { question } = await serving(reviewed({}, status))
  expect(await reviewer()(question)).toEqual({ kind: "refused", status })
})

const answering = (code: number, body: string) => (response: ServerResponse) => {
  response.writeHead(code).end(body)
}
const secret = "what-nobody-should-read"
test.each([
  { why: "an unexpected status", answer: reviewed({ ...genuine, secret }, 500) },
  { why: "a redirect", answer: answering(302, secret) },
  { why: "a body that is not JSON", answer: answering(200, `<html>${secret}`) },
  { why: "a body that is not UTF-8", answer: answering(200, "\u0000") },
  { why: "an object of another kind", answer: answering(200, JSON.stringify({ kind: "Status", status: secret })) },
  { why: "a boolean member that is a string", answer: reviewed({ ...genuine, authenticated: "true", secret }) },
  { why: "a body over the limit", answer: answering(200, secret.repeat(20_000)) },
  { why: "an empty body", answer: (response: ServerResponse) => void response.destroy() },
])("$why is not a review, and the error contains neither the answer nor a token", async ({ answer }) => {
  const { question } = await serving(answer)
  const review = await reviewer()(question)
  expect(review).toEqual({ kind: "unanswered", reason: expect.stringMatching(/\.$/) as string })
  for (const word of [secret, question.bearer, question.token]) expect(JSON.stringify(review)).not.toContain(word)
})

test("no token is sent to an API server that is not trusted or not permitted", async () => {
  const { question, seen } = await serving(reviewed(genuine))
  const stranger = await reviewer()({
    ...question,
    trust: { kind: "authorities", certificates: testTlsPem("certificate") },
  })
  expect(stranger).toMatchObject({ kind: "unanswered", reason: expect.stringContaining("not trusted") as string })
  expect(await reviewer()({ ...question, url: question.url.replace("localhost", "127.0.0.2") })).toMatchObject({
    kind: "unanswered",
  })
  expect(await reviewer(["private"])(question)).toMatchObject({ kind: "unanswered" })
  const metadata = await reviewer(["private", "loopback", "link-local"])({
    ...question,
    url: "https://169.254.169.254",
  })
  expect(metadata).toMatchObject({ kind: "unanswered" })
  expect(seen).toEqual([])
})

test("reviews in flight are limited, and each one that ends frees its place", async () => {
  const waiting: (() => void)[] = []
  const review = kubernetesTokenReviewer(
    () => new Promise((_, reject) => waiting.push(() => reject(new FetchFailure("unreachable", "It is away.")))),
  )
  const question: ReviewQuestion = { url: "https://h", bearer: "b", token: "t", audiences: [] }
  const all = Array.from({ length: 64 }, () => review(question))
  await expect.poll(() => waiting.length).toBe(64)
  expect(await review(question)).toMatchObject({ kind: "unanswered", reason: expect.stringContaining("64") as string })
  for (const end of waiting.splice(0)) end()
  expect(await Promise.all(all)).toEqual(all.map(() => ({ kind: "unanswered", reason: "It is away." })))
  const next = review(question)
  await expect.poll(() => waiting.length).toBe(1)
  waiting[0]?.()
  expect(await next).toEqual({ kind: "unanswered", reason: "It is away." })
})
