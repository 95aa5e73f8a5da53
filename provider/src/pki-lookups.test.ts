import { X509Certificate } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openEngine } from "@chancery/engine"
import { runtime } from "@pulumi/pulumi"
import { afterEach, beforeEach, expect, test } from "vitest"
import { getAcmeConfig, getEstConfig, getIssuer, getRole } from "./pki-lookups.ts"

let folder: string
let url: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "chancery-lookups-"))
  url = `sqlite:${join(folder, "engine.db")}`
  await using engine = await openEngine(url, { jobs: false })
  for (const path of ["pki", "team/pki"]) await engine.mounts.create({ path })
  await engine.pki("team/pki").roles.save("web", { ttlMs: 3_600_000, country: ["DE"] })
  const { issuers } = engine.pki("pki")
  await issuers.generateRoot({ commonName: "Root", issuerName: "root", keyType: "ec" })
  await issuers.update("root", { ocspServers: ["https://ocsp.example.com"] })
  runtime.setAllConfig({ "chancery:engineUrl": url })
})
afterEach(async () => {
  runtime.setAllConfig({})
  await rm(folder, { recursive: true })
})

test("a role is found by its name, with the property names of its resource", async () => {
  expect(await getRole({ mount: "team/pki", name: "web" })).toMatchObject({
    id: "team/pki/roles/web",
    mount: "team/pki",
    ttl: "1h",
    countries: ["DE"],
  })
  runtime.setAllConfig({ "chancery:engineUrl": url, "chancery:pkiMount": "team/pki" })
  expect(await getRole({ name: "web" })).toMatchObject({ id: "team/pki/roles/web" })
})

test("an issuer is found by its name, otherwise the default one, with its certificate and chain", async () => {
  const issuer = await getIssuer()
  expect(await getIssuer({ issuerRef: "root" })).toEqual(issuer)
  expect(issuer).toMatchObject({
    id: `pki/${issuer.issuerId}`,
    issuerName: "root",
    ocspServers: ["https://ocsp.example.com"],
    leafNotAfterBehavior: "err",
    revokedAt: null,
  })
  expect(new X509Certificate(issuer.certificate).subject).toBe("CN=Root")
  expect(issuer.caChain).toEqual([issuer.certificate])
})

test("the ACME settings of a mount are found, with the property names of their resource", async () => {
  expect(await getAcmeConfig({ mount: "team/pki" })).toMatchObject({
    id: "team/pki/config/acme",
    enabled: false,
    allowedRoles: ["*"],
    eabPolicy: "not-required",
    maxTtl: "0s",
  })
})

test("the EST settings of a mount are found, with the property names of their resource", async () => {
  expect(await getEstConfig({ mount: "team/pki" })).toMatchObject({
    id: "team/pki/config/est",
    enabled: false,
    labelToPathPolicy: {},
    authenticators: {},
    manualApproval: [],
  })
})

test("a missing resource is an error that names the mount", async () => {
  await expect(getRole({ name: "web" })).rejects.toThrow(/^role "web" of pki: .*\(404 not-found\)$/)
  await expect(getAcmeConfig({ mount: "none" })).rejects.toThrow(/^ACME of none: .*\(404 not-found\)$/)
  await expect(getEstConfig({ mount: "none" })).rejects.toThrow(/^EST of none: .*\(404 not-found\)$/)
  await expect(getIssuer({ mount: "none" })).rejects.toThrow(/^issuer "default" of none: .*\(404 not-found\)$/)
})
