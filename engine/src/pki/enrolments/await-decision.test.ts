// Steps of protocols, on two servers with one database.
import { describe, expect, onTestFinished, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { dayMs, hourMs, minuteMs } from "../../core/time.ts"
import type { ServedEngine } from "../../engine.ts"
import { newSerialNumber, type SerialNumber } from "../../x509/serial-number.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { enrolmentRequest, pendingEnrolment, protocolAccess } from "../../../testing/pending-enrolment.ts"
import { defaultSharedKind } from "../../../testing/temporary-database.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"
import { recordIssued } from "../mounts/with-mount-snapshot.ts"
import { awaitDecision, enrolmentStepOf, recordPolicyRefusal, settleEnrolment } from "./await-decision.ts"
import { sweepEnrolments } from "./delete-expired-enrolments.ts"
import type { EnrolmentId } from "./enrolment.ts"
import { maxPendingPerRequester } from "./enrolment.ts"

const system = systemRuntime()

/** Opens two servers on one database, with the mount `pki` and a common clock. */
async function newServers() {
  const opened = new AsyncDisposableStack()
  onTestFinished(() => opened.disposeAsync())
  const { url } = opened.use(await defaultSharedKind.place())
  const clock = manualClock(Date.UTC(2030, 0, 1))
  const open = async () => opened.use(await openTestEngine({ url, runtime: { ...system, clock }, jobs: false })).engine
  const [one, other] = [await open(), await open()]
  await one.mounts.create({ path: "pki" })
  return { clock, one, other, queue: one.pki("pki").enrolments }
}

/** Records a certificate for an enrolment, as a protocol does after it has signed. */
function issue(engine: ServedEngine, id: string): Promise<SerialNumber> {
  const access = protocolAccess(engine, "pki")
  const { clock, random } = access.context.runtime
  return recordIssued(access, async ({ mount }) => {
    const serialNumber = newSerialNumber(random)
    const now = clock.now()
    return {
      issuance: {
        certificate: {
          mountId: mount.id,
          serialNumber,
          certificate: Uint8Array.of(0x30, 0),
          issuerId: null,
          role: null,
          commonName: "printer.example",
          names: ["printer.example"],
          notBefore: now,
          notAfter: now + hourMs,
        },
        metadata: undefined,
        lease: undefined,
      },
      value: serialNumber,
      settle: (repositories) => settleEnrolment(repositories, id as EnrolmentId, { serialNumber, now }),
    }
  })
}
const storedCertificates = async (engine: ServedEngine) => (await engine.pki("pki").certificates.list()).length

describe("a request that needs an approval", () => {
  test("waits until it is approved, is signed once, and gets the same certificate again", async () => {
    const { one, other, queue } = await newServers()
    const request = await enrolmentRequest()
    const step = (engine: ServedEngine) => awaitDecision(protocolAccess(engine, "pki"), request)
    const first = await step(one)
    expect(first).toMatchObject({ kind: "wait", retryAfterMs: minuteMs })
    expect(await step(other)).toEqual(first)
    const id = (await queue.list())[0]?.id ?? ""
    await expect(issue(one, id)).rejects.toMatchObject({ code: "conflict" })
    await queue.approve(id)
    expect(await step(other)).toEqual({ kind: "sign", id })
    const issued = await Promise.allSettled([one, other, one, other].map((engine) => issue(engine, id)))
    const serialNumbers = issued.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []))
    expect(serialNumbers).toHaveLength(1)
    expect(await storedCertificates(one)).toBe(1)
    expect(await step(one)).toEqual({ kind: "issued", id, serialNumber: serialNumbers[0] })
    expect(await queue.get(id)).toMatchObject({ state: "issued", serialNumber: serialNumbers[0] })
    await expect(issue(other, id)).rejects.toMatchObject({ code: "conflict" })
    expect(await storedCertificates(one)).toBe(1)
  })

  test("gets the comment of a denial until the enrolment expires, and then waits again", async () => {
    const { clock, one, queue } = await newServers()
    const request = await enrolmentRequest()
    const id = await pendingEnrolment(one, "pki", { request, ttlMs: dayMs })
    await queue.deny(id, { comment: "not ours" })
    const access = protocolAccess(one, "pki")
    expect(await awaitDecision(access, request)).toEqual({ kind: "denied", id, comment: "not ours" })
    clock.advance(dayMs)
    await expect(queue.approve(id)).rejects.toMatchObject({ code: "unprocessable" })
    expect(await queue.list()).toEqual([])
    expect(await enrolmentStepOf(access, request)).toEqual({ kind: "new" })
    expect(await awaitDecision(access, request)).toMatchObject({ kind: "wait" })
    expect(await queue.list()).toHaveLength(1)
  })

  test("is not signed when its approval has expired", async () => {
    const { clock, one, queue } = await newServers()
    const id = await pendingEnrolment(one, "pki")
    await queue.approve(id)
    clock.advance(7 * dayMs)
    await expect(issue(one, id)).rejects.toMatchObject({ code: "conflict" })
    expect(await storedCertificates(one)).toBe(0)
  })

  test("for a server-made key waits again after its certificate was issued, and both enrolments are listed", async () => {
    const { one, queue } = await newServers()
    const request = await enrolmentRequest({ operation: "serverkeygen", path: "est/serverkeygen" })
    const id = await pendingEnrolment(one, "pki", { request })
    await queue.approve(id)
    await issue(one, id)
    const next = await awaitDecision(protocolAccess(one, "pki"), request)
    expect(next).toMatchObject({ kind: "wait" })
    expect((await queue.list()).map(({ state }) => state).toSorted()).toEqual(["issued", "pending"])
  })

  test.each([
    { why: "another path", change: { path: "roles/web/est/simpleenroll" } },
    { why: "another client", change: { requester: { accessor: "auth_cert_1", displayName: "cert-other" } } },
  ])("has no part in the approval of $why", async ({ change }) => {
    const { one, queue } = await newServers()
    const request = await enrolmentRequest()
    await queue.approve(await pendingEnrolment(one, "pki", { request }))
    const step = await awaitDecision(protocolAccess(one, "pki"), { ...request, ...change })
    expect(step).toMatchObject({ kind: "wait" })
  })

  test("replaces its enrolment when the policy has changed since the approval", async () => {
    const { one, queue } = await newServers()
    const request = await enrolmentRequest()
    const id = await pendingEnrolment(one, "pki", { request })
    await queue.approve(id)
    const changed = { ...request, policy: "role:web" }
    expect(await awaitDecision(protocolAccess(one, "pki"), changed)).toMatchObject({ kind: "wait" })
    await expect(queue.get(id)).rejects.toMatchObject({ code: "not-found" })
    expect(await queue.list()).toMatchObject([{ policy: "role:web", state: "pending" }])
  })

  test("is rejected when too many enrolments of its client wait", async () => {
    const { clock, one, queue } = await newServers()
    for (let count = 0; count < maxPendingPerRequester; count += 1) await pendingEnrolment(one, "pki", { ttlMs: dayMs })
    const request = await enrolmentRequest()
    const access = protocolAccess(one, "pki")
    await expect(awaitDecision(access, request)).rejects.toMatchObject({
      code: "rate-limited",
      retryAfterMs: 10 * minuteMs,
    })
    const another = await enrolmentRequest({ requester: { accessor: "auth_cert_1", displayName: "cert-other" } })
    expect(await awaitDecision(access, another)).toMatchObject({ kind: "wait" })
    clock.advance(dayMs)
    expect(await awaitDecision(access, request)).toMatchObject({ kind: "wait" })
    expect(await queue.list()).toHaveLength(2)
  })

  test("is stored once when two servers store it at the same time", async () => {
    const { one, other, queue } = await newServers()
    const request = await enrolmentRequest()
    await Promise.allSettled(
      [one, other, one, other].map((engine) => awaitDecision(protocolAccess(engine, "pki"), request)),
    )
    expect(await queue.list()).toHaveLength(1)
  })
})

