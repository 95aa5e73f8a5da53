import { describe, expect, test } from "vitest"
import { hourMs } from "../../engine/src/core/time.ts"
import type { OpenedEngine } from "./engines.ts"
import { refused } from "./refusals.ts"

let count = 0

export function leaseCases(engine: () => OpenedEngine): void {
  async function newMount() {
    const path = `contract/lease-${(count += 1)}`
    const { mounts, pki: mountAt } = engine().root
    await mounts.create({ path })
    const pki = mountAt(path)
    await pki.issuers.generateRoot({ commonName: "Root", keyType: "ec" })
    await pki.roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: hourMs, generateLease: true })
    const issue = async () => {
      const { serialNumber, lease } = await pki.certificates.issue("any", { commonName: "a.test" })
      return { serialNumber, id: lease?.id ?? "" }
    }
    return { path, pki, issue }
  }

  describe("leases", () => {
    test("are looked up, listed and revoked with their certificates", async () => {
      const { path, pki, issue } = await newMount()
      const { leases } = engine().root
      const [one, other, third] = [await issue(), await issue(), await issue()]
      const found = await leases.lookup(one.id)
      expect(found.id).toBe(one.id)
      // The certificate expires at a whole second, so the two can differ by up to two.
      expect(Math.abs(found.expiresAt - found.issuedAt - hourMs)).toBeLessThan(2_000)
      expect(found.remainingMs % 1_000).toBe(0)
      expect(await leases.list(path)).toEqual(["issue/"])
      const names = [one, other, third].map(({ id }) => id.slice(`${path}/issue/any/`.length)).toSorted()
      expect(await leases.list(`${path}/issue/any/`)).toEqual(names)
      await leases.revoke(one.id)
      await leases.revoke(other.id)
      await leases.revoke(one.id)
      expect(await pki.revocations.list()).toEqual([one, other].map(({ serialNumber }) => serialNumber).toSorted())
      expect(await leases.revokePrefix(path, { sync: true })).toEqual([])
      expect(await pki.revocations.list()).toHaveLength(3)
      expect(await leases.list(path)).toEqual([])
      expect(await leases.revokePrefix(path)).toEqual([expect.stringContaining("being revoked")])
      expect(await leases.revokePrefix("auth/nothing-made-here")).toEqual([])
    })

    test("are rejected when their ids are invalid", async () => {
      const { leases } = engine().root
      await expect(leases.lookup("none")).rejects.toMatchObject(refused("unprocessable"))
      await expect(leases.lookup("")).rejects.toMatchObject(refused("invalid", ["leaseId"]))
      await expect(leases.revoke("")).rejects.toMatchObject(refused("invalid", ["leaseId"]))
    })
  })
}
