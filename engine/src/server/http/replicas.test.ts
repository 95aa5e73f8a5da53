// A change on one replica takes effect on the others with the next request: two engines on one PostgreSQL database, queried in turn.
import { expect, test } from "vitest"
import { databaseKinds } from "../../../testing/temporary-database.ts"
import { ocspQuestion } from "../../../testing/ocsp-question.ts"
import { newOrganization, newUser } from "../../../testing/users.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"
import { parseCertificateList } from "../../x509/certificate-list.ts"

const kind = databaseKinds.find(({ name }) => name === "PostgreSQL")
const racers = 8

async function replicas() {
  if (kind === undefined) throw new Error("PostgreSQL is not among the stores")
  const closing = new AsyncDisposableStack()
  const { url } = closing.use(await kind.place())
  const one = closing.use(await openTestEngine({ url, jobs: false }))
  const other = closing.use(await openTestEngine({ url, jobs: false }))
  return { one, other, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

async function done(testEngine: TestEngine, path: string, body: object) {
  const answer = await testEngine.pki("POST", path, { body })
  expect([path, answer.status < 300, answer.body?.errors]).toEqual([path, true, undefined])
  return answer.body?.data
}

test.skipIf(kind?.available !== true)(
  "a lock that many callers request on two replicas has one holder, and one release succeeds",
  async () => {
    await using stage = await replicas()
    const { one, other } = stage
    await newOrganization(one, "acme")
    const { body } = await one.request("POST", "/organizations/acme/workspaces", {
      body: { data: { type: "workspaces", attributes: { name: "web" } } },
    })
    const act = (action: string) =>
      Promise.all(
        Array.from({ length: racers }, async (_, index) => {
          const testEngine = index % 2 === 0 ? one : other
          return (await testEngine.request("POST", `/workspaces/${body.data.id}/actions/${action}`)).status
        }),
      )
    for (const action of ["lock", "unlock", "lock"]) {
      const answers = await act(action)
      expect(answers.toSorted((a, b) => a - b)).toEqual([200, ...Array.from({ length: racers - 1 }, () => 409)])
    }
  },
)

test.skipIf(kind?.available !== true)(
  "a token that one replica revokes is rejected by all, even where it was cached",
  async () => {
    await using stage = await replicas()
    const { one, other } = stage
    const { id, token } = await newUser(one, "someone")
    const account = async (testEngine: TestEngine) =>
      (await testEngine.request("GET", "/account/details", { token })).status
    for (const testEngine of [one, other, other]) expect(await account(testEngine)).toBe(200)
    const [{ id: tokenId }] = (await one.request("GET", `/users/${id}/authentication-tokens`)).body.data
    expect((await one.request("DELETE", `/authentication-tokens/${tokenId}`)).status).toBe(204)
    for (const testEngine of [other, one]) expect(await account(testEngine)).toBe(401)
  },
)

test.skipIf(kind?.available !== true)(
  "roles, revocations, lists and OCSP answers are the same on all replicas at once",
  async () => {
    await using stage = await replicas()
    const { one, other } = stage
    await done(one, "/sys/mounts/pki", { type: "pki" })
    await done(one, "/pki/root/generate/internal", { common_name: "Root", key_type: "ec" })
    await done(one, "/pki/roles/web", { allow_any_name: true, key_type: "ec", ttl: "1h" })
    const issue = (testEngine: TestEngine) =>
      testEngine.pki("POST", "/pki/issue/web", { body: { common_name: "web.example.com" } })
    const { serial_number: serial } = (await issue(other)).body.data
    await done(one, "/pki/roles/web", { allowed_domains: ["example.org"], allow_any_name: false, key_type: "ec" })
    expect((await issue(other)).status).toBe(400)

    const issuer = (await other.pki("GET", "/pki/ca")).bytes
    const question = ocspQuestion({
      digest: "sha256",
      issuer,
      serialNumber: Buffer.from(serial.replaceAll(":", ""), "hex"),
    })
    const answerOf = async (testEngine: TestEngine) => {
      const headers = { "content-type": "application/ocsp-request" }
      const { status, bytes } = await testEngine.pki("POST", "/pki/ocsp", { body: question, headers, token: null })
      expect(status).toBe(200)
      return Buffer.from(bytes).toString("hex")
    }
    const listOf = async (testEngine: TestEngine) => {
      const { bytes } = await testEngine.pki("GET", "/pki/crl", { token: null })
      const { number = 0, entries } = parseCertificateList(bytes)
      return { number, count: entries.length, octets: Buffer.from(bytes).toString("hex") }
    }
    const good = await answerOf(other)
    const empty = await listOf(other)
    expect(empty.count).toBe(0)
    await done(one, "/pki/revoke", { serial_number: serial })
    expect(await answerOf(other)).not.toBe(good)
    const built = await Promise.all([one, other, one, other].map(listOf))
    expect(new Set(built.map(({ octets }) => octets)).size).toBe(1)
    expect([built[0]?.count, (built[0]?.number ?? 0) > empty.number]).toEqual([1, true])
  },
)
