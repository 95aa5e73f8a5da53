// TrustBundles in a cluster, with the operator's own rights.
import { describe, expect, test } from "vitest"
import { writePem } from "../../../engine/src/x509/pem.ts"
import {
  actor,
  api,
  apply,
  cluster,
  dayMs,
  hourMs,
  programs,
  putForward,
  reasons,
  setUp,
  type Shown,
  testEngine,
  useCertificateFixture,
  writesAtRest,
} from "./certificates-fixture.ts"

const bundle = "trustbundles.chancery.dev"
const trustBundle = (name: string, spec: object) => ({ apiVersion: api, kind: "TrustBundle", metadata: { name }, spec })
const namespace = (name: string, labels: object = {}) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels },
})
const shown = async (name: string) => JSON.parse(await cluster.kubectl(["get", bundle, name, "-o", "json"])) as Shown
const count = (pem: string) => pem.split("BEGIN CERTIFICATE").length - 1

/** Returns the bundle in a namespace; empty if it has none. */
async function pemIn(name: string, configMap: string): Promise<string> {
  const found = await cluster.kubectl(["get", "configmap", configMap, "-n", name, "--ignore-not-found", "-o", "json"])
  return found === "" ? "" : ((JSON.parse(found) as Shown).data?.["ca.crt"] ?? "")
}

