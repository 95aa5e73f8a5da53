// Processor time of the server for complete ACME orders, from creation to certificate with one http-01 challenge each, relative to Pebble,
// which stores everything in memory. Also checks that memory does not grow with the number of past orders. The server has one core to
// itself, and its client the other. ACME_ORDERS overrides the number of orders at the end.
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Agent } from "undici"
import { openssl } from "../../engine/testing/openssl.ts"
import { freePort } from "../free-port.ts"
import { challengeResponder, pebble } from "../toolchain/acme.ts"
import { AcmeOrders, csrFor, respond, serveAcme } from "./acme-orders.ts"
import { main } from "./chancery.ts"
import { median, report, target } from "./figures.ts"

const rounds = 5
const ordersPerRound = 300
/** During the first thousands, our runtime still compiles frequently used code. */
const warmUpOrders = 4_000
/** Concurrent orders. */
const inFlight = 64
/** Attempts to reach a server, one every 25 ms. */
const maxAttempts = 2_400
const manyOrders = Number(process.env["ACME_ORDERS"] ?? 100_000)
const fewOrders = manyOrders / 10

const [pebbleProgram, dnsProgram] = [await pebble.find(), await challengeResponder.find()]
if (pebbleProgram === undefined || dnsProgram === undefined) throw new Error(pebble.advice)
execFileSync("taskset", ["-a", "-p", "-c", "1", String(process.pid)], { stdio: "ignore" })

await using opened = new AsyncDisposableStack()
const folder = await mkdtemp(join(tmpdir(), "chancery-bench-"))
opened.defer(() => rm(folder, { recursive: true, force: true }))
let thumbprint = ""
const responder = opened.use(await respond(() => thumbprint))
// Both use HTTP/1.1, because our server has no HTTP/2. With HTTP/2, Pebble takes 1 % more, and requests to it can remain unanswered.
const dispatcher = new Agent({ connections: inFlight, allowH2: false, connect: { rejectUnauthorized: false } })
opened.defer(() => dispatcher.destroy())
const dns = `127.0.0.1:${await freePort()}`
const management = `127.0.0.1:${await freePort()}`
run(dnsProgram, [
  "-http01",
  "",
  "-https01",
  "",
  "-tlsalpn01",
  "",
  "-dns01",
  dns,
  "-management",
  management,
  "-defaultIPv6",
  "",
])
const identity = await selfSigned()

interface Served {
  readonly process: ChildProcess
  readonly orders: AcmeOrders
}

const ours = await startOurs()
const theirs = await startPebble(pebbleProgram)

let ordered = 0
await complete(ours, warmUpOrders)
await complete(theirs, warmUpOrders)
// Pebble's cost of an order grows with the number of its past orders.
target(`an order / Pebble's, after ${warmUpOrders} orders each, processor time`, await costBesidePebble(), {
  atMost: 0.5,
})

const made = warmUpOrders + rounds * ordersPerRound
const madeByFew = Math.max(made, fewOrders)
await complete(ours, madeByFew - made)
await complete(theirs, madeByFew - made)
const few = memoryMiB(ours)
target(`an order / Pebble's, after ${madeByFew} orders each, processor time`, await costBesidePebble(), { atMost: 0.5 })

await complete(ours, Math.max(0, manyOrders - madeByFew - rounds * ordersPerRound))
const many = memoryMiB(ours)
report(`memory after ${madeByFew} orders`, few, "MiB")
report(`memory after ${manyOrders} orders`, many, "MiB")
target("memory after ten times the orders, ratio", many / few, { atMost: 1.2 })

async function costBesidePebble(): Promise<number> {
  const figures: { ours: number; theirs: number }[] = []
  for (let round = 0; round < rounds; round += 1)
    figures.push({ ours: await cost(ours, ordersPerRound), theirs: await cost(theirs, ordersPerRound) })
  report("an order, processor time of the server", median(figures.map((figure) => figure.ours)), "ms")
  report("  Pebble", median(figures.map((figure) => figure.theirs)), "ms")
  return median(figures.map((figure) => figure.ours / figure.theirs))
}

async function complete({ orders }: Served, count: number): Promise<void> {
  ;({ thumbprint } = orders)
  let left = count
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left > 0) {
        left -= 1
        ordered += 1
        const identifier = { type: "dns", value: `n${ordered}.example.com` } as const
        await orders.complete(identifier, await csrFor(identifier))
      }
    }),
  )
}

/** Returns the server's processor time for each order in ms. */
async function cost(served: Served, count: number): Promise<number> {
  const before = processorMs(served)
  await complete(served, count)
  return (processorMs(served) - before) / count
}

