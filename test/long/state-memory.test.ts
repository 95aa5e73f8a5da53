// One state of 256 MB is uploaded, downloaded, parsed and rolled back to, while the server's memory stays small: the memory it starts with,
// the young generation of V8 as far as it grows under load, and a few chunks.
import { createHash } from "node:crypto"
import { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { request } from "undici"
import { expect, test } from "vitest"
import { defaultSharedKind } from "../../engine/testing/temporary-database.ts"
import { openCrashStore } from "./crash-store.ts"
import { CrashingServer } from "./crashing-server.ts"
import { largeState } from "./large-states.ts"

const megabytes = process.env["CHANCERY_SHORT"] === "1" ? 64 : 256
/**
 * Limit for a state of any size. The peak is 280 to 290 MiB with either database. The contracts of all endpoints and zod, which load at the
 * start, are 25 MiB of it.
 */
const memoryMaximumMiB = 300

test(`a state of ${megabytes} MB passes through a server in ${memoryMaximumMiB} MiB of memory`, async () => {
  await using store = await openCrashStore(defaultSharedKind)
  const server = await CrashingServer.prepare(store)
  try {
    const token = await server.rootToken()
    await server.start()
    const send = async (method: "GET" | "POST" | "PATCH", path: string, document?: object) => {
      const { statusCode, body } = await request(`${server.url}/api/v2${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/vnd.api+json" },
        ...(document === undefined ? {} : { body: JSON.stringify({ data: document }) }),
      })
      const text = await body.text()
      expect([method, path, statusCode, statusCode < 300 ? "" : text]).toEqual([
        method,
        path,
        expect.toBeOneOf([200, 201, 204]),
        "",
      ])
      return text === "" ? undefined : JSON.parse(text).data
    }
    const workspace = await send("POST", "/organizations/default/workspaces", {
      type: "workspaces",
      attributes: { name: "large" },
    })
    const path = `/workspaces/${workspace.id}`
    await send("POST", `${path}/actions/lock`)
    const before = server.peakMemoryMiB()
    const state = largeState({ serial: 1, lineage: "large", atLeastBytes: megabytes * 1_000_000, seed: 1 })
    const { serial, lineage, md5 } = state
    const version = await send("POST", `${path}/state-versions`, {
      type: "state-versions",
      attributes: { serial, lineage, md5 },
    })
    const uploading = performance.now()
    const upload = await request(version.attributes["hosted-state-upload-url"], {
      method: "PUT",
      headers: { "content-type": "application/octet-stream", "content-length": String(state.bytes) },
      body: Readable.from(state.pieces()),
    })
    expect([upload.statusCode, await upload.body.text()]).toEqual([204, ""])
    const uploadSeconds = (performance.now() - uploading) / 1_000

    const shown = () => send("GET", `/state-versions/${version.id}`)
    const address = (await shown()).attributes["hosted-state-download-url"]
    const downloading = performance.now()
    const download = await request(address)
    const hash = createHash("md5")
    for await (const piece of download.body) hash.update(piece)
    expect(hash.digest("hex")).toBe(md5)
    const downloadSeconds = (performance.now() - downloading) / 1_000

    for (let attempt = 0; !(await shown()).attributes["resources-processed"]; attempt += 1) {
      expect(attempt).toBeLessThan(3_000)
      await sleep(100)
    }
    const { attributes } = await send("GET", path)
    expect(attributes["resource-count"]).toBe(state.resourceCount)
    const back = await send("PATCH", `${path}/state-versions`, {
      type: "state-versions",
      relationships: { "rollback-state-version": { data: { type: "state-versions", id: version.id } } },
    })
    expect(back.attributes).toMatchObject({ status: "finalized", serial: 2, size: state.bytes })
    const peak = server.peakMemoryMiB()
    console.log(
      `${Math.round(state.bytes / 1e6)} MB up in ${uploadSeconds.toFixed(1)} s and down in ${downloadSeconds.toFixed(1)} s; ` +
        `memory ${Math.round(before)} MiB before, ${Math.round(peak)} MiB at most`,
    )
    expect(peak).toBeLessThan(memoryMaximumMiB)
  } finally {
    await server.kill()
  }
}, 900_000)
