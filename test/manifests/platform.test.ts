// The platform of `examples/platform` without a cluster: `chancery reconcile` creates it, and deletes what its policies say.
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { startServer } from "../../engine/src/server/server.ts"
import { openTestEngine } from "../../engine/testing/test-engine.ts"
import { builtChancery, run, temporaryFolder } from "../cli/chancery.ts"

const platform = new URL("../../examples/platform", import.meta.url)

test("a platform is created from its folder at once, stays as it is, and is deleted where its policies say so", async () => {
  await using testEngine = await openTestEngine({ jobs: false })
  const { engine } = testEngine
  await engine.organizations.create({ name: "default", email: "platform@example.com" })
  const server = await startServer({ engine })
  await using stopping = new AsyncDisposableStack()
  stopping.defer(() => void server.close())
  await using folder = await temporaryFolder()
  const manifests = join(folder.path, "manifests")
  await cp(platform, manifests, { recursive: true })
  const reconcile = () =>
    run(["reconcile", "manifests", "--data", "data", "--engine-url", server.url], {
      folder: folder.path,
      program: builtChancery,
      environment: { CHANCERY_TOKEN: testEngine.rootToken },
    })
  const first = await reconcile()
  expect(first).toMatchObject({ code: 0 })
  expect(first.out.match(/^\w+ +default\/\S+ +ready /gm)).toHaveLength(13)
  const issuers = async (path: string) => (await engine.pki(path).issuers.list()).map(({ id }) => id)
  const before = [await issuers("platform/root"), await issuers("platform/issuing")]
  expect(before.map(({ length }) => length)).toEqual([1, 2])
  expect(await engine.pki("platform/issuing").settings.est()).toMatchObject({ enabled: true })
  // Other clients change several parts of a mount. One run reverts them all.
  const { settings, crls } = engine.pki("platform/issuing")
  await settings.changeEst({ enabled: false })
  await settings.changeAcme({ enabled: false })
  await crls.configure({ autoRebuild: false })
  await engine.mounts.tune("platform/issuing", { description: "changed" })
  expect((await reconcile()).code).toBe(0)
  expect(await settings.est()).toMatchObject({ enabled: true })
  expect(await settings.acme()).toMatchObject({ enabled: true })
  expect(await crls.settings()).toMatchObject({ autoRebuild: true })
  expect((await engine.mounts.get("platform/issuing")).description).not.toBe("changed")
  expect([await issuers("platform/root"), await issuers("platform/issuing")]).toEqual(before)

  // The root and its mount are retained; the rest is deleted.
  const files = ["authorities.yaml", "mounts.yaml", "project.yaml"]
  for (const file of files) {
    const text = await readFile(join(manifests, file), "utf8")
    const documents = text.split("---\n")
    const changed = documents.map((one) =>
      one.includes("name: platform-root\n  n") ? one : `${one}  deletionPolicy: Delete\n`,
    )
    await writeFile(join(manifests, file), changed.join("---\n"))
  }
  expect(await reconcile()).toMatchObject({ code: 0 })
  for (const file of await readdir(manifests)) await rm(join(manifests, file))
  expect(await reconcile()).toMatchObject({ code: 0 })
  expect((await engine.mounts.list()).map(({ path }) => path)).toEqual(["platform/root"])
  expect(await issuers("platform/root")).toEqual(before[0])
  const page = { number: 1, size: 10 }
  expect((await engine.projects.list("default", {}, page)).items.map(({ name }) => name)).toEqual(["Default Project"])
  expect((await engine.workspaces.list("default", {}, page)).items).toEqual([])
})
