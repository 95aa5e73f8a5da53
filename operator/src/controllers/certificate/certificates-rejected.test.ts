// Certificates whose Secret the API server rejects or another writer changes: status, events, and the number of certificates issued.
import { describe, expect, test } from "vitest"
import { ApiError } from "../../kube/cluster.ts"
import { certificateFigures } from "./certificate-metrics.ts"
import { certificate } from "../../api/certificate.ts"
import { connection } from "../../api/connection.ts"
import { issuer } from "../../api/issuer.ts"
import { configMaps, secrets } from "../../kube/kubernetes-object.ts"
import { forbidden, openCertificate, type Rejects } from "../../../testing/certificate-fixture.ts"

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const words = 'secrets "tls" is forbidden: exceeded quota: few'
const rejectsSecret: Rejects = (resource, { metadata }) =>
  resource === secrets && metadata.name === "tls" ? forbidden(words) : undefined
/** Admission policies that take effect between the dry run and the write. */
const rejectsWrite: Rejects = (...args) => (args[2].isDryRun ? undefined : rejectsSecret(...args))

const ready = (object: Parameters<(typeof certificateFigures)[0]["of"]>[0], now: number) =>
  certificateFigures.find(({ name }) => name === "chancery_operator_certificate_ready_status")?.of(object, now)

describe("a Secret that the API server rejects", () => {
  test("[F-K1] is reported in the status, an event and a metric; the certificate becomes Expired at its end", async () => {
    await using one = await openCertificate({ duration: "24h" })
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    one.reject(rejectsSecret)
    one.pass(20 * hourMs)
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued", "Issuing=True RenewalDue"])
    expect(one.message("Issuing")).toContain(`The API server rejects the Secret tls: ${words}`)
    expect(one.events).toMatchObject([{ type: "Warning", reason: "SecretRejected" }])
    expect(one.status.failedIssuanceAttempts).toBe(1)
    expect(Date.parse(one.status.nextAttemptTime ?? "")).toBeGreaterThan(one.now)
    expect(ready(one.storeOf(certificate).get("team/web")!, one.now + 5 * hourMs)).toBe(0)

    await one.lookFor(5 * hourMs)
    expect(one.conditions()).toEqual(["Ready=False Expired", "Stalled=True Expired", "Issuing=True RenewalDue"])
    expect(one.message("Ready")).toContain(words)
    expect(one.status.nextAttemptTime).toBeDefined()
    expect(await one.issued()).toHaveLength(1)

    one.reject(() => undefined)
    await one.lookFor(2 * hourMs)
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(one.status.failedIssuanceAttempts).toBeUndefined()
  })

  test("[F-K2] wastes no certificate, because a dry run is rejected first", async () => {
    await using one = await openCertificate({})
    one.reject(rejectsSecret)
    await one.lookFor(dayMs)
    expect(one.conditions()).toEqual([
      "Ready=False SecretRejected",
      "Stalled=True SecretRejected",
      "Issuing=True SecretMissing",
    ])
    expect(await one.issued()).toEqual([])
  })

  test("[F-K2] wastes no certificate if it is the Secret of the next key", async () => {
    await using one = await openCertificate({})
    one.reject((resource, { metadata }) =>
      resource === secrets && metadata.name !== "tls" ? forbidden("no more keys") : undefined,
    )
    await one.lookFor(dayMs)
    expect(one.message("Ready")).toContain("no more keys")
    expect(await one.issued()).toEqual([])
  })

  test("[F-K2] is written later with the same certificate if the rejection follows the issuance", async () => {
    await using one = await openCertificate({})
    one.reject(rejectsWrite)
    await one.lookFor(dayMs)
    const [first] = await one.issued()
    expect(await one.issued()).toHaveLength(1)
    one.reject(() => undefined)
    await one.lookFor(2 * hourMs)
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(one.status.serialNumber).toBe(first?.serialNumber)
  })

  test.each(["Operator", "Engine"])(
    "[F-K2] after the certificate was issued, and then another process begins: it is revoked (key of the %s)",
    async (keySource) => {
      await using one = await openCertificate({ keySource })
      one.reject(rejectsWrite)
      await one.look()
      one.restart()
      one.reject(() => undefined)
      await one.lookFor(2 * hourMs)
      const issued = await one.issued()
      expect(issued.filter(({ status }) => status === "valid").map(({ serialNumber }) => serialNumber)).toEqual([
        one.status.serialNumber,
      ])
      expect(issued.filter(({ revokedAt }) => revokedAt !== null)).toHaveLength(1)
    },
  )

  test("[F-K2] has its certificate revoked, as the status shows, if the spec changes after the issuance", async () => {
    await using one = await openCertificate({})
    one.reject(rejectsWrite)
    await one.look()
    const [first] = await one.issued()
    one.edit({ dnsNames: ["api.example.com"] })
    one.reject(() => undefined)
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(one.status.history).toMatchObject([
      { serialNumber: first?.serialNumber, discarded: true, revokedAt: expect.any(String) as string },
    ])
    expect((await one.engine.pki("pki").certificates.get(first?.serialNumber ?? "")).revokedAt).not.toBeNull()
  })

  test("[F-K2] wastes at most three certificates an hour for any changes of the spec", async () => {
    await using one = await openCertificate({})
    one.reject(rejectsWrite)
    for (let edit = 0; edit < 10; edit += 1) {
      one.edit({ dnsNames: [`${edit}.example.com`] })
      await one.look()
    }
    expect(await one.issued()).toHaveLength(3)
    expect(one.conditions()).toContain("Ready=False IssuanceLimited")
    one.reject(() => undefined)
    await one.lookFor(2 * hourMs)
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect((await one.issued()).filter(({ revokedAt }) => revokedAt === null)).toHaveLength(1)
  })

  test("[F-K2] is written immediately after its deletion", async () => {
    await using one = await openCertificate({ duration: "24h" })
    await one.look()
    const immutable: Rejects = (resource, { metadata }) =>
      resource === secrets && metadata.name === "tls" && metadata.uid !== undefined
        ? new ApiError(422, "Invalid", "field is immutable when `immutable` is set")
        : undefined
    one.reject(immutable)
    one.pass(20 * hourMs)
    for (let attempt = 0; attempt < 4; attempt += 1) await one.lookFor(hourMs / 2)
    expect(one.status.failedIssuanceAttempts).toBeGreaterThan(2)
    one.storeOf(secrets).delete("team/tls")
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
  })

  test("[F-K1] is reported while the certificate stays Ready if only a label is rejected", async () => {
    await using one = await openCertificate({})
    await one.look()
    one.reject(rejectsSecret)
    one.edit({ secretTemplate: { labels: { app: "web" } } })
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued", "SecretWritten=False SecretRejected"])
    expect(one.events).toMatchObject([{ type: "Warning", reason: "SecretRejected" }])
    one.reject(() => undefined)
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(one.secret()?.metadata.labels).toMatchObject({ app: "web" })
  })
})