test("expired enrolments are deleted, and others stay", async () => {
  const { clock, one, queue } = await newServers()
  const [expired, other] = [await pendingEnrolment(one, "pki", { ttlMs: dayMs }), await pendingEnrolment(one, "pki")]
  clock.advance(dayMs)
  expect(await queue.get(expired)).toMatchObject({ state: "pending" })
  await sweepEnrolments(protocolAccess(one, "pki").context, { signal: new AbortController().signal })
  await expect(queue.get(expired)).rejects.toMatchObject({ code: "not-found" })
  expect(await queue.get(other)).toMatchObject({ state: "pending" })
})

describe("a request that waits for the external policy service", () => {
  const decider = "external-policy"

  test("asks again after the pause that the service named, and is issued without an approval", async () => {
    const { clock, one, other, queue } = await newServers()
    const request = await enrolmentRequest({ policy: "external-policy:web" })
    const access = protocolAccess(one, "pki")
    const waiting = await awaitDecision(access, request, { decider, retryAfterMs: 5 * minuteMs })
    expect(waiting).toMatchObject({ kind: "wait", retryAfterMs: 5 * minuteMs })
    clock.advance(2 * minuteMs)
    expect(await enrolmentStepOf(access, request)).toMatchObject({ kind: "wait", retryAfterMs: 3 * minuteMs })
    clock.advance(3 * minuteMs)
    const id = (await queue.list())[0]?.id ?? ""
    expect(await enrolmentStepOf(access, request)).toEqual({ kind: "ask", id })
    const again = await awaitDecision(access, request, { decider, retryAfterMs: 0 })
    expect(again).toEqual({ kind: "wait", id, retryAfterMs: 1_000 })
    for (const decide of [queue.approve(id), queue.deny(id)])
      await expect(decide).rejects.toMatchObject({ code: "unprocessable" })
    const issued = await Promise.allSettled([issue(one, id), issue(other, id)])
    expect(issued.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    expect(await enrolmentStepOf(access, request)).toMatchObject({ kind: "issued", id })
  })

  test("is denied with the reason of the service", async () => {
    const { one } = await newServers()
    const request = await enrolmentRequest({ policy: "external-policy:web" })
    const id = await pendingEnrolment(one, "pki", { request, decider })
    const access = protocolAccess(one, "pki")
    await recordPolicyRefusal(access, id as EnrolmentId, "not on Fridays")
    expect(await enrolmentStepOf(access, request)).toEqual({ kind: "denied", id, comment: "not on Fridays" })
  })
})
