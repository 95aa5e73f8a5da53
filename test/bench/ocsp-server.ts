// The server of the OCSP bench: the real front and app with an audit log. On the same front, a second handler reads the same request and
// returns as many bytes. Requests are passed to the bench as text with one byte per character.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemRuntime } from "../../engine/src/core/runtime.ts"
import { openEmbedded } from "../../engine/src/embedded.ts"
import { createApp } from "../../engine/src/server/app.ts"
import { boundedBytes } from "../../engine/src/server/http/body.ts"
import { respond } from "../../engine/src/server/http/message.ts"
import { serveApp } from "../../engine/src/server/server.ts"
import { createMetrics } from "../../engine/src/telemetry/metrics.ts"
import { ocspQuestion } from "../../engine/testing/ocsp-question.ts"
import { serialNumberOctets } from "../../engine/src/x509/serial-number.ts"

const certificates = 50

const folder = mkdtempSync(join(tmpdir(), "chancery-bench-"))
const runtime = systemRuntime()
const engine = await openEmbedded(`sqlite:${join(folder, "chancery.db")}`, {
  runtime,
  metrics: createMetrics(),
  auditLog: { target: { kind: "file", path: join(folder, "audit.log") } },
})
const app = createApp({ engine, runtime })

const requests: Record<string, { posted: string[]; got: string[]; fresh: string[] }> = {}
for (const keyType of ["ec", "rsa"]) {
  await engine.mounts.create({ path: keyType })
  const { issuers, roles, certificates: issued } = engine.pki(keyType)
  const { certificate } = await issuers.generateRoot({ commonName: "Bench Root", keyType })
  await roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000 })
  const post = (der: Uint8Array): string =>
    [
      `POST /v1/${keyType}/ocsp HTTP/1.1`,
      "Host: 127.0.0.1",
      "Content-Type: application/ocsp-request",
      `Content-Length: ${der.length}`,
      "",
      Buffer.from(der).toString("latin1"),
    ].join("\r\n")
  const get = (der: Uint8Array): string => {
    const base64 = encodeURIComponent(Buffer.from(der).toString("base64"))
    return `GET /v1/${keyType}/ocsp/${base64} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
  }
  const sets = { posted: [] as string[], got: [] as string[], fresh: [] as string[] }
  for (let index = 0; index < certificates; index += 1) {
    const { serialNumber } = await issued.issue("any", { commonName: `www-${index}.example.com` })
    const question = { digest: "sha1", issuer: certificate, serialNumber: serialNumberOctets(serialNumber) } as const
    sets.posted.push(post(ocspQuestion(question)))
    sets.got.push(get(ocspQuestion(question)))
    // An answer to a request with a nonce is not cached.
    sets.fresh.push(post(ocspQuestion({ ...question, nonce: runtime.random.bytes(16) })))
  }
  requests[keyType] = sets
}

async function answered(keyType: string, request = ""): Promise<Uint8Array<ArrayBuffer>> {
  const body = Buffer.from(request.slice(request.indexOf("\r\n\r\n") + 4), "latin1")
  const answer = await app.fetch(new Request(`http://127.0.0.1/v1/${keyType}/ocsp`, { method: "POST", body }), {
    requestId: "bench",
    route: undefined,
  })
  const der = new Uint8Array(await answer.arrayBuffer())
  // The status is always 200.
  if (der.length < 100) throw new Error(`there is no answer, but ${Buffer.from(der).toString("hex")}`)
  return der
}

for (const [keyType, { posted, fresh }] of Object.entries(requests))
  for (const request of [...posted, ...fresh]) await answered(keyType, request)
const constant = await answered("ec", requests["ec"]?.posted[0])
const headers = { "content-type": "application/ocsp-response" }

const server = await serveApp(
  {
    async handle(request, exchange) {
      if (!request.url.includes("/empty")) return app.handle(request, exchange)
      if (request.method === "POST") await boundedBytes(request, 100_000)
      return respond(constant, { headers })
    },
  },
  { runtime, ready: () => engine.ready() },
)

process.on("disconnect", () => {
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
})
process.send?.({ port: Number(new URL(server.url).port), requests, bytes: constant.length })
