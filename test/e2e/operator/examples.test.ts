// The examples in a cluster, with the commands of the README exactly as written.
import { execFile } from "node:child_process"
import { cp, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, test } from "vitest"
import { runOperator } from "../../../operator/src/operator.ts"
import { systemRuntime } from "../../../operator/src/runtime.ts"
import { serve, temporaryFolder } from "../../cli/chancery.ts"
import { shellBlocks } from "../../readme/shell-blocks.ts"
import { findKubernetes } from "../../toolchain/kubernetes.ts"
import { openCluster, sharedCluster } from "./cluster.ts"
import { startControlPlane } from "./control-plane.ts"

const scriptMs = 120_000

describe.skipIf(sharedCluster() === undefined)("the examples", () => {
  test("are applied, waited for, shown, explained and deleted, and retained objects stay in the engine", async () => {
    // A default operator reconciles all namespaces, including those of other tests, so this test starts a separate control plane.
    const programs = await findKubernetes()
    await using controlPlane = await startControlPlane(programs!)
    const { kubectl, environment, operatorAccess, installDefinitions } = openCluster(controlPlane)
    await installDefinitions()
    await using folder = await temporaryFolder()
    await using served = await serve(["dev", "--manifests", "off"], { folder: folder.path })
    const token = (await readFile(join(folder.path, ".chancery/root-token"), "utf8")).trim()
    await cp(new URL("../../../examples/manifests", import.meta.url), join(folder.path, "examples/manifests"), {
      recursive: true,
    })
    const connection = join(folder.path, "examples/manifests/connection.yaml")
    const text = await readFile(connection, "utf8")
    expect(text).toContain("https://chancery.example.com")
    await writeFile(connection, text.replace("https://chancery.example.com", served.url))

    const namespace = "examples"
    const config = await operatorAccess(namespace)
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "engine", namespace }, stringData: { token } }
    await kubectl(["apply", "-f", "-"], JSON.stringify(secret))
    const ending = new AbortController()
    const runtime = systemRuntime({ debug() {}, info() {}, warn() {}, error() {} })
    const listen = { host: "127.0.0.1", port: 0 }
    const running = runOperator({ config, namespace, identity: "one", runtime, listen }, ending.signal)
    try {
      const script = (await shellBlocks("Kubernetes")).join("\n")
      const options = { cwd: folder.path, env: { ...process.env, ...environment }, timeout: scriptMs }
      const { stdout } = await promisify(execFile)("sh", ["-e", "-c", script], options)
      for (const kind of [
        "certificate",
        "certificaterole",
        "clusterconnection",
        "issuer",
        "trustbundle",
        "workspace",
      ]) {
        expect(stdout).toMatch(new RegExp(`^${kind}\\.chancery\\.dev/\\S+ created$`, "m"))
        expect(stdout).toMatch(new RegExp(`^${kind}\\.chancery\\.dev/\\S+ condition met$`, "m"))
        expect(stdout).toMatch(new RegExp(`^${kind}\\.chancery\\.dev "\\S+" deleted`, "m"))
      }
      expect(stdout).toMatch(/^workspace\.chancery\.dev\/platform +ws-\w+ +True /m)
      expect(stdout).toMatch(/^certificate\.chancery\.dev\/web +web-tls +local +\S+ +True /m)
      expect(stdout).toContain("DNS:web.localhost")
      expect(stdout).toMatch(/^FIELD: privateKey <Object>$/m)
      const workspaces = `${served.url}/api/v2/organizations/default/workspaces/platform`
      expect((await fetch(workspaces, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
    } finally {
      ending.abort()
      await running
    }
  })
})
