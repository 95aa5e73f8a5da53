// A mount that serves ACME, and a web server that answers its http-01 challenges.
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { TestEngine } from "./test-engine.ts"

/** Cluster path of the mount. */
export const acmeCluster = "https://chancery.test/v1/pki"

export async function newAcmeMount(testEngine: TestEngine, settings: object = {}, role: object = {}): Promise<void> {
  const done = async (method: string, path: string, body: object) => {
    const answer = await testEngine.pki(method, path, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  }
  await done("POST", "/sys/mounts/pki", {
    type: "pki",
    config: { max_lease_ttl: "87600h", allowed_response_headers: ["Location", "Replay-Nonce", "Link"] },
  })
  await done("POST", "/pki/root/generate/internal", {
    common_name: "Root",
    key_type: "ec",
    ttl: "87600h",
    issuer_name: "root",
  })
  await done("POST", "/pki/config/cluster", { path: acmeCluster })
  await done("POST", "/pki/roles/web", {
    allowed_domains: ["example.com", "localhost"],
    allow_bare_domains: true,
    allow_subdomains: true,
    key_type: "any",
    require_cn: false,
    ...role,
  })
  await done("POST", "/pki/config/acme", { enabled: true, ...settings })
}

export interface ChallengeServer extends AsyncDisposable {
  readonly port: number
  /** Key authorizations by token. */
  readonly answers: Map<string, string>
  /** Requested paths. */
  readonly asked: string[]
}

/** Listens on a free port of the loopback interface. */
export async function openChallengeServer(): Promise<ChallengeServer> {
  const answers = new Map<string, string>()
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ""
    asked.push(path)
    const found = answers.get(path.replace("/.well-known/acme-challenge/", ""))
    response.statusCode = found === undefined ? 404 : 200
    response.end(found ?? "nothing here")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    port: (server.address() as AddressInfo).port,
    answers,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
