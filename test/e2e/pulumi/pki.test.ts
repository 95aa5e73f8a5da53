// A short scenario of a mount with a role, with the real Pulumi engine; test/long has the full scenarios.
import { AcmeConfig, AcmeEab } from "@chancery/pulumi"
import { beforeAll, describe, expect, test } from "vitest"
import { defaultAcmeSettings } from "../../../engine/src/pki/mounts/acme-settings.ts"
import { pulumiProgram } from "../../toolchain/pulumi.ts"
import { declarePki } from "./pki-scenario.ts"
import { buildProvider, openStack } from "./stack.ts"

const pulumi = await pulumiProgram()

beforeAll(buildProvider)

describe.skipIf(pulumi === undefined).each(["embedded", "remote"] as const)("with the %s engine", (mode) => {
  test("a mount and its role are created, changed and deleted", { timeout: 300_000 }, async () => {
    await using stack = await openStack(pulumi ?? "", mode)
    const { engine } = stack
    const mount = { maxLeaseTtl: "8760h" }
    const created = { pki: "create", web: "create" }
    expect((await stack.up(declarePki({ mount, role: { ttl: "24h" } }))).operations).toEqual(created)
    const changed = declarePki({ mount, role: { ttl: "48h", allowAnyName: true } })
    expect((await stack.up(changed)).operations).toEqual({ pki: "same", web: "update" })
    expect(await engine.pki("pki").roles.get("web")).toMatchObject({ ttlMs: 172_800_000, allowAnyName: true })
    await stack.destroy()
    expect(await engine.mounts.list()).toEqual([])
  })

  test("ACME is enabled, admits a client once, and is disabled at the end", { timeout: 300_000 }, async () => {
    await using stack = await openStack(pulumi ?? "", mode)
    const { engine } = stack
    await engine.mounts.create({
      path: "pki",
      config: { allowedResponseHeaders: ["Location", "Replay-Nonce", "Link"] },
    })
    const { issuers, settings } = engine.pki("pki")
    await issuers.generateRoot({ commonName: "Root", keyType: "ec" })
    await settings.changeCluster({ path: "https://ca.example/v1/pki" })
    const declared = (ttl: string) => async () => {
      const { mount } = new AcmeConfig("acme", { enabled: true, eabPolicy: "always-required", maxTtl: "720h" })
      new AcmeEab("client", { mount, ttl })
    }
    const created = { acme: "create", client: "create" }
    const same = { acme: "same", client: "same" }
    expect((await stack.up(declared("24h"))).operations).toEqual(created)
    expect(await settings.acme()).toMatchObject({ enabled: true, eabPolicy: "always-required" })
    const [binding] = await engine.acme("pki").eab.list()
    expect(binding).toMatchObject({ acmeDirectory: "acme/directory" })

    // A client that uses the binding removes it from the list.
    await engine.acme("pki").eab.delete(binding?.id ?? "")
    await stack.refresh()
    expect((await stack.up(declared("1d"))).operations).toEqual(same)
    expect((await stack.up(declared("48h"))).operations).toEqual({ acme: "same", client: "replace" })
    const [next] = await engine.acme("pki").eab.list()
    const state = await stack.state()
    expect(state).toContain(next?.id)
    // Pulumi's marker for encrypted values.
    expect(state).toMatch(/"key": ?\{\s*"4dabf18193072939515e22adb298388d"/)

    await stack.destroy()
    expect(await engine.acme("pki").eab.list()).toEqual([])
    expect(await settings.acme()).toEqual(defaultAcmeSettings)
  })
})
