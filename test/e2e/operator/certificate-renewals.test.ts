// Renewal and revocation of certificates in a cluster, and a change of their CA.
import { describe, expect, test } from "vitest"
import { openssl } from "../../../engine/testing/openssl.ts"
import { writePem } from "../../../engine/src/x509/pem.ts"
import {
  actor,
  apply,
  crt,
  dayMs,
  hourMs,
  programs,
  putForward,
  reasons,
  setUp,
  type Shown,
  useCertificateFixture,
  text,
  testEngine,
} from "./certificates-fixture.ts"

describe.skipIf(programs === undefined)("long-lived certificates in a cluster", () => {
  useCertificateFixture()

  test("are renewed when due or requested, stay ready during renewal, and their predecessors are revoked if configured", async () => {
    const { certificate, wait, waitAll, secret, crt: shown, ask, askAll, annotate, kubectl } = await setUp("renewal")
    await apply(
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "web", namespace: "renewal" },
        spec: {
          selector: { matchLabels: { app: "web" } },
          template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web" }] } },
        },
      },
      certificate("web", {
        revocationPolicy: { onRotation: true },
        rolloutRestart: [{ kind: "Deployment", name: "web" }],
      }),
      certificate("still", { renewalPolicy: "Disabled" }),
      certificate("kept", { privateKey: { rotationPolicy: "Never" } }),
    )
    await waitAll(crt, ["web", "still", "kept"])
    const [first, keptSecret] = [await shown("web"), await secret("kept-tls")]
    const transition = (one: Shown) => JSON.stringify(one.status.conditions?.find(({ type }) => type === "Ready"))

    putForward(62 * dayMs)
    await askAll(crt, ["web", "still", "kept"])
    await expect.poll(async () => (await shown("web")).status["revision"]).toBe(2)
    await expect.poll(async () => (await shown("kept")).status["revision"]).toBe(2)
    const second = await shown("web")
    // Ready stayed true throughout.
    expect(transition(second)).toBe(transition(first))
    expect(reasons(second)).toEqual(["Ready=True Issued"])
    const old = String(first.status["serialNumber"])
    expect(second.status["history"]).toMatchObject([{ serialNumber: old, revokedAt: expect.any(String) as string }])
    expect((await testEngine.engine.pki("renewal").certificates.get(old)).revokedAt).not.toBeNull()
    const template = JSON.stringify(await actor("renewal").shown("deployment", "web"))
    expect(template).toContain(String(second.status["serialNumber"]))
    // The certificate changed, the key did not.
    expect(text(await secret("kept-tls"), "tls.key")).toBe(text(keptSecret, "tls.key"))
    expect(text(await secret("kept-tls"), "tls.crt")).not.toBe(text(keptSecret, "tls.crt"))
    expect((await shown("still")).status["revision"]).toBe(1)

    await annotate("web", "chancery.dev/renew-requested-at=now")
    await expect.poll(async () => (await shown("web")).status["revision"]).toBe(3)
    expect((await shown("web")).status["lastHandledRenewAt"]).toBe("now")
    await ask(crt, "web")
    await expect.poll(async () => await kubectl(["get", "events", "-n", "renewal"])).toContain("Renewed")
    expect((await shown("web")).status["revision"]).toBe(3)

    putForward(40 * dayMs)
    await ask(crt, "still")
    await wait(crt, "still", "Stalled")
    expect(reasons(await shown("still"))).toEqual(["Ready=False Expired", "Stalled=True Expired"])
  })

  test("are reissued after a revocation in the engine", async () => {
    const { certificate, wait, crt: shown, ask } = await setUp("revoked")
    await apply(certificate("web"))
    await wait(crt, "web", "Ready")
    const serialNumber = String((await shown("web")).status["serialNumber"])
    await testEngine.engine.pki("revoked").revocations.revoke({ serialNumber })
    await ask(crt, "web")
    await expect.poll(async () => (await shown("web")).status["revision"]).toBe(2)
    await wait(crt, "web", "Ready")
  })

  test("[F-K4] are revoked on deletion if configured, before their Certificate is removed", async () => {
    const { certificate, waitAll, secret, crt: shown, kubectl, issuer } = await setUp("deleted")
    await apply(
      issuer("other"),
      certificate("web", { revocationPolicy: { onDelete: true } }),
      certificate("left", { issuerRef: { name: "other" }, revocationPolicy: { onDelete: true } }),
      certificate("plain"),
    )
    await waitAll(crt, ["web", "left", "plain"])
    const [web, plain] = [await shown("web"), await shown("plain")]
    const webSecret = await secret("web-tls")
    expect(web.metadata.finalizers).toEqual(["chancery.dev/revoke"])
    expect(plain.metadata.finalizers).toBeUndefined()
    // A paused certificate is deleted and revoked too.
    await actor("deleted").annotate("web", "chancery.dev/paused=true")
    await kubectl(["delete", crt, "web", "plain", "-n", "deleted", "--timeout=60s"])
    const { certificates, crls } = testEngine.engine.pki("deleted")
    expect((await certificates.get(String(web.status["serialNumber"]))).revokedAt).not.toBeNull()
    expect((await certificates.get(String(plain.status["serialNumber"]))).revokedAt).toBeNull()
    const crl = writePem("X509 CRL", (await crls.get())!.der)
    const files = { "chain.pem": text(webSecret, "tls.crt"), "ca.pem": text(webSecret, "ca.crt"), "crl.pem": crl }
    expect(() =>
      openssl(["verify", "-crl_check", "-CAfile", "ca.pem", "-CRLfile", "crl.pem", "chain.pem"], files),
    ).toThrow(/revoked/)

    // The status has everything that a revocation needs.
    const left = String((await shown("left")).status["serialNumber"])
    await kubectl(["delete", "issuers.chancery.dev", "other", "-n", "deleted"])
    await kubectl(["delete", crt, "left", "-n", "deleted", "--timeout=60s"])
    expect((await certificates.get(left)).revokedAt).not.toBeNull()
  })

  test("of an authority that changes are reissued after half of the overlap, while both authorities are published", async () => {
    const { certificate, wait, crt: shown, secret, ask, issuer } = await setUp("rotation")
    await apply(
      issuer("ca", { caChainConfigMap: "chain" }),
      certificate("web", { trust: { publishTo: { configMapName: "trust" }, overlap: "24h" } }),
    )
    await wait(crt, "web", "Ready")
    const bundle = async (name = "trust") => (await actor("rotation").shown("configmap", name)).data?.["ca.crt"] ?? ""
    const count = (pem: string) => pem.split("BEGIN CERTIFICATE").length - 1
    const [before, webSecret] = [await bundle(), await secret("web-tls")]
    expect(count(before)).toBe(1)
    expect(before).toBe(text(webSecret, "ca.crt"))
    const status = async () => (await actor("rotation").shown("issuers.chancery.dev", "ca")).status
    const { caFingerprint } = await status()

    const pki = testEngine.engine.pki("rotation")
    const next = await pki.issuers.generateRoot({ commonName: "next root", keyType: "ec", ttlMs: 3_000 * dayMs })
    await pki.settings.changeIssuers({ default: next.issuerId })
    await ask("issuers.chancery.dev", "ca")
    await expect.poll(async () => (await status())["caFingerprint"]).not.toBe(caFingerprint)
    await expect.poll(async () => count(await bundle())).toBe(2)
    expect(await bundle()).toContain(writePem("CERTIFICATE", next.certificate))
    await expect.poll(async () => count(await bundle("chain"))).toBe(1)
    expect(await bundle("chain")).toContain(writePem("CERTIFICATE", next.certificate))
    expect((await secret("web-tls")).metadata.resourceVersion).toBe(webSecret.metadata.resourceVersion)
    expect(reasons(await shown("web"))).toContain("TrustPublished=True AuthoritiesOverlap")

    putForward(13 * hourMs)
    await ask(crt, "web")
    await expect.poll(async () => (await shown("web")).status["revision"]).toBe(2)
    expect(text(await secret("web-tls"), "ca.crt")).toBe(`${writePem("CERTIFICATE", next.certificate)}\n`)
    expect(count(await bundle())).toBe(2)
    putForward(12 * hourMs)
    await ask(crt, "web")
    await expect.poll(async () => count(await bundle())).toBe(1)
    expect(await bundle()).toBe(`${writePem("CERTIFICATE", next.certificate)}\n`)
  })
})