test("[F-K2] a certificate whose response was lost is revoked before the next one is issued", async () => {
  await using one = await openCertificate({})
  one.loseAnswers(true)
  await expect(one.look()).rejects.toThrow("the process ends here")
  one.restart()
  one.loseAnswers(false)
  await one.look()
  const issued = await one.issued()
  expect(issued).toHaveLength(2)
  expect(issued.filter(({ revokedAt }) => revokedAt === null)).toMatchObject([
    { serialNumber: one.status.serialNumber },
  ])
})

test("[F-K1] a rejected ConfigMap or restart is reported, and the certificate is Ready", async () => {
  await using one = await openCertificate({
    trust: { publishTo: { configMapName: "trust" } },
    rolloutRestart: [{ kind: "Deployment", name: "web" }],
  })
  await one.look()
  const deployments = { ...secrets, group: "apps", plural: "deployments", kind: "Deployment" }
  one.set(deployments, { metadata: { name: "web", namespace: "team" } })
  one.storeOf(configMaps).delete("team/trust")
  one.reject((resource) =>
    resource.plural === "deployments" || resource.plural === "configmaps"
      ? forbidden(`no ${resource.plural}`)
      : undefined,
  )
  one.edit({ dnsNames: ["api.example.com"] })
  await one.look()
  expect(one.conditions()).toEqual([
    "Ready=True Issued",
    "TrustPublished=False ConfigMapRejected",
    "WorkloadsRestarted=False RestartRejected",
  ])
  expect(one.events.map(({ type, reason }) => `${type} ${reason}`)).toEqual(
    expect.arrayContaining(["Warning ConfigMapRejected", "Warning RestartRejected"]),
  )
  one.reject(() => undefined)
  await one.look()
  expect(one.conditions()).toEqual(["Ready=True Issued", "TrustPublished=True TrustPublished"])
  expect(JSON.stringify(one.storeOf(deployments).get("team/web"))).toContain(one.status.serialNumber)
})