async function startOurs(): Promise<Served> {
  const env = { ...process.env, CHANCERY_DATA: join(folder, "data") }
  const { token } = JSON.parse(
    execFileSync(process.execPath, [main, "token", "create", "--user", "root", "--json"], { env, encoding: "utf8" }),
  ) as { token: string }
  const [port, tlsPort] = [await freePort(), await freePort()]
  const child = run(
    process.execPath,
    [
      ...[
        ...(process.env["ACME_PROFILE"] === undefined
          ? []
          : ["--cpu-prof", "--cpu-prof-dir", process.env["ACME_PROFILE"]]),
      ],
      ...[main, "serve", "--listen", `127.0.0.1:${port}`, "--tls-listen", `127.0.0.1:${tlsPort}`],
      ...["--tls-cert", identity.certificate, "--tls-key", identity.privateKey, "--access-log", "off"],
      ...["--rate-limit", "off", "--log-level", "warn", "--acme-http-port", String(responder.port)],
      ...["--acme-challenge-ranges", "127.0.0.0/8"],
    ],
    env,
  )
  await answering(`http://127.0.0.1:${port}/readyz`)
  const cluster = `https://localhost:${tlsPort}/v1/pki`
  await serveAcme(
    cluster,
    async (path, document) => {
      const { statusCode, body } = await dispatcher.request({
        origin: `http://127.0.0.1:${port}`,
        path: `/v1${path}`,
        method: "POST",
        headers: { "x-service-token": token, "content-type": "application/json" },
        body: JSON.stringify(document),
      })
      const text = await body.text()
      if (statusCode >= 300) throw new Error(`${path} answers ${statusCode}: ${text}`)
    },
    { dns_resolver: dns, orders_per_account: 0 },
  )
  return { process: child, orders: await AcmeOrders.registered({ directory: `${cluster}/acme/directory`, dispatcher }) }
}

async function startPebble(program: string): Promise<Served> {
  const port = await freePort()
  const config = join(folder, "pebble.json")
  const settings = {
    listenAddress: `127.0.0.1:${port}`,
    ...identity,
    httpPort: responder.port,
    tlsPort: await freePort(),
    ocspResponderURL: "",
    externalAccountBindingRequired: false,
  }
  await writeFile(config, JSON.stringify({ pebble: settings }))
  const child = run(program, ["-config", config, "-dnsserver", dns], {
    PATH: process.env["PATH"],
    PEBBLE_VA_NOSLEEP: "1",
    PEBBLE_WFE_NONCEREJECT: "0",
    PEBBLE_AUTHZREUSE: "0",
  })
  const directory = `https://localhost:${port}/dir`
  await answering(directory)
  return { process: child, orders: await AcmeOrders.registered({ directory, dispatcher }) }
}

/** Runs a program on the first core; this process uses the second. */
function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): ChildProcess {
  const child = spawn("taskset", ["-c", "0", program, ...args], { env, stdio: ["ignore", "ignore", "inherit"] })
  opened.defer(async () => {
    if (child.exitCode !== null) return
    const ended = once(child, "exit")
    child.kill("SIGTERM")
    await ended
  })
  return child
}

async function answering(url: string): Promise<void> {
  const { origin, pathname } = new URL(url)
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    try {
      const { statusCode, body } = await dispatcher.request({ origin, path: pathname, method: "GET" })
      await body.dump()
      if (statusCode === 200) return
    } catch {
      // Not listening yet.
    }
    await sleep(25)
  }
  throw new Error(`nothing answers at ${url}`)
}

async function selfSigned() {
  const pem = openssl([
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "-"],
    ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"],
  ])
  const [text = ""] = /-----BEGIN CERTIFICATE-----[^]+/.exec(pem) ?? []
  const [certificate, privateKey] = [join(folder, "server.pem"), join(folder, "server-key.pem")]
  await writeFile(certificate, text)
  await writeFile(privateKey, pem.slice(0, pem.indexOf(text)), { mode: 0o600 })
  return { certificate, privateKey }
}

function procFile({ process: { pid } }: Served, file: string): string {
  return readFileSync(`/proc/${pid}/${file}`, "utf8")
}

/** Returns the processor time of all threads (proc(5): in ticks of 10 ms). */
function processorMs(served: Served): number {
  const fields = procFile(served, "stat").split(") ")[1]?.split(" ") ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function memoryMiB(served: Served): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(procFile(served, "status"))?.[1]) / 1024
}
