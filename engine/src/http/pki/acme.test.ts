import { X509Certificate } from "node:crypto"
import { expect, onTestFinished, test } from "vitest"
import { AcmeTestClient } from "../../testing/acme-client.ts"
import { acmeCluster, newAcmeMount, openChallengeServer } from "../../testing/acme-mount.ts"
import { certificateRequest } from "../../testing/certificate-requests.ts"
import { subjectAltName } from "../../x509/extensions.ts"
import { openWorld, type World, type WorldOptions } from "../../testing/world.ts"

const base = `${acmeCluster}/acme`

async function newWorld(settings: object = {}, options: WorldOptions = {}): Promise<World> {
  const world = await openWorld(options)
  onTestFinished(() => world[Symbol.asyncDispose]())
  await newAcmeMount(world, settings)
  return world
}

test("an order becomes a certificate", async () => {
  const responder = await openChallengeServer()
  onTestFinished(() => responder[Symbol.asyncDispose]())
  const world = await newWorld(
    {},
    { acme: { httpPort: responder.port, permitted: { kinds: ["loopback"], ranges: [] } } },
  )
  const client = await AcmeTestClient.registered(world, base)
  const ordered = await client.post("/new-order", { identifiers: [{ type: "dns", value: "localhost" }] })
  expect(ordered).toMatchObject({ status: 201, body: { status: "pending" } })
  const authorization = await client.post(ordered.body.authorizations[0])
  expect(authorization.body.challenges.map(({ type }: { type: string }) => type).toSorted()).toEqual([
    "dns-01",
    "http-01",
    "tls-alpn-01",
  ])
  const challenge = authorization.body.challenges.find(({ type }: { type: string }) => type === "http-01")
  responder.answers.set(challenge.token, `${challenge.token}.${client.thumbprint}`)
  expect(await client.post(challenge.url, {})).toMatchObject({ status: 200, body: { status: "processing" } })
  await expect.poll(async () => (await client.post(ordered.headers.get("location") ?? "")).body.status).toBe("ready")
  const { csr } = await certificateRequest({
    extensions: [subjectAltName([{ kind: "dns", value: "localhost" }], { critical: true })],
  })
  const finalized = await client.post(ordered.body.finalize, { csr: derOf(csr).toString("base64url") })
  expect(finalized).toMatchObject({ status: 200, body: { status: "valid" } })
  const certificate = await client.post(finalized.body.certificate)
  expect(certificate.headers.get("content-type")).toBe("application/pem-certificate-chain")
  const leaf = new X509Certificate(certificate.body)
  expect(leaf.subjectAltName).toBe("DNS:localhost")
  const info = await client.get(`${base}/renewal-info/${leaf.serialNumber}`)
  expect(info.problem).toBe("malformed")
  const reused = await client.post("/new-order", { identifiers: [{ type: "dns", value: "localhost" }] })
  expect(reused.body.status).toBe("ready")
  expect(reused.body.authorizations).toEqual(ordered.body.authorizations)
  const revoked = await client.post("/revoke-cert", { certificate: leaf.raw.toString("base64url"), reason: 4 })
  expect(revoked.status).toBe(200)
  expect(await client.post("/revoke-cert", { certificate: leaf.raw.toString("base64url") })).toMatchObject({
    problem: "alreadyRevoked",
    status: 400,
  })
})

const derOf = (pem: string): Buffer => Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ""), "base64")
