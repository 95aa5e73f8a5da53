// Tests every member of every kind through the process that Pulumi starts, with the packed provider: checked, compared, created, read,
// changed and removed.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openEmbedded } from "../../../engine/src/embedded.ts"
import { startServer } from "../../../engine/src/server/server.ts"
import type { KindName } from "../../../provider/src/lifecycle/kind-name.ts"
import { lifecycles } from "../../../provider/src/lifecycle/kinds.ts"
import { providerText } from "../../../provider/src/dynamic/pulumi-resource.ts"
import { type DynamicServer, startDynamicServer, type Values } from "./dynamic-server.ts"
import { type Samples, samplesOf } from "./every-member.ts"
import { checkMemberLifecycle } from "./member-lifecycle.ts"
import { installPackedProvider } from "./packed-provider.ts"
import { buildProvider, tokenOf } from "./stack.ts"

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
/** Invalid for every member. */
const nonsense = [{ nonsense: [true] }]

const kinds = Object.keys(lifecycles) as KindName[]
const members = kinds.flatMap((kind) => lifecycles[kind].members.map((member) => ({ kind, member })))

/** Outputs that the server returns at creation only, or that only the program knows. */
const returnedOnce: Readonly<Partial<Record<KindName, readonly string[]>>> = {
  acmeEab: ["key", "ttl"],
  pkiCertificate: ["privateKey", "privateKeyType"],
  userpassUser: ["password", "passwordHash"],
  tag: ["workspaceIds"],
  tagBindings: ["mode"],
  remoteStateConsumers: ["mode"],
  workspaceTags: ["mode"],
}

beforeAll(buildProvider)

describe.each([
  { mode: "embedded", edition: "self-hosted" },
  { mode: "remote", edition: "hosted" },
] as const)("with the $mode engine of the $edition edition", ({ mode, edition }) => {
  const opened = new AsyncDisposableStack()
  let server: DynamicServer
  let samples: Readonly<Record<KindName, Samples>>

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "chancery-members-"))
    opened.defer(() => rm(folder, { recursive: true, force: true }))
    const url = `sqlite:${join(folder, "engine.db")}`
    const engine = opened.use(await openEmbedded(url, { jobs: false, edition }))
    for (const name of ["acme", "globex"]) await engine.organizations.create({ name, email: `${name}@example.com` })
    samples = await samplesOf(engine)
    await installPackedProvider(folder)
    server = opened.use(
      await startDynamicServer(
        { CHANCERY_ORGANIZATION: "acme", ...(mode === "remote" ? await served(engine) : { CHANCERY_ENGINE_URL: url }) },
        folder,
      ),
    )
  })
  afterAll(() => opened.disposeAsync())

  async function served(engine: Awaited<ReturnType<typeof openEmbedded>>): Promise<Record<string, string>> {
    const { url, close } = await startServer({ engine })
    opened.defer(async () => void (await close()))
    return { CHANCERY_ENGINE_URL: url, CHANCERY_TOKEN: await tokenOf(engine) }
  }

  test.each(kinds)("%s has a sample for each of its members", (kind) => {
    expect(Object.keys(samples[kind].members).toSorted()).toEqual(lifecycles[kind].members.toSorted())
  })

  test.each(kinds)("[F-U6] %s is read by its id alone, as get does", async (kind) => {
    const { whole, edition: only = edition, lasts = false } = samples[kind]
    if (only !== edition) return
    const address = { __marker: "m", __provider: providerText(kind) }
    const declared = { ...whole, ...address }
    const { id, outs } = await server.create(declared)
    const read = await server.read(id, address)
    const { adopted: _adopted, ...found } = read?.outs ?? {}
    const shared = Object.keys(found).filter(
      (name) => !name.startsWith("__") && !(returnedOnce[kind] ?? []).includes(name),
    )
    expect(shared.length).toBeGreaterThan(1)
    for (const name of shared) expect({ [name]: found[name] }).toEqual({ [name]: outs[name] })
    if (!lasts) await server.delete(id, outs)
  })

  describe.each(members)("$member of $kind", ({ kind, member }) => {
    const address = providerText(kind)
    const inputs = (values: Values): Values => {
      const defined = Object.entries(values).filter(([, value]) => value !== undefined)
      return { ...Object.fromEntries(defined), __marker: "m", __provider: address }
    }

    test("is rejected when invalid, and not while it is unknown", async () => {
      const { whole, members } = samples[kind]
      const declared = { ...whole, ...members[member]?.beside }
      const { failures } = await server.check(inputs({ ...declared, [member]: nonsense }))
      expect(new Set(failures.map((property) => property.split(/[.[]/)[0]))).toEqual(new Set([member]))
      expect(await server.check(inputs({ ...declared, [member]: unknown }))).toMatchObject({ failures: [] })
    })

    test("is set, read back, and removed", async () => {
      const life = checkMemberLifecycle(server, { kind: samples[kind], member, edition, inputs })
      await expect(life).resolves.toBeUndefined()
    })
  })
})
