// Requests of cert-manager and of kubelets, from creation to their certificate.
import { setTimeout as sleep } from "node:timers/promises"
import { signedRequest, subjectAltName, writePem } from "../../../engine/src/x509/index.ts"
import { keysOfThisProcess } from "../../../operator/src/controllers/certificate/keys.ts"
import { installCertManagerDefinitions } from "../../e2e/operator/cert-manager-program.ts"
import { inParallel } from "../../e2e/operator/raw-api.ts"
import { report, target } from "../figures.ts"
import { clientCount, issuerObject, openFixture, total, writesOf } from "./fixture.ts"

/** A smaller share suffices to check that the bench works. */
const share = Number(process.env["CHANCERY_BENCH_COUNT"] ?? 10_000) / 10_000
const certManagerCount = Math.ceil(1_000 * share)
const podCount = Math.ceil(5_000 * share)
const namespace = "requests"
const withinMs = 1_800_000

interface Requested {
  readonly metadata: { readonly name: string }
  readonly status?: { readonly certificate?: string; readonly certificateChain?: string }
}

await using fixture = await openFixture({ signs: true })
const { api, cluster, engine } = fixture
await installCertManagerDefinitions(cluster)
await fixture.makeNamespace(namespace)
await engine.pki("POST", "/pki/roles/pods", {
  use_csr_sans: false,
  use_csr_common_name: false,
  require_cn: false,
  allowed_uri_sans: "spiffe://cluster.local/*",
  key_type: "ec",
  ttl: "24h",
})
await using operator = await fixture.startOperator("one", "--answer=cert-manager,pods", "--trust-bundles")
const { spec } = issuerObject(namespace)
const pods = { ...(spec as object), defaultRole: "pods", podCertificates: { trustDomain: "cluster.local" } }
await fixture.make("issuers", [
  issuerObject(namespace),
  { kind: "Issuer", metadata: { name: "pods", namespace }, spec: pods },
])
await fixture.allReady("issuers", namespace, 2, performance.now())

// One key for all requests, since only the operator and the engine are measured.
const key = await keysOfThisProcess.generate({ type: "ec", bits: 256 })
const extensions = [subjectAltName([{ kind: "dns", value: "www.example.com" }], { critical: false })]
const csr = Buffer.from(writePem("CERTIFICATE REQUEST", await signedRequest(key, { subject: [], extensions })))
const stub = Buffer.from(await signedRequest(key, { subject: [], extensions: [] }))

const requestsPath = `/apis/cert-manager.io/v1/namespaces/${namespace}/certificaterequests`
await measure("CertificateRequests", certManagerCount, requestsPath, async (name) => {
  const own = { apiVersion: "cert-manager.io/v1", kind: "CertificateRequest", metadata: { name, namespace } }
  const issuerRef = { group: "chancery.dev", kind: "Issuer", name: "pki" }
  const usages = ["digital signature", "key encipherment"]
  await api.send("POST", requestsPath, { ...own, spec: { request: csr.toString("base64"), issuerRef, usages } })
  const approved = { type: "Approved", status: "True", reason: "Bench", message: "" }
  await api.apply(`${requestsPath}/${name}/status`, { ...own, status: { conditions: [approved] } })
})

const podsPath = `/apis/certificates.k8s.io/v1beta1/namespaces/${namespace}/podcertificaterequests`
const uid = "00000000-0000-4000-8000-000000000000"
await measure("PodCertificateRequests", podCount, podsPath, async (name) => {
  await api.send("POST", podsPath, {
    apiVersion: "certificates.k8s.io/v1beta1",
    kind: "PodCertificateRequest",
    metadata: { name, namespace },
    spec: {
      signerName: `chancery.dev/${namespace}.pods`,
      podName: name,
      podUID: uid,
      serviceAccountName: "default",
      serviceAccountUID: uid,
      nodeName: "node",
      nodeUID: uid,
      stubPKCS10Request: stub.toString("base64"),
    },
  })
})
report("memory of the operator", (await operator.metric("process_resident_memory_bytes")) / 1024 / 1024, "MiB")
await operator.end()

async function measure(
  kind: string,
  count: number,
  path: string,
  create: (name: string) => Promise<unknown>,
): Promise<void> {
  const cpuBefore = await operator.metric("process_cpu_seconds_total")
  const before = total(await writesOf(operator))
  const begunAt = performance.now()
  const names = Array.from({ length: count }, (_, index) => `r${index}`)
  const creating = inParallel(names, clientCount, create)
  const tookMs = await allIssued(path, count, begunAt)
  await creating
  const cpuMs = ((await operator.metric("process_cpu_seconds_total")) - cpuBefore) * 1_000
  const writes = (total(await writesOf(operator)) - before) / count
  report(`${count} ${kind} issued after`, tookMs / 1_000, "s")
  report("  a second", (count / tookMs) * 1_000, "certificates")
  report("  CPU of the operator for each", cpuMs / count, "ms")
  target(`writes for each of the ${kind}`, writes, { atMost: 1.1 })
}

async function allIssued(path: string, count: number, since: number): Promise<number> {
  const issued = new Set<string>()
  while (performance.now() - since < withinMs) {
    for await (const event of api.follow(`${path}?watch=true&resourceVersion=0`)) {
      const { type, object } = event as { readonly type: string; readonly object: Requested }
      if (type === "ERROR") break
      if (object.status?.certificate !== undefined || object.status?.certificateChain !== undefined)
        issued.add(object.metadata.name)
      if (issued.size >= count) return performance.now() - since
    }
    await sleep(500)
  }
  throw new Error(`only ${issued.size} of ${count} requests were answered`)
}
