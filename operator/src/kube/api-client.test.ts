// Requests of the operator, sent to a server in this process.
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { KubeConfig } from "@kubernetes/client-node"
import { expect, onTestFinished, test } from "vitest"
import { ApiClient } from "./api-client.ts"
import { KubernetesCluster } from "./kubernetes-cluster.ts"
import { secrets } from "./kubernetes-object.ts"
import { ObjectStore } from "./object-store.ts"
import { systemRuntime } from "../runtime.ts"

const silent = { debug() {}, info() {}, warn() {}, error() {} }

async function serve(answer: (url: URL) => object) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://localhost")
    requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? ""}`)
    response.writeHead(200, { "content-type": "application/json" }).end(`${JSON.stringify(answer(url))}\n`)
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const config = new KubeConfig()
  config.loadFromOptions({
    clusters: [{ name: "test", server: `http://127.0.0.1:${port}`, skipTLSVerify: false }],
    users: [{ name: "somebody", token: "abc" }],
    contexts: [{ name: "test", cluster: "test", user: "somebody" }],
    currentContext: "test",
  })
  const runtime = systemRuntime(silent)
  const api = new ApiClient(config, runtime)
  onTestFinished(async () => {
    await api[Symbol.asyncDispose]()
    server.closeAllConnections()
    server.close()
  })
  return { api, runtime, requests }
}

test("[F-K10] a kubeconfig with http:// is used with its token", async () => {
  const { api, requests } = await serve(() => ({ metadata: { name: "tls", namespace: "team" } }))
  expect(await api.get(secrets, "team/tls")).toMatchObject({ metadata: { name: "tls" } })
  expect(requests).toEqual(["GET /api/v1/namespaces/team/secrets/tls Bearer abc"])
})

test("[F-K2] a dry run sends dryRun=All", async () => {
  const { api, requests } = await serve(() => ({ metadata: { name: "tls", namespace: "team" } }))
  await api.apply(secrets, { metadata: { name: "tls", namespace: "team" } }, "operator", { dryRun: true })
  expect(requests[0]).toMatch(/^PATCH .*dryRun=All/)
})

test("[F-K11] a streamed list rejected by an event with status 200 is replaced by pages", async () => {
  const { api, runtime } = await serve((url) =>
    url.searchParams.has("watch")
      ? {
          type: "ERROR",
          object: {
            kind: "Status",
            apiVersion: "v1",
            metadata: {},
            status: "Failure",
            message: "etcdserver",
            code: 500,
          },
        }
      : { metadata: { resourceVersion: "8" }, items: [{ metadata: { name: "tls", namespace: "team" } }] },
  )
  const store = new ObjectStore()
  const following = new KubernetesCluster({ api, runtime }).follow({ resource: secrets }, store, () => {})
  await following.whenSynced()
  expect([...store.keys()]).toEqual(["team/tls"])
  await following.stop()
})
