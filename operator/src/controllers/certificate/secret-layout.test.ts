import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openssl } from "../../../../engine/testing/openssl.ts"
import { parseCertificate } from "@chancery/engine/x509"
import type { CertificateSpec } from "../../api/certificate.ts"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"
import { certificateSpec, issuingEngine, type IssuingEngine } from "../../../testing/issuing-engine.ts"
import { formatOf } from "./keystores.ts"
import { storedIn } from "./stored-certificate.ts"
import { isAsWanted, revisionIn, secretFor, writtenIn } from "./secret-layout.ts"

let issuer: IssuingEngine
beforeAll(async () => {
  issuer = await issuingEngine(2)
})
afterAll(() => issuer[Symbol.asyncDispose]())

const certificate: KubernetesObject = { metadata: { name: "web", namespace: "team", uid: "u-1" } }

const passwordsOf = (spec: CertificateSpec) => ({
  PKCS12: formatOf(spec, "PKCS12")?.password ?? "changeit",
  JKS: formatOf(spec, "JKS")?.password ?? "",
})

async function made(given: Readonly<Record<string, unknown>> = {}, present?: KubernetesObject) {
  const spec = certificateSpec(given)
  const stored = await issuer.issue(spec)
  const content = {
    certificate,
    spec,
    stored,
    role: "any",
    authority: "a1",
    revision: 3,
    renewRequest: "",
    passwords: passwordsOf(spec),
  }
  return { content, secret: await secretFor(content, present) }
}

const bytes = (secret: KubernetesObject, key: string): Buffer =>
  Buffer.from((secret["data"] as Record<string, string>)[key] ?? "", "base64")
const text = (secret: KubernetesObject, key: string) => bytes(secret, key).toString()
const count = (pem: string, label: string) => pem.split(`-----BEGIN ${label}-----`).length - 1

