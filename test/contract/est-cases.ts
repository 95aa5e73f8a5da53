import { describe, expect, test } from "vitest"
import type { OpenedEngine } from "./engines.ts"
import { refused } from "./refusals.ts"

let count = 0

export function estCases(engine: () => OpenedEngine): void {
  async function newMount() {
    const { mounts, pki, authMethods } = engine().root
    const name = `contract/est-${(count += 1)}`
    await authMethods.enable({ path: name, type: "userpass" })
    const { accessor } = await authMethods.get(name)
    await mounts.create({ path: name, config: { delegatedAuthAccessors: [accessor] } })
    await pki(name).roles.save("web", { allowedDomains: ["example.com"] })
    return { pki: pki(name), accessor, label: `label-${count}` }
  }

  describe("the EST configuration", () => {
    test("is written and read back", async () => {
      const { pki, accessor, label } = await newMount()
      expect(await pki.settings.est()).toMatchObject({ enabled: false, defaultPathPolicy: "", lastUpdated: null })
      const written = {
        enabled: true,
        defaultPathPolicy: "role:web",
        labelToPathPolicy: { [label]: "sign-verbatim" },
        authenticators: { userpass: { accessor }, cert: { accessor: "", role: "" } },
        enableSentinelParsing: true,
        auditFields: ["csr" as const],
        manualApproval: ["sign-verbatim"],
      }
      const { value, warnings } = await pki.settings.changeEst(written)
      expect([value, warnings]).toEqual([
        { ...written, defaultMount: false, lastUpdated: expect.any(Number) as number },
        [],
      ])
      expect(await pki.settings.est()).toEqual(value)
    })

    test("is unchanged by an invalid update", async () => {
      const { pki } = await newMount()
      const before = await pki.settings.est()
      await expect(
        pki.settings.changeEst({
          defaultPathPolicy: "role:absent",
          labelToPathPolicy: { cacerts: "sign-verbatim" },
          authenticators: { userpass: { accessor: "auth_userpass_0" }, cert: { accessor: "", role: "" } },
          manualApproval: ["forbid"],
        }),
      ).rejects.toMatchObject(
        refused("invalid", ["defaultPathPolicy"], ["labelToPathPolicy"], ["authenticators"], ["manualApproval"]),
      )
      expect(await pki.settings.est()).toEqual(before)
    })

    test("registers a label for one mount, until this mount gives it up", async () => {
      const [one, other] = [await newMount(), await newMount()]
      const labelToPathPolicy = { [one.label]: "role:web" }
      await one.pki.settings.changeEst({ enabled: true, labelToPathPolicy })
      await expect(other.pki.settings.changeEst({ enabled: true, labelToPathPolicy })).rejects.toMatchObject({
        code: "conflict",
      })
      await one.pki.settings.changeEst({ enabled: false })
      expect((await other.pki.settings.changeEst({ enabled: true, labelToPathPolicy })).value.enabled).toBe(true)
    })
  })
}
