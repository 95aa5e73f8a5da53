// Declared EST settings of a mount.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openTestEngine, type TestEngine } from "../../testing/test-engine.ts"
import type { Fault } from "../core/errors.ts"
import { defaultEstSettings } from "../pki/est/est-settings.ts"
import { mountSettingsParts } from "./pki-mount-settings.ts"
import {
  type ObservedPkiEstConfig,
  observedPkiEstConfig,
  pkiEstConfigResource,
  type PkiEstConfigSpec,
} from "./pki-est-config.ts"

const pathsOf = (faults: readonly Fault[]) => faults.map(({ field }) => field?.join("."))
const origin = { marker: "m", adopt: false }
const known = { before: {}, now: 0 }

let world: TestEngine
let accessors: { readonly userpass: string; readonly cert: string }
beforeAll(async () => {
  world = await openTestEngine()
  const { engine } = world
  for (const type of ["userpass", "cert"] as const) await engine.authMethods.enable({ path: `est-${type}`, type })
  const accessorOf = async (type: string) => (await engine.authMethods.get(`est-${type}`)).accessor
  accessors = { userpass: await accessorOf("userpass"), cert: await accessorOf("cert") }
  await engine.mounts.create({ path: "pki", config: { delegatedAuthAccessors: Object.values(accessors) } })
  await engine.pki("pki").roles.save("web", { keyType: "any" })
})
afterAll(() => world[Symbol.asyncDispose]())

test.each<{ spec: object; at: string; why: string }>([
  { spec: { mount: "a b" }, at: "mount", why: "a mount with a space" },
  { spec: { enabled: "yes" }, at: "enabled", why: "yes in words" },
  { spec: { defaultMount: true }, at: "defaultPathPolicy", why: "a default mount without a policy" },
  { spec: { defaultPathPolicy: "forbid" }, at: "defaultPathPolicy", why: "a policy of ACME only" },
  { spec: { labelToPathPolicy: { printers: "web" } }, at: "labelToPathPolicy", why: "a label with an unknown policy" },
  { spec: { labelToPathPolicy: { "a/b": "role:web" } }, at: "labelToPathPolicy", why: "a label with a slash" },
  { spec: { labelToPathPolicy: { cacerts: "role:web" } }, at: "labelToPathPolicy", why: "an operation as a label" },
  { spec: { labelToPathPolicy: { a: 1 } }, at: "labelToPathPolicy.a", why: "a policy that is a number" },
  { spec: { authenticators: "userpass" }, at: "authenticators", why: "authenticators that are no object" },
  { spec: { authenticators: { userpass: {} } }, at: "authenticators.userpass.accessor", why: "no accessor" },
  {
    spec: { authenticators: { cert: { accessor: "" } } },
    at: "authenticators.cert.accessor",
    why: "a blank accessor",
  },
  {
    spec: { authenticators: { cert: { accessor: "a", cert_role: "x" } } },
    at: "authenticators.cert.cert_role",
    why: "the API's word for a member",
  },
  { spec: { authenticators: { ldap: { accessor: "a" } } }, at: "authenticators.ldap", why: "unknown credentials" },
  { spec: { auditFields: ["password"] }, at: "auditFields.0", why: "an unknown field" },
  { spec: { manualApproval: ["web"] }, at: "manualApproval", why: "an approval of no policy" },
  { spec: { default_mount: true }, at: "default_mount", why: "the API's word for a setting" },
])("estConfig is rejected with $why", ({ spec, at }) => {
  expect(pathsOf(pkiEstConfigResource.validate({ mount: "pki", ...spec }))).toEqual([at])
})

