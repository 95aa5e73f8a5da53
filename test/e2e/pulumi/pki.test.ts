// A short scenario of a mount with a role, with the real Pulumi engine; test/long has the full scenarios.
import { interpolate } from "@pulumi/pulumi"
import { AcmeConfig, AcmeEab, EstConfig, PkiMount, PkiRole } from "@chancery/pulumi"
import { beforeAll, describe, expect, test } from "vitest"
import { defaultAcmeSettings } from "../../../engine/src/pki/mounts/acme-settings.ts"
import { defaultEstSettings } from "../../../engine/src/pki/est/est-settings.ts"
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

  test("EST is enabled with its mount, turned on again, and disabled at the end", { timeout: 300_000 }, async () => {
    await using stack = await openStack(pulumi ?? "", mode)
    const { engine } = stack
    await engine.authMethods.enable({ path: "devices", type: "userpass" })
    const { accessor } = await engine.authMethods.get("devices")
    await engine.mounts.create({ path: "kept" })
    const declared =
      (labels: readonly string[], mount = "devices") =>
      async () => {
        const { path } = new PkiMount("devices", { delegatedAuthAccessors: [accessor] })
        const { name } = new PkiRole("printers", { mount: path, requireCn: false })
        const policy = interpolate`role:${name}`
        new EstConfig("est", {
          mount: mount === "devices" ? path : mount,
          enabled: true,
          ...(mount === "devices"
            ? {
                defaultMount: true,
                defaultPathPolicy: policy,
                labelToPathPolicy: Object.fromEntries(labels.map((label) => [label, policy])),
                authenticators: { userpass: { accessor } },
              }
            : {}),
        })
      }
    const created = { devices: "create", printers: "create", est: "create" }
    const same = { devices: "same", printers: "same", est: "same" }
    expect((await stack.up(declared(["printers"]))).operations).toEqual(created)
    const { settings } = engine.pki("devices")
    const inForce = {
      enabled: true,
      defaultMount: true,
      labelToPathPolicy: { printers: "role:printers" },
      authenticators: { userpass: { accessor }, cert: { accessor: "", role: "" } },
    }
    expect(await settings.est()).toMatchObject(inForce)
    await stack.refresh()
    expect((await stack.up(declared(["printers"]))).operations).toEqual(same)

    // Another client turns EST off, and the mount no longer allows the auth method.
    await settings.changeEst({ enabled: false })
    await engine.mounts.tune("devices", { config: { delegatedAuthAccessors: [] } })
    await stack.refresh()
    const mended = { devices: "update", printers: "same", est: "update" }
    expect((await stack.up(declared(["printers"]))).operations).toEqual(mended)
    expect(await settings.est()).toMatchObject(inForce)
    expect((await stack.up(declared([]))).operations).toEqual({ ...same, est: "update" })
    expect(await settings.est()).toMatchObject({ labelToPathPolicy: {} })

    // Another mount means other settings; those of the first are reset.
    expect((await stack.up(declared([], "kept"))).operations).toEqual({ ...same, est: "replace" })
    expect(await settings.est()).toMatchObject({ enabled: false, defaultMount: false, defaultPathPolicy: "" })
    expect(await engine.pki("kept").settings.est()).toMatchObject({ enabled: true })
    await stack.destroy()
    expect(await engine.pki("kept").settings.est()).toMatchObject({
      ...defaultEstSettings,
      lastUpdated: expect.anything(),
    })
    expect((await engine.mounts.list()).map(({ path }) => path)).toEqual(["kept"])
  })
})
