// A Certificate whose Secret changes its name, as workloads see it: every version of both Secrets is watched, and each contains a usable
// pair of key and certificate.
import { describe, expect, test } from "vitest"
import { storedIn } from "../../../operator/src/controllers/certificate/stored-certificate.ts"
import { ObjectStore } from "../../../operator/src/kube/object-store.ts"
import {
  aheadMs,
  apply,
  crt,
  followSecrets,
  hourMs,
  programs,
  putForward,
  setUp,
  testEngine,
  useCertificateFixture,
} from "./certificates-fixture.ts"

/** Certificate in one version of a Secret, or the reason why workloads cannot use it. */
interface SecretVersion {
  readonly name: string
  readonly serial: string
}

describe.skipIf(programs === undefined)("Secrets of a Certificate in a cluster", () => {
  useCertificateFixture()

  test("are usable at every moment when secretName changes, also together with the names", async () => {
    const namespace = "moves"
    const { certificate, wait, crt: shown, ask } = await setUp(namespace)
    const revocationPolicy = { onRotation: true }
    await apply(certificate("web", { revocationPolicy }))
    await wait(crt, "web", "Ready")
    const serialOf = async () => String((await shown("web")).status["serialNumber"])
    const first = await serialOf()

    const versions: SecretVersion[] = []
    const store = new ObjectStore()
    await using watching = new AsyncDisposableStack()
    const following = followSecrets(namespace, store, (key) => {
      const stored = storedIn(store.get(key))
      const now = Date.now() + aheadMs
      const isValid = stored.is === "whole" && stored.leaf.notBefore <= now && now < stored.leaf.notAfter
      versions.push({ name: key.slice(namespace.length + 1), serial: isValid ? stored.serialNumber : stored.is })
    })
    watching.defer(() => following.stop())
    await following.whenSynced()
    const seen = (name: string) =>
      new Set(versions.filter((version) => version.name === name).map(({ serial }) => serial))
    const isRevoked = async (serial: string) =>
      (await testEngine.engine.pki(namespace).certificates.get(serial)).revokedAt !== null

    await apply(certificate("web", { revocationPolicy, secretName: "second" }))
    await expect.poll(() => store.get(`${namespace}/second`) !== undefined).toBe(true)
    await expect.poll(async () => (await shown("web")).status["secretName"]).toBe("second")
    expect(await serialOf()).toBe(first)

    await apply(certificate("web", { revocationPolicy, secretName: "third", dnsNames: ["api.example.com"] }))
    await expect.poll(async () => (await shown("web")).status["secretName"]).toBe("third")
    const next = await serialOf()
    expect(next).not.toBe(first)
    expect((await shown("web")).status["formerSecrets"]).toMatchObject([{ name: "second" }, { name: "web-tls" }])
    // Each Secret that a workload may still read contains one whole, valid certificate that is not revoked.
    expect([seen("web-tls"), seen("second"), seen("third")]).toEqual([
      new Set([first]),
      new Set([first]),
      new Set([next]),
    ])
    expect(await isRevoked(first)).toBe(false)

    putForward(25 * hourMs)
    await ask(crt, "web")
    await expect.poll(() => isRevoked(first)).toBe(true)
    await expect.poll(() => [...store.keys()]).toEqual([`${namespace}/third`])
    expect(await isRevoked(next)).toBe(false)
    expect(seen("third")).toEqual(new Set([next]))
    // The last event of the others is their deletion.
    expect([seen("web-tls"), seen("second")]).toEqual([new Set([first, "missing"]), new Set([first, "missing"])])
    const order = versions.map(({ name, serial }) => `${name} ${serial}`)
    expect(order.indexOf(`third ${next}`)).toBeLessThan(order.indexOf("web-tls missing"))
  })
})
