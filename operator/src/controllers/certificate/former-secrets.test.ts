import { describe, expect, test } from "vitest"
import { certificate } from "../../api/certificate.ts"
import { type KubernetesObject, secrets } from "../../kube/kubernetes-object.ts"
import { forbidden, openCertificate } from "../../../testing/certificate-fixture.ts"
import { storedIn } from "./stored-certificate.ts"

const hourMs = 3_600_000
const dayMs = 24 * hourMs

type Opened = Awaited<ReturnType<typeof openCertificate>>
const secretNamed = (one: Opened, name: string): KubernetesObject | undefined =>
  one.storeOf(secrets).get(`team/${name}`)
function serialIn(one: Opened, name: string): string | undefined {
  const stored = storedIn(secretNamed(one, name))
  return stored.is === "whole" ? stored.serialNumber : undefined
}
const formers = ({ status }: Opened) => (status.formerSecrets ?? []).map(({ name }) => name)
const statuses = async (one: Opened) =>
  Object.fromEntries((await one.issued()).map(({ serialNumber, status }) => [serialNumber, status]))

describe("a change of secretName", () => {
  test.each([{ restarts: false }, { restarts: true }])(
    "writes the same certificate to the new Secret, and leaves the former one unchanged (restart: $restarts)",
    async ({ restarts }) => {
      await using one = await openCertificate({})
      await one.look()
      const former = one.secret()
      one.edit({ secretName: "other" })
      if (restarts) one.restart()
      await one.look()
      expect(one.conditions()).toEqual(["Ready=True Issued"])
      expect(secretNamed(one, "other")?.["data"]).toEqual(former?.["data"])
      expect(one.secret()).toBe(former)
      expect(await one.issued()).toHaveLength(1)
      expect(one.status.secretName).toBe("other")
      expect(one.status.formerSecrets).toEqual([
        {
          name: "tls",
          serialNumber: one.status.serialNumber,
          notAfter: one.status.notAfter,
          since: "2026-01-01T00:00:00Z",
        },
      ])
    },
  )

  test("deletes the former Secret when its certificate expires", async () => {
    await using one = await openCertificate({ duration: "72h" })
    await one.look()
    const expiry = Date.parse(one.status.notAfter ?? "")
    one.edit({ secretName: "other" })
    await one.lookFor(expiry - one.now - 1_000)
    expect(serialIn(one, "other")).not.toBe(serialIn(one, "tls"))
    expect(formers(one)).toEqual(["tls"])
    await one.lookFor(2_000)
    await one.look()
    expect(secretNamed(one, "tls")).toBeUndefined()
    expect(formers(one)).toEqual([])
    expect(one.conditions()).toEqual(["Ready=True Issued"])
  })

  test("revokes a replaced certificate a day later with onRotation, and deletes the former Secret then", async () => {
    await using one = await openCertificate({ revocationPolicy: { onRotation: true } })
    await one.look()
    const former = one.status.serialNumber ?? ""
    one.edit({ secretName: "other", dnsNames: ["api.example.com"] })
    await one.look()
    expect(serialIn(one, "tls")).toBe(former)
    expect(serialIn(one, "other")).not.toBe(former)
    await one.lookFor(dayMs - 1_000)
    expect((await statuses(one))[former]).toBe("valid")
    expect(serialIn(one, "tls")).toBe(former)
    await one.lookFor(2_000)
    await one.look()
    expect((await statuses(one))[former]).toBe("revoked")
    expect(secretNamed(one, "tls")).toBeUndefined()
    expect((await statuses(one))[one.status.serialNumber ?? ""]).toBe("valid")
  })

  test("keeps both Secrets with onRotation while they contain the same certificate", async () => {
    await using one = await openCertificate({ revocationPolicy: { onRotation: true } })
    await one.look()
    one.edit({ secretName: "other" })
    await one.lookFor(3 * dayMs)
    expect(serialIn(one, "tls")).toBe(one.status.serialNumber)
    expect(Object.values(await statuses(one))).toEqual(["valid"])
  })

  test("never deletes the former Secret with secretDeletionPolicy Retain", async () => {
    await using one = await openCertificate({ duration: "72h", secretDeletionPolicy: "Retain" })
    await one.look()
    one.edit({ secretName: "other" })
    await one.lookFor(4 * dayMs)
    expect(secretNamed(one, "tls")).toBeDefined()
    expect(formers(one)).toEqual([])
  })

  test.each<{ why: string; take: (one: Opened, former: KubernetesObject) => void }>([
    {
      why: "another Certificate names it",
      take: (one) =>
        void one.set(certificate, {
          metadata: { name: "api", namespace: "team", creationTimestamp: "2026-01-02T00:00:00Z" },
          spec: { secretName: "tls", issuerRef: { name: "ca" }, dnsNames: ["api.example.com"] },
        }),
    },
    {
      why: "another writer has taken it",
      take: (one, former) =>
        void one.set(secrets, {
          ...former,
          metadata: { ...former.metadata, annotations: { "chancery.dev/certificate-name": "api" } },
        }),
    },
    {
      why: "an earlier Certificate of the same name wrote it",
      take: (one, former) =>
        void one.set(secrets, {
          ...former,
          metadata: {
            ...former.metadata,
            annotations: { ...former.metadata.annotations, "chancery.dev/certificate-uid": "other" },
          },
        }),
    },
  ])("does not delete the former Secret when $why", async ({ take }) => {
    await using one = await openCertificate({ duration: "72h" })
    await one.look()
    one.edit({ secretName: "other" })
    await one.look()
    take(one, one.secret()!)
    await one.lookFor(4 * dayMs)
    expect(secretNamed(one, "tls")).toBeDefined()
    expect(formers(one)).toEqual([])
  })

  test("leaves the former Secret as it is when the API server rejects the new one", async () => {
    await using one = await openCertificate({})
    await one.look()
    const former = one.secret()
    one.reject((resource, { metadata }) =>
      resource === secrets && metadata.name === "other" ? forbidden("exceeded quota") : undefined,
    )
    one.edit({ secretName: "other" })
    await one.lookFor(hourMs)
    expect(one.conditions()).toContain("Stalled=True SecretRejected")
    expect(one.secret()).toBe(former)
    expect(one.status.secretName).toBe("tls")
    one.reject(() => undefined)
    one.restart()
    await one.lookFor(hourMs)
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(serialIn(one, "other")).toBe(serialIn(one, "tls"))
    expect(await one.issued()).toHaveLength(1)
  })

  test("uses a former Secret again when the spec returns to its name", async () => {
    await using one = await openCertificate({ revocationPolicy: { onRotation: true } })
    await one.look()
    for (const secretName of ["second", "third", "tls"]) {
      one.edit({ secretName })
      await one.look()
    }
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(formers(one)).toEqual(["third", "second"])
    await one.lookFor(2 * dayMs)
    expect(["tls", "second", "third"].map((name) => serialIn(one, name))).toEqual(
      Array.from({ length: 3 }, () => one.status.serialNumber),
    )
    expect(Object.values(await statuses(one))).toEqual(["valid"])
  })

  test("revokes the certificates of all Secrets when the Certificate is deleted with onDelete", async () => {
    await using one = await openCertificate({ revocationPolicy: { onRotation: true, onDelete: true } })
    await one.look()
    one.edit({ secretName: "other", dnsNames: ["api.example.com"] })
    await one.look()
    await one.finalize()
    expect(Object.values(await statuses(one))).toEqual(["revoked", "revoked"])
  })
})