test.each<{ spec: object; open: readonly string[] }>([
  { spec: { mount: "pki" }, open: [] },
  { spec: { mount: "pki", enabled: true, defaultPathPolicy: "role:not-there-yet", defaultMount: true }, open: [] },
  { spec: { mount: "pki", defaultMount: true }, open: ["defaultPathPolicy"] },
  { spec: { mount: "pki", authenticators: { userpass: { accessor: "known later" } }, auditFields: [] }, open: [] },
  { spec: { mount: "pki", labelToPathPolicy: {}, authenticators: {}, manualApproval: ["*"] }, open: [] },
])("estConfig is accepted as $spec while $open is unknown", ({ spec, open }) => {
  expect(pkiEstConfigResource.validate({ ...spec }, new Set(open))).toEqual([])
})

test("estConfig is rejected with property names", () => {
  const details = (spec: object) => pkiEstConfigResource.validate({ mount: "pki", ...spec }).map(({ detail }) => detail)
  expect(details({ defaultMount: true })).toEqual(["defaultPathPolicy is required if defaultMount is true"])
  expect(details({ labelToPathPolicy: { printers: "web" } })[0]).toMatch(
    /^labelToPathPolicy has the label "printers": must be "sign-verbatim", "role:<name>"/,
  )
})

const observed = observedPkiEstConfig("pki", {
  ...defaultEstSettings,
  enabled: true,
  labelToPathPolicy: { a: "role:web", b: "sign-verbatim" },
  authenticators: { userpass: { accessor: "" }, cert: { accessor: "auth_cert_1", role: "" } },
  auditFields: ["csr", "common_name"],
  lastUpdated: Date.parse("2030-01-01T00:00:00Z"),
})

test("estConfig shows settings without the time of the last change, and authenticators that are set", () => {
  expect(observed).toEqual({
    mount: "pki",
    enabled: true,
    defaultMount: false,
    defaultPathPolicy: "",
    labelToPathPolicy: { a: "role:web", b: "sign-verbatim" },
    authenticators: { cert: { accessor: "auth_cert_1" } },
    enableSentinelParsing: false,
    auditFields: ["csr", "common_name"],
    manualApproval: [],
  } satisfies ObservedPkiEstConfig)
})

test.each<{ spec: Partial<PkiEstConfigSpec>; dropped?: string[]; changed: string[]; replaced?: string[] }>([
  { spec: {}, changed: [] },
  {
    spec: {
      mount: "pki/",
      labelToPathPolicy: { b: "sign-verbatim", a: "role:web" },
      auditFields: ["common_name", "csr"],
    },
    changed: [],
  },
  { spec: { authenticators: { cert: { accessor: "auth_cert_1", certRole: "" }, userpass: undefined } }, changed: [] },
  { spec: { authenticators: { cert: { accessor: "auth_cert_1", certRole: "x" } } }, changed: ["authenticators"] },
  { spec: { authenticators: {} }, changed: ["authenticators"] },
  { spec: { labelToPathPolicy: { a: "role:web" } }, changed: ["labelToPathPolicy"] },
  { spec: { enabled: false }, changed: ["enabled"] },
  {
    spec: {},
    dropped: ["authenticators", "manualApproval", "labelToPathPolicy"],
    changed: ["authenticators", "labelToPathPolicy"],
  },
  { spec: { mount: "other" }, changed: ["mount"], replaced: ["mount"] },
])(
  "estConfig with $spec, and without $dropped, differs in $changed",
  ({ spec, dropped = [], changed, replaced = [] }) => {
    const found = pkiEstConfigResource.diff({ mount: "pki", ...spec }, observed, dropped)
    expect([found.changed.toSorted(), found.mustReplace]).toEqual([changed.toSorted(), replaced])
  },
)

