// Certificates from apply to Ready, relative to clients that only make the same writes on the same API server.
import { generateKeyPairSync } from "node:crypto"
import { report, target } from "../figures.ts"
import { inParallel } from "../../e2e/operator/raw-api.ts"
import { certificateObject, clientCount, issuerObject, objectCount, openFixture, total, writesOf } from "./fixture.ts"

await using fixture = await openFixture()
const { api } = fixture

for (const namespace of ["operated", "raw"]) await fixture.makeNamespace(namespace)
await using operator = await fixture.startOperator("one")
await fixture.make("issuers", [issuerObject("operated")])
await fixture.allReady("issuers", "operated", 1, performance.now())

const cpuSeconds = () => operator.metric("process_cpu_seconds_total")
const cpuBefore = await cpuSeconds()
const before = await writesOf(operator)
const begunAt = performance.now()
await fixture.make(
  "certificates",
  Array.from({ length: objectCount }, (_, index) => certificateObject("operated", index)),
)
const madeMs = performance.now() - begunAt
const tookMs = await fixture.allReady("certificates", "operated", objectCount, begunAt)
const cpuMs = ((await cpuSeconds()) - cpuBefore) * 1_000
const after = await writesOf(operator)
const writes = Object.fromEntries(
  Object.entries(after).map(([method, count]) => [method, count - (before[method] ?? 0)]),
)
const memory = (await operator.metric("process_resident_memory_bytes")) / 1024 / 1024
await operator.end()

// Creates the same objects as the administrator does, then repeats the operator's writes for each.
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" })
const pem = Buffer.from(privateKey.export({ type: "pkcs8", format: "pem" }))
const data = { "tls.key": pem.toString("base64"), "tls.crt": Buffer.alloc(1_500, 65).toString("base64") }
const per = (method: string) => Math.round((writes[method] ?? 0) / objectCount)
const rawAt = performance.now()
await inParallel(
  Array.from({ length: objectCount }, (_, index) => certificateObject("raw", index)),
  clientCount,
  async (object) => {
    const { name, namespace } = object.metadata
    const certificates = `/apis/chancery.dev/v1alpha1/namespaces/${namespace}/certificates/${name}`
    await api.apply(certificates, { apiVersion: "chancery.dev/v1alpha1", ...object })
    const secret = (one: string) => ({
      path: `/api/v1/namespaces/${namespace}/secrets/${one}`,
      object: { apiVersion: "v1", kind: "Secret", metadata: { name: one, namespace }, data },
    })
    // One of the patches is the status, the others are Secrets; the deleted objects were among them.
    for (let patch = 1; patch < per("PATCH"); patch += 1) {
      const { path, object: made } = secret(`${name}-${patch}`)
      await api.apply(path, made)
    }
    for (let post = 0; post < per("POST"); post += 1)
      await api.send("POST", `/apis/events.k8s.io/v1/namespaces/${namespace}/events`, eventOf(name, namespace, post))
    for (let gone = 1; gone <= per("DELETE"); gone += 1) await api.send("DELETE", secret(`${name}-${gone}`).path)
    await api.apply(`${certificates}/status`, {
      apiVersion: "chancery.dev/v1alpha1",
      kind: "Certificate",
      metadata: { name, namespace },
      status: statusOf(),
    })
  },
)
const rawMs = performance.now() - rawAt

report(`${objectCount} Certificates applied by ${clientCount} clients after`, madeMs / 1_000, "s")
report("all of them Ready after", tookMs / 1_000, "s")
report("  a second", (objectCount / tookMs) * 1_000, "certificates")
report("  by as many writes of raw clients, a second", (objectCount / rawMs) * 1_000, "certificates")
report("  CPU of the operator for each", cpuMs / objectCount, "ms")
report("  memory of the operator", memory, "MiB")
report("  PATCH, POST, DELETE for each", per("PATCH"), `, ${per("POST")}, ${per("DELETE")}`)
report("rate / raw", rawMs / tookMs, "")
target("writes for each", total(writes) / objectCount, { atMost: 5 })

function eventOf(name: string, namespace: string, index: number) {
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: `${name}.${index}`, namespace },
    eventTime: "2026-01-01T00:00:00.000000Z",
    reportingController: "chancery.dev/raw",
    reportingInstance: "raw",
    action: "Reconcile",
    type: "Normal",
    reason: "Issued",
    note: "The Secret contains the certificate.",
    regarding: { apiVersion: "chancery.dev/v1alpha1", kind: "Certificate", name, namespace },
  }
}

function statusOf() {
  const condition = {
    status: "True",
    reason: "Issued",
    message: "The Secret contains the certificate.",
    observedGeneration: 1,
  }
  return {
    observedGeneration: 1,
    serialNumber: "00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff:00:11:22:33",
    notBefore: "2026-01-01T00:00:00Z",
    notAfter: "2026-02-01T00:00:00Z",
    renewalTime: "2026-01-20T00:00:00Z",
    revision: 1,
    conditions: [{ type: "Ready", lastTransitionTime: "2026-01-01T00:00:00Z", ...condition }],
  }
}