describe("the Secret of a certificate", () => {
  test("contains leaf and intermediate, the key, and the root separately, as OpenSSL reads them", async () => {
    const { secret } = await made()
    expect(Object.keys(secret["data"] as object)).toEqual(["tls.key", "tls.crt", "ca.crt"])
    expect(count(text(secret, "tls.crt"), "CERTIFICATE")).toBe(2)
    expect(count(text(secret, "ca.crt"), "CERTIFICATE")).toBe(1)
    const files = { "chain.pem": text(secret, "tls.crt"), "ca.pem": text(secret, "ca.crt") }
    const args = ["verify", "-x509_strict", "-CAfile", "ca.pem", "-untrusted", "chain.pem", "chain.pem"]
    expect(openssl(args, files)).toBe("chain.pem: OK\n")
    const publicKey = openssl(["pkey", "-in", "key.pem", "-pubout"], { "key.pem": text(secret, "tls.key") })
    expect(openssl(["x509", "-in", "chain.pem", "-noout", "-pubkey"], files)).toBe(publicKey)
  })

  test("has annotations with the owner and the content", async () => {
    const { secret, content } = await made({ secretTemplate: { labels: { app: "web" }, annotations: { note: "x" } } })
    expect(secret["type"]).toBe("kubernetes.io/tls")
    expect(secret.metadata).toMatchObject({
      name: "web-tls",
      namespace: "team",
      labels: {
        app: "web",
        "app.kubernetes.io/managed-by": "chancery-operator",
        "controller.chancery.dev/managed": "true",
      },
      annotations: {
        note: "x",
        "chancery.dev/certificate-name": "web",
        "chancery.dev/certificate-uid": "u-1",
        "chancery.dev/issuer-kind": "Issuer",
        "chancery.dev/issuer-name": "ca",
        "chancery.dev/serial-number": content.stored.serialNumber,
        "chancery.dev/revision": "3",
        "chancery.dev/common-name": "www.example.com",
        "chancery.dev/alt-names": "www.example.com",
      },
      ownerReferences: [{ kind: "Certificate", name: "web", uid: "u-1", controller: true }],
    })
    expect(writtenIn(secret)).toEqual({
      certificateName: "web",
      issuerGroup: "chancery.dev",
      issuerKind: "Issuer",
      issuerName: "ca",
      role: "any",
      authority: "a1",
    })
    expect(revisionIn(secret)).toBe(3)
  })

  test.each<{ algorithm: string; encoding: string; label: string }>([
    { algorithm: "ECDSA", encoding: "PKCS8", label: "PRIVATE KEY" },
    { algorithm: "ECDSA", encoding: "PKCS1", label: "EC PRIVATE KEY" },
    { algorithm: "RSA", encoding: "PKCS8", label: "PRIVATE KEY" },
    { algorithm: "RSA", encoding: "PKCS1", label: "RSA PRIVATE KEY" },
    { algorithm: "Ed25519", encoding: "PKCS8", label: "PRIVATE KEY" },
  ])("has an $algorithm key in $encoding as $label", async ({ algorithm, encoding, label }) => {
    const { secret } = await made({ privateKey: { algorithm, encoding } })
    expect(text(secret, "tls.key")).toMatch(new RegExp(`^-----BEGIN ${label}-----\n`))
    expect(storedIn(secret).is).toBe("whole")
  })

  test("has the requested additional formats, which OpenSSL reads", async () => {
    const additionalOutputFormats = [
      { type: "DER" },
      { type: "CombinedPEM" },
      { type: "FullChain" },
      { type: "PKCS12", password: "hunter2" },
    ]
    const { secret } = await made({ additionalOutputFormats })
    const publicKey = openssl(["pkey", "-in", "key.pem", "-pubout"], { "key.pem": text(secret, "tls.key") })
    const der = openssl(["pkey", "-inform", "DER", "-in", "key.der", "-pubout"], {
      "key.der": bytes(secret, "key.der"),
    })
    expect(der).toBe(publicKey)
    const combined = text(secret, "tls-combined.pem")
    expect(combined).toBe(`${text(secret, "tls.key")}\n${text(secret, "tls.crt")}`)
    expect(count(text(secret, "fullchain.pem"), "CERTIFICATE")).toBe(3)
    const store = (name: string, ...args: string[]) =>
      openssl(["pkcs12", "-in", name, "-passin", "pass:hunter2", "-nodes", ...args], { [name]: bytes(secret, name) })
    expect(count(store("keystore.p12"), "CERTIFICATE")).toBe(2)
    expect(count(store("keystore.p12"), "PRIVATE KEY")).toBe(1)
    expect(count(store("truststore.p12"), "CERTIFICATE")).toBe(1)
    expect(store("truststore.p12")).toMatch(/CN ?= ?Example Root/)
  })

  test("keeps its PKCS #12 stores while their content is unchanged", async () => {
    const additionalOutputFormats = [{ type: "PKCS12" }]
    const { secret, content } = await made({ additionalOutputFormats })
    const again = await secretFor(content, secret)
    expect(again["data"]).toEqual(secret["data"])
    const spec = certificateSpec({ additionalOutputFormats: [{ type: "PKCS12", password: "another" }] })
    const other = await secretFor({ ...content, spec, passwords: passwordsOf(spec) }, secret)
    expect(bytes(other, "keystore.p12").equals(bytes(secret, "keystore.p12"))).toBe(false)
  })

  test("has the same JKS stores each time, and others for another password or alias", async () => {
    const store = (more: object) => certificateSpec({ additionalOutputFormats: [{ type: "JKS", ...more }] })
    const { content } = await made({ additionalOutputFormats: [{ type: "JKS", password: "changeit" }] })
    const written = async (spec: CertificateSpec) =>
      (await secretFor({ ...content, spec, passwords: passwordsOf(spec) }, undefined))["data"] as Record<string, string>
    const first = await written(store({ password: "changeit" }))
    expect(Object.keys(first)).toEqual(["tls.key", "tls.crt", "ca.crt", "keystore.jks", "truststore.jks"])
    expect(await written(store({ password: "changeit" }))).toEqual(first)
    const [password, alias] = [
      await written(store({ password: "another" })),
      await written(store({ password: "changeit", alias: "web" })),
    ]
    expect(new Set([first, password, alias].map((data) => data["keystore.jks"])).size).toBe(3)
    expect(password["truststore.jks"]).not.toBe(first["truststore.jks"])
    expect(alias["truststore.jks"]).toBe(first["truststore.jks"])
  })

  test("has no digest of a password that can be computed without the private key", async () => {
    const additionalOutputFormats = [{ type: "PKCS12", password: "hunter2" }]
    const [one, other] = [await made({ additionalOutputFormats }), await made({ additionalOutputFormats })]
    const spec = certificateSpec({ additionalOutputFormats })
    const stored = { ...one.content.stored, privateKey: other.content.stored.privateKey }
    const exchanged = await secretFor({ ...one.content, spec, stored }, undefined)
    const digest = ({ metadata }: KubernetesObject) => metadata.annotations?.["chancery.dev/keystores"]
    expect(digest(exchanged)).toMatch(/^[0-9a-f]{64}$/)
    expect(digest(exchanged)).not.toBe(digest(one.secret))
  })

  test("keeps its type, and is applied with its uid", async () => {
    const present: KubernetesObject = { metadata: { name: "web-tls", uid: "s-1" }, type: "Opaque" }
    const { secret } = await made({ secretDeletionPolicy: "Retain" }, present)
    expect(secret["type"]).toBe("Opaque")
    expect(secret.metadata.uid).toBe("s-1")
    expect(secret.metadata["ownerReferences"]).toBeUndefined()
  })

  test.each<{ why: string; change: (secret: KubernetesObject) => KubernetesObject | undefined; is: boolean }>([
    { why: "it is as it was written", change: (secret) => secret, is: true },
    {
      why: "others have added to it",
      change: (secret) => ({
        ...secret,
        metadata: { ...secret.metadata, labels: { ...secret.metadata.labels, theirs: "1" } },
        data: { ...(secret["data"] as object), "theirs.txt": "eA==" },
      }),
      is: true,
    },
    {
      why: "another depends on something of theirs as well",
      change: (secret) => {
        const { ownerReferences = [] } = secret.metadata as { readonly ownerReferences?: readonly object[] }
        const theirs = { apiVersion: "v1", kind: "ConfigMap", name: "theirs", uid: "c-1" }
        return { ...secret, metadata: { ...secret.metadata, ownerReferences: [...ownerReferences, theirs] } }
      },
      is: true,
    },
    { why: "it is not there", change: () => undefined, is: false },
    {
      why: "a label of the operator was removed",
      change: (secret) => ({ ...secret, metadata: { ...secret.metadata, labels: {} } }),
      is: false,
    },
    {
      why: "it has a format that the spec no longer has",
      change: (secret) => ({ ...secret, data: { ...(secret["data"] as object), "key.der": "eA==" } }),
      is: false,
    },
    {
      why: "its owner reference was removed",
      change: (secret) => ({ ...secret, metadata: { ...secret.metadata, ownerReferences: [] } }),
      is: false,
    },
  ])("is up to date if $why: $is", async ({ change, is }) => {
    const { secret } = await made()
    expect(isAsWanted(secret, change(secret))).toBe(is)
  })

  test.each([
    { why: "no key", data: { "tls.crt": "eA==" }, is: { is: "incomplete", problem: "has no value for tls.key" } },
    {
      why: "no certificate",
      data: { "tls.key": "eA==" },
      is: { is: "incomplete", problem: "has no value for tls.crt" },
    },
    {
      why: "no PEM",
      data: { "tls.key": "eA==", "tls.crt": "eA==" },
      is: { is: "incomplete", problem: "has an unreadable value for tls.key" },
    },
  ])("contains no certificate with $why", ({ data, is }) => {
    expect(storedIn({ metadata: { name: "tls" }, data })).toEqual(is)
  })

  test("is mismatched if the key of another certificate is written to it", async () => {
    const [one, other] = [await made(), await made()]
    const mixed = {
      ...one.secret,
      data: {
        ...(one.secret["data"] as object),
        "tls.key": (other.secret["data"] as Record<string, string>)["tls.key"],
      },
    }
    expect(storedIn(mixed)).toEqual({ is: "mismatched" })
    const stored = storedIn(one.secret)
    expect(stored.is === "whole" && parseCertificate(stored.chain[0]!).serialNumber).toEqual(
      one.content.stored.leaf.serialNumber,
    )
  })
})
