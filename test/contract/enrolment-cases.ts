import { describe, expect, test } from "vitest"
import { dayMs } from "../../engine/src/core/time.ts"
import { pendingEnrolment } from "../../engine/testing/pending-enrolment.ts"
import type { OpenedEngine } from "./engines.ts"
import { notFound, refused } from "./refusals.ts"

let count = 0

export function enrolmentCases(engine: () => OpenedEngine): void {
  async function newQueue() {
    const path = `contract/enrolments-${(count += 1)}`
    const { root, served } = engine()
    await root.mounts.create({ path })
    const { enrolments } = root.pki(path)
    return { enrolments, newEnrolment: () => pendingEnrolment(served, path) }
  }

  describe("an enrolment", () => {
    test("is listed by state and page, and returned with its CSR", async () => {
      const { enrolments, newEnrolment } = await newQueue()
      expect(await enrolments.list()).toEqual([])
      const ids = [await newEnrolment(), await newEnrolment(), await newEnrolment()].toSorted()
      const [first = "", second = ""] = ids
      await enrolments.deny(second)
      const listed = async (query?: Parameters<typeof enrolments.list>[0]) =>
        (await enrolments.list(query)).map(({ id }) => id)
      expect(await listed()).toEqual(ids)
      expect(await listed({ after: first, limit: 1 })).toEqual([second])
      expect(await listed({ state: "pending" })).toEqual(ids.filter((id) => id !== second))
      expect(await listed({ state: "issued" })).toEqual([])
      const { csr, ...view } = await enrolments.get(first)
      expect(csr).toMatch(/^-----BEGIN CERTIFICATE REQUEST-----\n/)
      expect(await enrolments.list({ limit: 1 })).toEqual([view])
      expect(view).toMatchObject({
        state: "pending",
        subject: "CN=printer.example",
        names: ["printer.example", "printer-7.example"],
        requester: "userpass-printer-7",
        requesterAccessor: "auth_userpass_1a2b3c4d",
        protocol: "est",
        operation: "simpleenroll",
        path: "est/simpleenroll",
        policy: "sign-verbatim",
        decider: "manual",
        expiresAt: view.createdAt + 7 * dayMs,
        decidedAt: null,
        decidedBy: "",
        comment: "",
        serialNumber: null,
      })
    })

    test("is approved or denied once, and repeating the decision changes nothing", async () => {
      const { enrolments, newEnrolment } = await newQueue()
      const [one, other] = [await newEnrolment(), await newEnrolment()]
      const approved = await enrolments.approve(one, { comment: "ticket 7" })
      expect(approved).toMatchObject({ id: one, state: "approved", comment: "ticket 7" })
      expect(approved.decidedBy).not.toBe("")
      expect(await enrolments.approve(one, { comment: "again" })).toEqual(approved)
      await expect(enrolments.deny(one)).rejects.toMatchObject(refused("unprocessable"))
      const denied = await enrolments.deny(other, { comment: "unknown" })
      expect(denied).toMatchObject({ state: "denied", comment: "unknown" })
      expect(await enrolments.deny(other)).toEqual(denied)
      await expect(enrolments.approve(other)).rejects.toMatchObject(refused("unprocessable"))
    })

    test("that does not exist is not found, and invalid comments are rejected", async () => {
      const { enrolments, newEnrolment } = await newQueue()
      await expect(enrolments.get("enrol-absent")).rejects.toMatchObject(notFound)
      await expect(enrolments.approve("enrol-absent")).rejects.toMatchObject(notFound)
      await expect(enrolments.deny("enrol-absent")).rejects.toMatchObject(notFound)
      const comment = "x".repeat(1_025)
      const id = await newEnrolment()
      await expect(enrolments.approve(id, { comment })).rejects.toMatchObject(refused("invalid", ["comment"]))
      await expect(enrolments.deny(id, { comment: "\n" })).rejects.toMatchObject(refused("invalid", ["comment"]))
      expect(await enrolments.get(id)).toMatchObject({ state: "pending" })
    })
  })
}
