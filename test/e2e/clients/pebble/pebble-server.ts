// Runs Pebble, the ACME server that client authors test against, without its deliberate faults: no sleeps and no randomly rejected nonces.
import { spawn } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { openssl } from "../../../../engine/testing/openssl.ts"
import { freePort } from "../../../free-port.ts"
import { type AcmeFixture, end, listening, responderHost } from "../acme-fixture.ts"

export interface PebbleServer extends AsyncDisposable {
  readonly directory: string
  /** PEM of its own certificate, which is self-signed. */
  readonly root: string
}

/** External account binding by its key identifier; the key is base64url. */
export const pebbleBinding = { id: "kid-1", key: "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W" }

/** Starts Pebble. It validates against the same responder as the fixture's engine. */
export async function startPebble(
  program: string,
  { folder, responder }: Pick<AcmeFixture, "folder" | "responder">,
): Promise<PebbleServer> {
  const port = await freePort()
  const pem = openssl([
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "-"],
    ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"],
  ])
  const [root = ""] = /-----BEGIN CERTIFICATE-----[^]+/.exec(pem) ?? []
  const [certificate, privateKey, config] = ["pebble.pem", "pebble-key.pem", "pebble.json"].map((name) =>
    join(folder, name),
  ) as [string, string, string]
  await writeFile(certificate, root)
  await writeFile(privateKey, pem.slice(0, pem.indexOf(root)))
  const { httpPort, tlsPort, dnsPort } = responder
  const pebble = {
    listenAddress: `${responderHost}:${port}`,
    certificate,
    privateKey,
    httpPort,
    tlsPort,
    ocspResponderURL: "",
    externalAccountBindingRequired: false,
    externalAccountMACKeys: { [pebbleBinding.id]: pebbleBinding.key },
  }
  await writeFile(config, JSON.stringify({ pebble }))
  const child = spawn(program, ["-config", config, "-dnsserver", `${responderHost}:${dnsPort}`, "-strict"], {
    stdio: "ignore",
    env: {
      PATH: process.env["PATH"],
      PEBBLE_VA_NOSLEEP: "1",
      PEBBLE_WFE_NONCEREJECT: "0",
      PEBBLE_AUTHZREUSE: "100",
      PEBBLE_ALTERNATE_ROOTS: "1",
      PEBBLE_WFE_ORDERS_PER_PAGE: "100",
    },
  })
  try {
    await listening(port, child)
  } catch (error) {
    await end(child)
    throw error
  }
  return {
    directory: `https://localhost:${port}/dir`,
    root,
    [Symbol.asyncDispose]: () => end(child),
  }
}