describe("a Secret that another writer changes", () => {
  const foreignKey = async () => {
    await using other = await openCertificate({})
    await other.look()
    const data = (other.secret()?.["data"] ?? {}) as Readonly<Record<string, string>>
    return data["tls.key"] ?? ""
  }

  test("[F-K5] is restored once with the same certificate", async () => {
    const key = await foreignKey()
    await using one = await openCertificate({})
    await one.look()
    const before = one.secret()
    one.set(secrets, { ...before!, data: { ...(before?.["data"] as object), "tls.key": key } })
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(one.secret()?.["data"]).toEqual(before?.["data"])
    expect(one.events).toMatchObject([{ type: "Warning", reason: "SecretRepaired" }])
    expect(await one.issued()).toHaveLength(1)
  })

  test("[F-K5] repeatedly is restored after growing pauses; the writer is named, and no certificate is issued", async () => {
    const key = await foreignKey()
    await using one = await openCertificate({})
    await one.look()
    let changes = 0
    one.contend((written) => {
      changes += 1
      return { ...written, data: { ...(written["data"] as object), "tls.key": key } }
    })
    const before = one.secret()
    one.set(secrets, { ...before!, data: { ...(before?.["data"] as object), "tls.key": key } })
    // The watch triggers a reconciliation for each change.
    for (let look = 0; look < 50; look += 1) await one.look()
    expect(changes).toBe(3)
    expect(one.conditions()).toEqual([
      "Ready=False SecretContested",
      "Stalled=True SecretContested",
      "Issuing=True KeyPairMismatch",
    ])
    expect(one.message("Ready")).toContain("The field manager vault-sync overwrites the Secret tls after each repair")
    expect(Date.parse(one.status.nextAttemptTime ?? "")).toBeGreaterThan(one.now)
    await one.lookFor(hourMs / 2)
    expect(changes).toBeLessThan(12)
    expect(await one.issued()).toHaveLength(1)
  })

  test("[F-K5] is restored without a new certificate after three were issued for repeated deletions", async () => {
    await using one = await openCertificate({})
    await one.look()
    for (let deletion = 0; deletion < 10; deletion += 1) {
      one.storeOf(secrets).delete("team/tls")
      await one.look()
    }
    expect(await one.issued()).toHaveLength(4)
  })

  test("[F-K5] costs a few certificates an hour at most if it repeatedly loses its annotations after a restart", async () => {
    await using one = await openCertificate({})
    await one.look()
    for (let loss = 0; loss < 20; loss += 1) {
      one.set(secrets, { ...one.secret()!, data: { "tls.crt": "", "tls.key": "" } })
      await one.look()
    }
    expect((await one.issued()).length).toBeLessThanOrEqual(5)
  })
})

test("[F-K10] a changed secretName moves the certificate to the new Secret", async () => {
  await using one = await openCertificate({})
  await one.look()
  const before = one.secret()
  one.edit({ secretName: "other" })
  await one.look()
  expect(one.conditions()).toEqual(["Ready=True Issued"])
  expect(one.storeOf(secrets).get("team/other")?.["data"]).toEqual(before?.["data"])
  expect(one.secret()).toEqual(before)
  expect(await one.issued()).toHaveLength(1)
})

describe("a role that contradicts the spec", () => {
  test("[F-K7] is read first; the message lists missing usages, and no certificate is issued", async () => {
    await using one = await openCertificate({ usages: ["codeSigning"] })
    await one.lookFor(dayMs)
    expect(one.conditions()).toEqual([
      "Ready=False CertificateUnfit",
      "Stalled=True CertificateUnfit",
      "Issuing=True SecretMissing",
    ])
    expect(one.message("Ready")).toContain("spec.usages: expected codeSigning, got digitalSignature")
    expect(await one.issued()).toEqual([])
  })

  test("[F-K7] has its certificates revoked and listed, at most three an hour, if only the certificate shows the difference", async () => {
    await using one = await openCertificate({ renewBefore: "59m" }, { ttlMs: hourMs, maxTtlMs: hourMs })
    await one.lookFor(hourMs - 60_000)
    expect(one.message("Ready")).toContain("due for renewal immediately")
    const issued = await one.issued()
    expect(issued).toHaveLength(3)
    expect(issued.every(({ revokedAt }) => revokedAt !== null)).toBe(true)
    expect(one.status.history?.[0]).toMatchObject({ discarded: true, revokedAt: expect.any(String) as string })
  })

  test.each(["www.example.com.", "bücher.example"])(
    "[F-K6] [F-K7] a certificate for %s is issued once and kept",
    async (name) => {
      await using one = await openCertificate({ dnsNames: [name], commonName: name })
      await one.look()
      await one.look()
      expect(one.conditions()).toEqual(["Ready=True Issued"])
      expect(await one.issued()).toHaveLength(1)
    },
  )
})

