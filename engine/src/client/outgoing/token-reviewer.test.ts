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

test("the token is shown once, with the audience that is asked for, under the reviewer's own", async () => {
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

test("the API server's own audience is not named, and its address may have a path", async () => {
  const { question, seen } = await serving(reviewed({ ...genuine, audiences: undefined }))
  const review = await reviewer()({ ...question, url: `${question.url}/k8s/clusters/c-1`, audiences: [] })
  expect(review).toMatchObject({ kind: "genuine", audiences: [] })
  expect(seen).toMatchObject([{ url: "/k8s/clusters/c-1/apis/authentication.k8s.io/v1/tokenreviews" }])
  expect(seen[0]?.document).toHaveProperty("spec", { token: "the-one-to-review" })
})

test.each([
  { why: "it is not accepted", status: { authenticated: false, error: "expired" } },
  { why: "nothing is said", status: {} },
  { why: "there was an error all the same", status: { ...genuine, error: "audience check failed" } },
  { why: "it is a person's", status: { ...genuine, user: { username: "alice", uid: "u-1" } } },
  { why: "it is a node's", status: { ...genuine, user: { username: "system:node:one" } } },
  {
    why: "its name has a part too many",
    status: { ...genuine, user: { username: "system:serviceaccount:shop:web:x" } },
  },
  { why: "it has no name", status: { authenticated: true } },
])("a token is not a service account's where $why", async ({ status }) => {
  const { question } = await serving(reviewed(status))
  expect(await reviewer()(question)).toEqual({ kind: "not-genuine" })
})

test.each([401, 403])("the status %i is about whoever asks", async (status) => {
  const { question } = await serving(reviewed({}, status))
  expect(await reviewer()(question)).toEqual({ kind: "refused", status })
})

const answering = (code: number, body: string) => (response: ServerResponse) => {
  response.writeHead(code).end(body)
}
const secret = "what-nobody-should-read"
test.each([
  { why: "another status", answer: reviewed({ ...genuine, secret }, 500) },
  { why: "a redirect", answer: answering(302, secret) },
  { why: "no JSON", answer: answering(200, `<html>${secret}`) },
  { why: "bytes that are no text", answer: answering(200, "\u0000") },
  { why: "another kind of object", answer: answering(200, JSON.stringify({ kind: "Status", status: secret })) },
  { why: "a flag that is text", answer: reviewed({ ...genuine, authenticated: "true", secret }) },
  { why: "more than is read", answer: answering(200, secret.repeat(20_000)) },
  { why: "nothing at all", answer: (response: ServerResponse) => void response.destroy() },
])("$why is no review, and nothing of the answer or of a token is repeated", async ({ answer }) => {
  const { question } = await serving(answer)
  const review = await reviewer()(question)
  expect(review).toEqual({ kind: "unanswered", reason: expect.stringMatching(/\.$/) as string })
  for (const word of [secret, question.bearer, question.token]) expect(JSON.stringify(review)).not.toContain(word)
})

test("whoever is not vouched for, or is where this server may not go, is told no token", async () => {
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

test("so many are reviewed at once and no more, and a place is free again when one is done, however it ends", async () => {
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