describe.skipIf(programs === undefined)("trust bundles in a cluster", () => {
  useCertificateFixture()

  test("follow namespaces and their labels, restore their ConfigMaps, and write nothing at rest", async () => {
    await setUp("tb-source")
    const target = { configMap: { name: "tb-ca" }, namespaceSelector: { matchLabels: { tb: "yes" } } }
    await apply(
      namespace("tb-a", { tb: "yes" }),
      namespace("tb-b"),
      trustBundle("follow", {
        sources: [{ issuerRef: { kind: "Issuer", namespace: "tb-source", name: "ca" } }],
        target,
      }),
    )
    await cluster.kubectl(["wait", "--for=condition=Ready", `${bundle}/follow`, "--timeout=120s"])
    const pem = await pemIn("tb-a", "tb-ca")
    expect(count(pem)).toBe(1)
    expect(pem).toBe((await actor("tb-source").shown("issuers.chancery.dev", "ca")).status["caChain"])
    expect(await pemIn("tb-b", "tb-ca")).toBe("")
    expect((await shown("follow")).status).toMatchObject({
      namespacesSelected: 1,
      namespacesInSync: 1,
      certificates: 1,
    })

    await apply(namespace("tb-new", { tb: "yes" }))
    await expect.poll(() => pemIn("tb-new", "tb-ca")).toBe(pem)
    await cluster.kubectl(["label", "namespace", "tb-b", "tb=yes"])
    await expect.poll(() => pemIn("tb-b", "tb-ca")).toBe(pem)
    await cluster.kubectl(["label", "namespace", "tb-a", "tb-"])
    await expect.poll(() => pemIn("tb-a", "tb-ca")).toBe("")
    await cluster.kubectl(["delete", "configmap", "tb-ca", "-n", "tb-b"])
    await expect.poll(() => pemIn("tb-b", "tb-ca")).toBe(pem)
    await cluster.kubectl([
      "patch",
      "configmap",
      "tb-ca",
      "-n",
      "tb-b",
      "--type=merge",
      "-p",
      '{"data":{"ca.crt":"x"}}',
    ])
    await expect.poll(() => pemIn("tb-b", "tb-ca")).toBe(pem)

    const before = await writesAtRest()
    await cluster.kubectl(["annotate", bundle, "follow", "--overwrite", "chancery.dev/reconcile-requested-at=now"])
    await expect.poll(async () => (await shown("follow")).status["lastHandledReconcileAt"]).toBe("now")
    // Only the status that confirms the request.
    expect((await writesAtRest()) - before).toBe(1)
  })

  test("never overwrite a ConfigMap of another owner, and go on when it is gone", async () => {
    await setUp("tb-foreign-source")
    const own = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "tb-ca", namespace: "tb-foreign" } }
    await apply(namespace("tb-foreign", { foreign: "yes" }), { ...own, data: { "ca.crt": "own" } })
    const source = { issuerRef: { kind: "Issuer", namespace: "tb-foreign-source", name: "ca" } }
    const target = {
      configMap: { name: "tb-ca" },
      secret: { name: "tb-ca" },
      namespaceSelector: { matchLabels: { foreign: "yes" } },
    }
    await apply(trustBundle("foreign", { sources: [source], target }))
    await cluster.kubectl(["wait", "--for=condition=Stalled", `${bundle}/foreign`, "--timeout=120s"])
    const found = await shown("foreign")
    expect(reasons(found)).toEqual(["Ready=False ConfigMapConflict", "Stalled=True ConfigMapConflict"])
    expect(found.status["failures"]).toMatchObject([{ namespace: "tb-foreign" }])
    expect(await pemIn("tb-foreign", "tb-ca")).toBe("own")
    expect((await actor("tb-foreign").secret("tb-ca")).data).toHaveProperty(["ca.crt"])
    await cluster.kubectl(["delete", "configmap", "tb-ca", "-n", "tb-foreign"])
    await cluster.kubectl(["annotate", bundle, "foreign", "--overwrite", "chancery.dev/reconcile-requested-at=1"])
    await cluster.kubectl(["wait", "--for=condition=Ready", `${bundle}/foreign`, "--timeout=120s"])
    expect(count(await pemIn("tb-foreign", "tb-ca"))).toBe(1)
  })

  test("have the former and the new root during a change of an authority, and the ConfigMap of the operator's namespace", async () => {
    const { ask } = await setUp("tb-rotation")
    const { kubectl } = cluster
    await testEngine.engine.mounts.create({ path: "extra", config: { maxLeaseTtlMs: 3_650 * dayMs } })
    const extra = await testEngine.engine.pki("extra").issuers.generateRoot({ commonName: "extra", keyType: "ec" })
    const extraPem = `${writePem("CERTIFICATE", extra.certificate)}\n`
    const source = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "extra", namespace: "operator" } }
    await apply(
      namespace("tb-rotated", { rotated: "yes" }),
      trustBundle("rotation", {
        sources: [
          { issuerRef: { kind: "Issuer", namespace: "tb-rotation", name: "ca" } },
          { configMapKeyRef: { name: "extra", key: "pem" } },
        ],
        target: { configMap: { name: "tb-ca" }, namespaceSelector: { matchLabels: { rotated: "yes" } } },
        overlap: "2h",
      }),
    )
    await kubectl(["wait", "--for=condition=Stalled", `${bundle}/rotation`, "--timeout=120s"])
    expect(reasons(await shown("rotation"))).toContain("Stalled=True ConfigMapMissing")
    await apply({ ...source, data: { pem: extraPem } })
    await kubectl(["wait", "--for=condition=Ready", `${bundle}/rotation`, "--timeout=120s"])
    expect(count(await pemIn("tb-rotated", "tb-ca"))).toBe(2)

    const pki = testEngine.engine.pki("tb-rotation")
    const next = await pki.issuers.generateRoot({ commonName: "next", keyType: "ec", ttlMs: 3_000 * dayMs })
    await pki.settings.changeIssuers({ default: next.issuerId })
    await ask("issuers.chancery.dev", "ca")
    await expect.poll(async () => count(await pemIn("tb-rotated", "tb-ca"))).toBe(3)
    expect(await pemIn("tb-rotated", "tb-ca")).toContain(writePem("CERTIFICATE", next.certificate))
    putForward(3 * hourMs)
    await kubectl(["annotate", bundle, "rotation", "--overwrite", "chancery.dev/reconcile-requested-at=1"])
    await expect.poll(async () => count(await pemIn("tb-rotated", "tb-ca"))).toBe(2)

    // A source that becomes invalid changes nothing.
    await apply({ ...source, data: { pem: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n" } })
    await kubectl(["wait", "--for=condition=Stalled", `${bundle}/rotation`, "--timeout=120s"])
    const invalid = await shown("rotation")
    expect(reasons(invalid)).toContain("Stalled=True SourceInvalid")
    expect(JSON.stringify(invalid)).not.toContain("AAAA")
    expect(count(await pemIn("tb-rotated", "tb-ca"))).toBe(2)
  })
})
