// Test engines with a mount that serves ACME, and orders on them.
import { X509Certificate } from "node:crypto"
import { expect, onTestFinished } from "vitest"
import { subjectAltName } from "../src/x509/extensions.ts"
import type { GeneralName } from "../src/x509/general-name.ts"
import type { AcmeTestClient } from "./acme-client.ts"
import { newAcmeMount, openChallengeServer } from "./acme-mount.ts"
import { certificateRequest } from "./certificate-requests.ts"
import { systemRuntime } from "../src/core/runtime.ts"
import { openTestEngine, type TestEngine, type TestEngineOptions } from "./test-engine.ts"

interface Setup {
  readonly settings?: object
  readonly role?: object
  readonly options?: TestEngineOptions
}

export async function newAcmeEngine({ settings = {}, role = {}, options = {} }: Setup = {}): Promise<TestEngine> {
  const testEngine = await openTestEngine(options)
  onTestFinished(() => testEngine[Symbol.asyncDispose]())
  await newAcmeMount(testEngine, settings, role)
  return testEngine
}

/** Creates a test engine and a local server that answers the challenges for `localhost`. */
export async function newProvingEngine(setup: Setup = {}) {
  const responder = await openChallengeServer()
  onTestFinished(() => responder[Symbol.asyncDispose]())
  const acme = { httpPort: responder.port, permitted: { kinds: ["loopback"], ranges: [] } } as const
  const testEngine = await newAcmeEngine({
    ...setup,
    options: { ...setup.options, acme: { ...acme, ...setup.options?.acme } },
  })
  return { world: testEngine, responder }
}

const derOf = (pem: string): Buffer => Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ""), "base64")

export async function csrFor(
  names: readonly string[],
  more: Parameters<typeof certificateRequest>[0] = {},
): Promise<string> {
  const alternative = names.map((value): GeneralName => ({ kind: "dns", value }))
  const extensions = [
    ...(names.length === 0 ? [] : [subjectAltName(alternative, { critical: false })]),
    ...(more.extensions ?? []),
  ]
  const { csr } = await certificateRequest({ ...more, extensions })
  return derOf(csr).toString("base64url")
}

export const localhost = { type: "dns", value: "localhost" }

/** Creates an order for `localhost` and proves its identifier, so that it can be finalized. */
export async function readyOrder(
  client: AcmeTestClient,
  responder: { answers: Map<string, string> },
  order: object = {},
) {
  const ordered = await client.post("/new-order", { identifiers: [localhost], ...order })
  if (ordered.status !== 201) throw new Error(JSON.stringify(ordered.body))
  const url = ordered.headers.get("location") ?? ""
  const authorization = await client.post(ordered.body.authorizations[0])
  if (authorization.body.status === "pending") {
    const challenge = authorization.body.challenges.find(({ type }: { type: string }) => type === "http-01")
    responder.answers.set(challenge.token, `${challenge.token}.${client.thumbprint}`)
    await client.post(challenge.url, {})
  }
  await expect.poll(async () => (await client.post(url)).body.status, { timeout: 10_000 }).toBe("ready")
  return { url, ...ordered.body } as { url: string; finalize: string; authorizations: string[] }
}

/** Issues a certificate for `localhost` over ACME, and downloads it. */
export async function issued(client: AcmeTestClient, responder: { answers: Map<string, string> }, order: object = {}) {
  const { finalize, url } = await readyOrder(client, responder, order)
  let finalized = await client.post(finalize, { csr: await csrFor(["localhost"]) })
  const status = async () => {
    // On a busy machine the answer may arrive before the certificate is issued.
    if (finalized.body.status === "processing") finalized = await client.post(url)
    return finalized.body.status
  }
  await expect.poll(status, { timeout: 10_000 }).toBe("valid")
  expect(finalized.status).toBe(200)
  const downloaded = await client.post(finalized.body.certificate)
  return { leaf: new X509Certificate(downloaded.body), downloaded, url, finalized }
}

/** Returns a runtime and timers in which a minute takes a second, so that retries end soon. */
export function hurriedTime(): Pick<TestEngineOptions, "runtime" | "timers"> {
  const runtime = systemRuntime()
  const start = runtime.clock.now()
  return {
    runtime: { ...runtime, clock: { now: () => start + (runtime.clock.now() - start) * hurry } },
    timers: {
      after(delayMs, work) {
        const timer = setTimeout(work, delayMs / hurry)
        return () => clearTimeout(timer)
      },
    },
  }
}

const hurry = 60

/**
 * Returns the certificate identifier of RFC 9773, section 4.1. Node returns the authority key identifier as text, so the DER is searched.
 */
export function renewalIdOf(leaf: X509Certificate): string {
  const prefix = Buffer.from("0603551d23041830168014", "hex")
  const at = leaf.raw.indexOf(prefix) + prefix.length
  const magnitude = Buffer.from(leaf.serialNumber, "hex")
  // DER adds a zero byte before a magnitude whose first bit is set.
  const serialNumber = (magnitude[0] ?? 0) < 0x80 ? magnitude : Buffer.concat([Buffer.of(0), magnitude])
  return `${leaf.raw.subarray(at, at + 20).toString("base64url")}.${serialNumber.toString("base64url")}`
}