describe("[F-K3] the common name is absent", () => {
  const long = `${"a".repeat(60)}.example.com`
  test.each([
    { spec: { dnsNames: [long] }, names: [long] },
    { spec: { dnsNames: undefined, uris: ["spiffe://example.com/web"] }, names: ["spiffe://example.com/web"] },
    { spec: { dnsNames: undefined, ipAddresses: ["10.0.0.1"] }, names: ["10.0.0.1"] },
  ])("for $spec if the role requires none", async ({ spec }) => {
    await using one = await openCertificate(spec, { requireCn: false })
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    const stored = one.stored()
    expect(stored.is === "whole" ? stored.leaf.subjectName : undefined).toEqual([])
  })

  test("or the first DNS name that fits, if the role requires one", async () => {
    await using one = await openCertificate({ dnsNames: [long, "www.example.com"] })
    await one.look()
    const stored = one.stored()
    expect(stored.is === "whole" ? stored.leaf.subjectName.flat().map(({ value }) => value) : []).toEqual([
      "www.example.com",
    ])
  })
})

test("[F-K12] labels and annotations of secretTemplate are on the Secret of the next key too", async () => {
  await using one = await openCertificate({
    secretTemplate: { labels: { team: "web" }, annotations: { "example.com/owner": "web" } },
  })
  const missing: string[] = []
  one.reject((resource, { metadata: { name, labels, annotations } }) => {
    if (resource === secrets && (labels?.["team"] !== "web" || annotations?.["example.com/owner"] !== "web"))
      missing.push(name)
    return undefined
  })
  await one.look()
  expect(one.conditions()).toEqual(["Ready=True Issued"])
  expect(missing).toEqual([])
})

describe("a Certificate that revokes when it is deleted", () => {
  test("[F-K4] does so although its issuer was deleted", async () => {
    await using one = await openCertificate({ revocationPolicy: { onDelete: true } })
    await one.look()
    one.storeOf(issuer).delete("team/ca")
    expect(await one.finalize()).toBeUndefined()
    expect((await one.issued()).map(({ status }) => status)).toEqual(["revoked"])
  })

  test("[F-K4] keeps its connection until then", async () => {
    await using one = await openCertificate({ revocationPolicy: { onDelete: true } })
    await one.look()
    const used = () => one.storeOf(certificate).by("connection", "Connection/team/engine").length
    expect(used()).toBe(1)
    one.edit({ revocationPolicy: { onDelete: false } })
    expect(used()).toBe(0)
  })

  test("is deleted if the mount was deleted, or created again and has no record of the certificate", async () => {
    for (const isAgain of [false, true]) {
      await using one = await openCertificate({ revocationPolicy: { onDelete: true } })
      await one.look()
      await one.engine.mounts.delete("pki")
      if (isAgain) await one.engine.mounts.create({ path: "pki" })
      expect(await one.finalize()).toBeUndefined()
    }
  })

  test("is deleted if it has neither an issuer nor a certificate but that of an earlier object of its name", async () => {
    await using one = await openCertificate({ revocationPolicy: { onDelete: true } })
    await one.look()
    one.storeOf(issuer).delete("team/ca")
    const { status: _, ...again } = one.storeOf(certificate).get("team/web")!
    one.set(certificate, again)
    expect(await one.finalize()).toBeUndefined()
  })
})

test("a certificate that is revoked at deletion has its connection in the status before it is requested", async () => {
  await using one = await openCertificate({ revocationPolicy: { onDelete: true } })
  one.loseAnswers(true)
  await expect(one.look()).rejects.toThrow("the process ends here")
  expect(one.status.issuedBy).toEqual({ connectionRef: { kind: "Connection", name: "engine" }, mount: "pki" })
})

test.each([
  { when: "is gone", change: undefined },
  { when: "is being deleted", change: { deletionTimestamp: "2026-01-01T00:00:00Z" } },
])("a certificate that is revoked at deletion is not requested when its connection $when", async ({ change }) => {
  await using one = await openCertificate({ revocationPolicy: { onDelete: true } })
  const key = "team/engine"
  const used = one.storeOf(connection).get(key)!
  if (change === undefined) one.storeOf(connection).delete(key)
  else one.set(connection, { ...used, metadata: { ...used.metadata, ...change } })
  await one.look()
  expect(one.conditions()).toContain("Ready=False ConnectionMissing")
  expect(one.status.issuedBy).toBeUndefined()
  expect(await one.issued()).toEqual([])
})

test("a certificate of an earlier object is not revoked at deletion when its connection is being deleted", async () => {
  await using one = await openCertificate({ revocationPolicy: { onDelete: true } })
  await one.look()
  const { status: _, ...again } = one.storeOf(certificate).get("team/web")!
  one.set(certificate, again)
  one.restart()
  one.storeOf(connection).delete("team/engine")
  await one.look()
  expect(one.status.serialNumber).toBeDefined()
  expect(one.status.issuedBy).toBeUndefined()
  one.storeOf(issuer).delete("team/ca")
  expect(await one.finalize()).toBeUndefined()
})