describe("estConfig in an engine", () => {
  test("is updated by member, reset when removed, and disabled at deletion", async () => {
    const { engine } = world
    const { settings } = engine.pki("pki")
    const spec: PkiEstConfigSpec = {
      mount: "pki",
      enabled: true,
      defaultMount: true,
      defaultPathPolicy: "role:web",
      labelToPathPolicy: { printers: "role:web" },
      authenticators: {
        userpass: { accessor: accessors.userpass },
        cert: { accessor: accessors.cert, certRole: "printers" },
      },
    }
    const { id, observed: made } = await pkiEstConfigResource.create(engine, spec, origin)
    expect([id, made]).toMatchObject(["pki/config/est", spec])
    expect((await settings.est()).authenticators).toEqual({
      userpass: { accessor: accessors.userpass },
      cert: { accessor: accessors.cert, role: "printers" },
    })

    await settings.changeEst({ enabled: false, auditFields: ["csr"] })
    const drifted = await pkiEstConfigResource.observe(engine, id, spec, known)
    expect(pkiEstConfigResource.diff(spec, drifted ?? made).changed).toEqual(["enabled"])
    const reverted = await pkiEstConfigResource.update(engine, id, spec, drifted ?? made)
    expect(reverted).toMatchObject({ enabled: true, auditFields: ["csr"] })

    const { labelToPathPolicy: _labels, ...fewer } = spec
    const withOne = { ...fewer, authenticators: { userpass: { accessor: accessors.userpass } } }
    const updated = await pkiEstConfigResource.update(engine, id, withOne, reverted, ["labelToPathPolicy"])
    expect(updated).toMatchObject({ labelToPathPolicy: {}, defaultMount: true, auditFields: ["csr"] })
    expect(updated.authenticators).toEqual({ userpass: { accessor: accessors.userpass } })

    await pkiEstConfigResource.delete(engine, id, withOne, "safe", known)
    expect(await settings.est()).toEqual({
      ...defaultEstSettings,
      auditFields: ["csr"],
      lastUpdated: expect.any(Number) as number,
    })
  })

  test("is deleted when another client made the mount the default one", async () => {
    const { engine } = world
    const { settings } = engine.pki("pki")
    const spec = { mount: "pki", defaultPathPolicy: "sign-verbatim" }
    const { id } = await pkiEstConfigResource.create(engine, spec, origin)
    await settings.changeEst({ enabled: true, defaultMount: true })
    await pkiEstConfigResource.delete(engine, id, spec, "safe", known)
    expect(await settings.est()).toMatchObject({ enabled: false, defaultMount: false, defaultPathPolicy: "" })
  })

  test("is absent without a mount, and rejected with property names if the mount does not allow the accessor", async () => {
    const { engine } = world
    expect(await pkiEstConfigResource.observe(engine, "none/config/est", {}, known)).toBeUndefined()
    await pkiEstConfigResource.delete(engine, "none/config/est", {}, "safe", known)
    expect(() => pkiEstConfigResource.observe(engine, "pki", {}, known)).toThrow("MOUNT/config/est")
    await engine.mounts.create({ path: "bare" })
    const authenticators = { userpass: { accessor: accessors.userpass } }
    const refused = pkiEstConfigResource.create(engine, { mount: "bare", enabled: true, authenticators }, origin)
    await expect(refused).rejects.toMatchObject({
      code: "invalid",
      faults: [
        {
          field: ["authenticators"],
          detail: `authenticators userpass: the mount does not allow the accessor; add ${accessors.userpass} to delegatedAuthAccessors of bare`,
        },
      ],
    })
    expect(await engine.pki("bare").settings.est()).toEqual(defaultEstSettings)
  })

  test("is compared and changed as a part of a manifest", async () => {
    const { engine } = world
    const { est } = mountSettingsParts
    const wanted = {
      enabled: true,
      labelToPathPolicy: { parts: "role:web" },
      authenticators: { cert: { accessor: accessors.cert } },
    }
    const before = await est.observe(engine, "pki")
    expect(est.diff(wanted, before).toSorted()).toEqual(["authenticators", "enabled", "labelToPathPolicy"])
    await est.save(engine, "pki", wanted)
    const after = await est.observe(engine, "pki")
    expect([after, est.diff(wanted, after)]).toEqual([expect.objectContaining(wanted), []])
    const refused = est.save(engine, "pki", { labelToPathPolicy: { parts: "role:none" } })
    await expect(refused).rejects.toMatchObject({ faults: [{ field: ["labelToPathPolicy"] }] })
    await engine.pki("pki").settings.changeEst(defaultEstSettings)
  })
})
