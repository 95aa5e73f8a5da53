// Certificates on a real API server and a real engine: they are issued as their specs describe, stay unchanged, or report the reason.
import { request } from "undici"
import { beforeAll, describe, expect, test } from "vitest"
import { openssl } from "../../../engine/testing/openssl.ts"
import type { KubernetesObject } from "../../../operator/src/kube/kubernetes-object.ts"
import { ObjectStore } from "../../../operator/src/kube/object-store.ts"
import { argoHealth } from "./argo-cd.ts"
import {
  actor,
  aheadMs,
  apply,
  cluster,
  crt,
  dayMs,
  describeCertificate,
  follow,
  operatorUrl,
  programs,
  reasons,
  setUp,
  type Shown,
  useCertificateFixture,
  text,
  testEngine,
  writes,
  writesAtRest,
} from "./certificates-fixture.ts"
import { courseOf, kstatuses, kstatusProgram } from "./kstatus.ts"

describe.skipIf(programs === undefined)("certificates in a cluster", () => {
  useCertificateFixture()

  test("[F-K10] [F-K13] become ready with at most five writes and one dry run each, and OpenSSL accepts the contents of the Secret", async () => {
    const { certificate, wait, waitAll, secret, crt: shown, kubectl } = await setUp("first")
    await wait("issuers.chancery.dev", "ca", "Ready")
    // The Kubernetes event follows the write that it reports.
    const before = await writesAtRest()
    const names = Array.from({ length: 5 }, (_, index) => `web-${index}`)
    await apply(...names.map((name) => certificate(name)))
    await waitAll(crt, names)
    expect(await writes()).toBeLessThanOrEqual(before + 6 * names.length)

    const [found, secretObject] = [await shown("web-0"), await secret("web-0-tls")]
    expect(reasons(found)).toEqual(["Ready=True Issued"])
    const { status, metadata } = found
    expect(status).toMatchObject({ revision: 1, observedGeneration: metadata.generation })
    expect(describeCertificate(secretObject, "-serial").toLowerCase()).toBe(
      `serial=${String(status["serialNumber"]).replaceAll(":", "")}\n`,
    )
    expect(secretObject.type).toBe("kubernetes.io/tls")
    expect(secretObject.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([metadata.uid])
    const files = { "chain.pem": text(secretObject, "tls.crt"), "ca.pem": text(secretObject, "ca.crt") }
    expect(openssl(["verify", "-x509_strict", "-CAfile", "ca.pem", "chain.pem"], files)).toBe("chain.pem: OK\n")
    expect(openssl(["pkey", "-in", "key.pem", "-pubout"], { "key.pem": text(secretObject, "tls.key") })).toBe(
      describeCertificate(secretObject, "-pubkey"),
    )
    const renewal = Date.parse(String(status["renewalTime"]))
    const notAfter = Date.parse(String(status["notAfter"]))
    expect(renewal).toBeLessThanOrEqual(notAfter - 30 * dayMs)
    expect(renewal).toBeGreaterThanOrEqual(notAfter - 38 * dayMs)
    const metrics = await (await request(`${operatorUrl}/metrics`)).body.text()
    const labels = '{namespace="first",name="web-0"}'
    expect(metrics).toContain(`chancery_operator_certificate_ready_status${labels} 1\n`)
    expect(metrics).toContain(
      `chancery_operator_certificate_expiration_timestamp_seconds${labels} ${notAfter / 1_000}\n`,
    )
    expect(metrics).toContain(`chancery_operator_certificate_renewal_timestamp_seconds${labels} ${renewal / 1_000}\n`)
    // Secrets with new keys exist only until the keys are certified.
    const left = await kubectl(["get", "secrets", "-n", "first", "-o", "name"])
    expect(left).not.toContain("-next-")
    const columns = await kubectl(["get", "ecrt", "web-0", "-n", "first"])
    expect(columns.replaceAll(/ +/g, " ")).toMatch(
      /^NAME SECRET ISSUER EXPIRES READY REASON AGE\nweb-0 web-0-tls ca 20[-0-9]+T[:0-9]+Z True Issued /,
    )
    const wide = await kubectl(["get", "ecrt,eiss,eclconn", "-n", "first", "-o", "wide"])
    expect(wide).toContain(String(status["renewalTime"]))
    expect(wide).not.toContain("<invalid>")
    const selected = await kubectl([
      "get",
      crt,
      "-n",
      "first",
      "--field-selector",
      "spec.secretName=web-3-tls",
      "-o",
      "name",
    ])
    expect(selected).toBe("certificate.chancery.dev/web-3\n")
  })

  describe("match their specs", () => {
    const cases: Readonly<
      Record<string, { readonly spec: object; readonly args: readonly string[]; readonly expected: RegExp }>
    > = {
      "common-name": { spec: { commonName: "Web Server" }, args: ["-subject"], expected: /CN ?= ?Web Server/ },
      "common-name-out": {
        spec: { commonName: "cn.example.com", excludeCNFromSANs: true },
        args: ["-ext", "subjectAltName"],
        expected: /^(?!.*DNS:cn\.example\.com)/s,
      },
      names: {
        spec: { dnsNames: ["b.example.com", "*.example.com"] },
        args: ["-ext", "subjectAltName"],
        expected: /DNS:\*\.example\.com/,
      },
      addresses: {
        spec: { ipAddresses: ["10.1.2.3", "2001:db8::1"] },
        args: ["-ext", "subjectAltName"],
        expected: /IP Address:10\.1\.2\.3/,
      },
      uris: {
        spec: { uris: ["spiffe://example.com/web"] },
        args: ["-ext", "subjectAltName"],
        expected: /URI:spiffe:\/\/example\.com\/web/,
      },
      mailboxes: {
        spec: { emailAddresses: ["ops@example.com"] },
        args: ["-ext", "subjectAltName"],
        expected: /email:ops@example\.com/,
      },
      "user-ids": { spec: { userIDs: ["alice"] }, args: ["-subject"], expected: /UID ?= ?alice/ },
      "other-names": {
        spec: { otherNames: [{ oid: "1.3.6.1.4.1.311.20.2.3", utf8Value: "alice@example.com" }] },
        args: ["-ext", "subjectAltName"],
        expected: /othername: ?(?:UPN:)?(?::?alice@example\.com|<unsupported>)/i,
      },
      rsa: {
        spec: { privateKey: { algorithm: "RSA", size: 3072 } },
        args: ["-text"],
        expected: /Public-Key: \(3072 bit\)/,
      },
      "p-384": { spec: { privateKey: { size: 384 } }, args: ["-text"], expected: /ASN1 OID: secp384r1/ },
      ed25519: {
        spec: { privateKey: { algorithm: "Ed25519" } },
        args: ["-text"],
        expected: /Public Key Algorithm: ED25519/,
      },
      "engine-key": {
        spec: { keySource: "Engine", privateKey: { algorithm: "ECDSA", size: 256 } },
        args: ["-text"],
        expected: /Public-Key: \(256 bit\)/,
      },
      usages: {
        spec: { usages: ["digitalSignature", "serverAuth"] },
        args: ["-ext", "keyUsage,extendedKeyUsage"],
        expected: /TLS Web Server Authentication/,
      },
      duration: { spec: { duration: "48h" }, args: ["-checkend", String(49 * 3_600)], expected: /will expire/ },
      "long-duration": {
        spec: { duration: "2400h" },
        args: ["-checkend", String(99 * 86_400)],
        expected: /will not expire/,
      },
      // [F-P12] The role's maximum is 400 days.
      "cut-duration": {
        spec: { duration: "20000h" },
        args: ["-checkend", String(400 * 86_400)],
        expected: /will expire/,
      },
    }

    test("in each field", async () => {
      const { certificate, waitAll, kubectl } = await setUp("fields")
      await apply(...Object.entries(cases).map(([name, { spec }]) => certificate(name, spec)))
      await waitAll(crt, Object.keys(cases))
      const list = await kubectl(["get", "secrets", "-n", "fields", "-o", "json"])
      const { items } = JSON.parse(list) as { readonly items: readonly Shown[] }
      const description = (name: string, args: readonly string[]) => {
        const secretObject = items.find(({ metadata }) => metadata.name === `${name}-tls`)!
        // -checkend reports its result in the exit code as well.
        if (args[0] === "-checkend") {
          try {
            return describeCertificate(secretObject, ...args)
          } catch {
            return "Certificate will expire"
          }
        }
        return describeCertificate(secretObject, ...args)
      }
      const wrong: string[] = []
      for (const [name, { args, expected }] of Object.entries(cases))
        if (!expected.test(description(name, args))) wrong.push(name)
      expect(wrong).toEqual([])
    })

    test("and in the Secret, in every format", async () => {
      const { certificate, wait, secret, crt: shown } = await setUp("forms")
      const additionalOutputFormats = [
        { type: "DER" },
        { type: "CombinedPEM" },
        { type: "FullChain" },
        { type: "PKCS12", password: "hunter2" },
        { type: "JKS", passwordSecretRef: { name: "stores" } },
      ]
      const stores = (password: string) =>
        apply({
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "stores", namespace: "forms" },
          stringData: { password },
        })
      const secretTemplate = { labels: { app: "web" }, annotations: { "example.com/note": "x" } }
      await apply(
        certificate("plain", { secretDeletionPolicy: "Retain" }),
        certificate("forms", { additionalOutputFormats, secretTemplate, privateKey: { encoding: "PKCS1" } }),
      )
      await wait(crt, "plain", "Ready")
      await wait(crt, "forms", "Stalled")
      expect(reasons(await shown("forms"))).toEqual(["Ready=False SecretMissing", "Stalled=True SecretMissing"])
      await stores("hunter2")
      await wait(crt, "forms", "Ready")
      const [plain, forms] = [await secret("plain-tls"), await secret("forms-tls")]
      expect(Object.keys(plain.data ?? {}).toSorted()).toEqual(["ca.crt", "tls.crt", "tls.key"])
      expect(plain.metadata.ownerReferences).toBeUndefined()
      expect(Object.keys(forms.data ?? {}).toSorted()).toEqual([
        "ca.crt",
        "fullchain.pem",
        "key.der",
        "keystore.jks",
        "keystore.p12",
        "tls-combined.pem",
        "tls.crt",
        "tls.key",
        "truststore.jks",
        "truststore.p12",
      ])
      expect(text(forms, "tls.key")).toMatch(/^-----BEGIN EC PRIVATE KEY-----/)
      expect(forms.metadata.labels).toMatchObject({ app: "web", "controller.chancery.dev/managed": "true" })
      expect(forms.metadata.annotations).toMatchObject({ "example.com/note": "x", "chancery.dev/issuer-name": "ca" })
      const store = Buffer.from(forms.data?.["keystore.p12"] ?? "", "base64")
      const args = ["pkcs12", "-in", "store.p12", "-nodes", "-passin", "pass:hunter2"]
      expect(openssl(args, { "store.p12": store })).toContain("BEGIN PRIVATE KEY")

      // A change of the password writes the stores again, and nothing else.
      await stores("hunter3")
      await expect
        .poll(async () => (await secret("forms-tls")).data?.["keystore.jks"])
        .not.toBe(forms.data?.["keystore.jks"])
      const { "keystore.jks": _, "truststore.jks": __, ...others } = forms.data ?? {}
      expect((await secret("forms-tls")).data).toMatchObject(others)

      // A change of the output formats does not reissue the certificate.
      await apply(
        certificate("forms", {
          additionalOutputFormats: [{ type: "DER" }],
          secretTemplate: { labels: { app: "api" } },
        }),
      )
      await expect
        .poll(async () => Object.keys((await secret("forms-tls")).data ?? {}).toSorted())
        .toEqual(["ca.crt", "key.der", "tls.crt", "tls.key"])
      const changed = await secret("forms-tls")
      expect(text(changed, "tls.crt")).toBe(text(forms, "tls.crt"))
      expect(text(changed, "tls.key")).toMatch(/^-----BEGIN PRIVATE KEY-----/)
      expect(changed.metadata.labels).toMatchObject({ app: "api" })
    })
  })

  test("[F-K5] are restored when another writer changes or deletes the Secret", async () => {
    const { certificate, wait, secret, crt: shown, kubectl } = await setUp("spoilt")
    await apply(certificate("web"))
    await wait(crt, "web", "Ready")
    const [first, before] = [(await shown("web")).status["serialNumber"], await secret("web-tls")]
    const other = openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
    const patch = JSON.stringify({ data: { "tls.key": Buffer.from(other).toString("base64") } })
    await kubectl(["patch", "secret", "web-tls", "-n", "spoilt", "--type=merge", "-p", patch])
    // The key is restored, with the same certificate.
    await expect.poll(async () => text(await secret("web-tls"), "tls.key")).toBe(text(before, "tls.key"))
    expect(text(await secret("web-tls"), "tls.crt")).toBe(text(before, "tls.crt"))
    expect((await shown("web")).status["revision"]).toBe(1)
    // Deleting the Secret requests a new certificate.
    await kubectl(["delete", "secret", "web-tls", "-n", "spoilt"])
    await expect.poll(async () => (await shown("web")).status["revision"]).toBe(2)
    await wait(crt, "web", "Ready")
    const secretObject = await secret("web-tls")
    expect(describeCertificate(secretObject, "-serial")).not.toContain(String(first).replaceAll(":", "").toUpperCase())
    // A removed annotation is restored, with the same certificate.
    await kubectl(["annotate", "secret", "web-tls", "-n", "spoilt", "chancery.dev/issuer-name-"])
    await expect
      .poll(async () => (await secret("web-tls")).metadata.annotations?.["chancery.dev/issuer-name"])
      .toBe("ca")
    expect(text(await secret("web-tls"), "tls.crt")).toBe(text(secretObject, "tls.crt"))
  })

  test("stay unchanged when an update is rejected, and are reported as stalled until it is corrected", async () => {
    const { certificate, wait, secret, crt: shown, kubectl } = await setUp("refused")
    await testEngine.engine
      .pki("refused")
      .roles.save("strict", { allowedDomains: ["example.com"], allowSubdomains: true, keyType: "any" })
    await apply(certificate("web", { role: "strict" }))
    await wait(crt, "web", "Ready")
    const before = await secret("web-tls")
    await apply(certificate("web", { role: "strict", dnsNames: ["www.example.org"] }))
    await wait(crt, "web", "Stalled")
    const stalled = await shown("web")
    expect(reasons(stalled)).toEqual([
      "Ready=False EngineRefused",
      "Stalled=True EngineRefused",
      "Issuing=True SpecChanged",
    ])
    expect(stalled.status.conditions?.[0]?.message).toContain("www.example.org")
    expect(stalled.status["failedIssuanceAttempts"]).toBe(1)
    expect(Date.parse(String(stalled.status["nextAttemptTime"]))).toBeGreaterThan(Date.now() + aheadMs)
    expect((await secret("web-tls")).metadata.resourceVersion).toBe(before.metadata.resourceVersion)
    // The key of the refused request is kept for the next attempt, whichever replica makes it.
    const waiting = await kubectl(["get", "secrets", "-n", "refused", "-o", "name"])
    const [next = ""] = /web-next-[0-9a-f]+/.exec(waiting) ?? []
    const key = text(await secret(next), "tls.key")
    await testEngine.engine.pki("refused").roles.update("strict", { allowedDomains: ["example.com", "example.org"] })
    await actor("refused").ask(crt, "web")
    await wait(crt, "web", "Ready")
    expect(text(await secret("web-tls"), "tls.key")).toBe(key)
    const ready = await shown("web")
    expect(reasons(ready)).toEqual(["Ready=True Issued"])
    expect(ready.status["failedIssuanceAttempts"]).toBeUndefined()
  })

  describe("that cannot be issued", () => {
    const cases = [
      {
        why: "no issuer",
        name: "no-issuer",
        spec: { issuerRef: { name: "nobody" } },
        reason: "Stalled=True IssuerMissing",
      },
      {
        why: "an issuer that is not ready",
        name: "unready",
        spec: { issuerRef: { name: "broken" } },
        reason: "Reconciling=True IssuerNotReady",
      },
      {
        why: "no role",
        name: "no-role",
        spec: { issuerRef: { name: "roleless" } },
        reason: "Stalled=True RoleMissing",
      },
      {
        why: "a missing role",
        name: "other-role",
        spec: { role: "nothing" },
        reason: "Stalled=True EngineRefused",
      },
      {
        why: "a usage that the role does not permit",
        name: "usage",
        spec: { usages: ["codeSigning"] },
        reason: "Stalled=True CertificateUnfit",
      },
      {
        why: "too short a lifetime",
        name: "short",
        spec: { duration: "10m", renewBefore: "9m59s" },
        reason: "Stalled=True LifetimeTooShort",
      },
      {
        why: "a maintenance window that never opens",
        name: "window",
        spec: { renewalWindows: [{ cron: "0 0 30 2 *", duration: "1h" }] },
        reason: "Stalled=True InvalidSpec",
      },
    ]
    beforeAll(async () => {
      const { certificate, issuer } = await setUp("bad")
      await apply(
        issuer("broken", { issuerRef: "nobody" }),
        issuer("roleless", { defaultRole: undefined }),
        ...cases.map(({ name, spec }) => certificate(name, spec)),
      )
    })

    test.each(cases)("with $why are $reason", async ({ name, reason }) => {
      const { crt: shown, kubectl } = actor("bad")
      await expect.poll(async () => reasons(await shown(name))).toContain(reason)
      await expect(kubectl(["get", "secret", `${name}-tls`, "-n", "bad"])).rejects.toThrow(/not found/)
    })
  })

  test("of one Secret: the first owns it, the other reports the owner, and an unowned Secret is left alone", async () => {
    const { certificate, wait, crt: shown, secret, kubectl } = await setUp("conflict")
    await apply(certificate("first", { secretName: "tls" }))
    await wait(crt, "first", "Ready")
    const mine = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "mine", namespace: "conflict" },
      stringData: { a: "b" },
    }
    await apply(certificate("second", { secretName: "tls" }), mine, certificate("third", { secretName: "mine" }))
    await wait(crt, "second", "Stalled")
    await wait(crt, "third", "Stalled")
    const [second, third] = [await shown("second"), await shown("third")]
    expect(reasons(second)).toEqual(["Ready=False SecretNameConflict", "Stalled=True SecretNameConflict"])
    expect(second.status.conditions?.[0]?.message).toContain("belongs to the Certificate first")
    expect(third.status.conditions?.[0]?.message).toContain("secretAdoption")
    expect(Object.keys((await secret("mine")).data ?? {})).toEqual(["a"])
    await apply(certificate("third", { secretName: "mine", secretAdoption: "Force" }))
    await wait(crt, "third", "Ready")
    const adopted = await secret("mine")
    expect(adopted.type).toBe("Opaque")
    expect(Object.keys(adopted.data ?? {}).toSorted()).toEqual(["a", "ca.crt", "tls.crt", "tls.key"])
    // The next Certificate takes over the Secret after the first one is deleted.
    await kubectl(["delete", crt, "first", "-n", "conflict", "--timeout=60s"])
    await actor("conflict").ask(crt, "second")
    await wait(crt, "second", "Ready")
    expect((await secret("tls")).metadata.annotations?.["chancery.dev/certificate-name"]).toBe("second")
  })

  test.skipIf(kstatusProgram === undefined)("are never read as finished too early by GitOps tools", async () => {
    const { certificate, wait, crt: shown, kubectl } = await setUp("sampled")
    const samples: KubernetesObject[] = []
    const store = new ObjectStore()
    const following = follow("sampled", store, (key) => {
      const object = store.get(key)
      if (object !== undefined) samples.push(object)
    })
    await following.whenSynced()
    const role = { role: "narrow" }
    await testEngine.engine.pki("sampled").roles.save("narrow", {
      allowedDomains: ["example.com"],
      allowSubdomains: true,
      keyType: "any",
    })
    const revocationPolicy = { onDelete: true }
    await apply(certificate("web", { ...role, revocationPolicy }))
    await wait(crt, "web", "Ready")
    await apply(certificate("web", { ...role, revocationPolicy, dnsNames: ["api.example.com"] }))
    await expect.poll(async () => (await shown("web")).status["revision"]).toBe(2)
    await apply(certificate("web", { ...role, revocationPolicy, dnsNames: ["api.example.org"] }))
    await wait(crt, "web", "Stalled")
    await apply(certificate("web", { ...role, revocationPolicy, dnsNames: ["www.example.com"] }))
    await wait(crt, "web", "Ready")
    await kubectl(["delete", crt, "web", "-n", "sampled", "--timeout=60s"])
    await following.stop()

    const statuses = await kstatuses(samples)
    const seen = samples.map((sample, index) => {
      const { conditions = [] } = (sample["status"] ?? {}) as Shown["status"]
      const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True")
      const fares = statuses[index]!
      return { fares, isUsable: isReady && fares === "Current" }
    })
    expect(seen[0]?.fares).toBe("InProgress")
    expect(seen.filter(({ fares, isUsable }) => fares === "Current" && !isUsable)).toEqual([])
    expect(courseOf(statuses)).toEqual([
      "InProgress",
      "Current",
      "InProgress",
      "Current",
      "InProgress",
      "Failed",
      "InProgress",
      "Current",
      "Terminating",
    ])
    const health = { InProgress: "Progressing", Current: "Healthy", Failed: "Degraded", Terminating: "Progressing" }
    const byArgo = await Promise.all(samples.map(async (sample) => (await argoHealth(sample)).status))
    expect(byArgo).toEqual(seen.map(({ fares }) => health[fares]))
  })

  test("are left alone while they are paused", async () => {
    const { certificate, wait, crt: shown, annotate } = await setUp("paused")
    await apply(certificate("web", {}, { annotations: { "chancery.dev/paused": "true" } }))
    await wait(crt, "web", "Paused")
    expect(reasons(await shown("web"))).toEqual(["Ready=False Paused", "Paused=True Paused"])
    await expect(cluster.kubectl(["get", "secret", "web-tls", "-n", "paused"])).rejects.toThrow(/not found/)
    await annotate("web", "chancery.dev/paused-")
    await wait(crt, "web", "Ready")
  })
})
