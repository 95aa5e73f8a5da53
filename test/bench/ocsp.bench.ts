// OCSP over HTTP. Cached answers are compared with a handler that only reads the same request. Answers that are signed for each request,
// with the audit log, are compared with the signature alone.
import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { median, report } from "./figures.ts"
import { measureLoad } from "./load.ts"
import { type RawOperation, rawRate } from "./raw-keys.ts"

const rounds = 5
const seconds = 2
/** Each request waits until its signature is recorded on disk, and all waiting requests share one write. */
const clients = 128

interface Served {
  readonly port: number
  readonly requests: Readonly<Record<"ec" | "rsa", Readonly<Record<"posted" | "got" | "fresh", readonly string[]>>>>
  readonly bytes: number
}

const child = fork(fileURLToPath(new URL("ocsp-server.ts", import.meta.url)), { execArgv: [] })
const [{ port, requests, bytes }] = (await once(child, "message")) as [Served]

const rate = async (of: readonly string[]): Promise<number> => {
  // Each client begins with another request.
  const turned = (index: number) => [...of.slice(index), ...of.slice(0, index)]
  const { requestsPerSecond, refused } = await measureLoad({
    port,
    seconds,
    clients: Array.from({ length: clients }, (_, index) => turned(index % of.length)),
  })
  if (refused > 0) throw new Error(`${refused} requests were refused`)
  return requestsPerSecond
}

async function beside(name: string, ours: () => Promise<number>, bare: () => Promise<number>) {
  await ours()
  const pairs: { ours: number; bare: number }[] = []
  for (let round = 0; round < rounds; round += 1) pairs.push({ ours: await ours(), bare: await bare() })
  report(name, median(pairs.map((pair) => pair.ours)), "per second")
  report("  baseline", median(pairs.map((pair) => pair.bare)), "per second")
  report(`${name}, ratio`, median(pairs.map((pair) => pair.ours / pair.bare)), "")
}

const emptied = (of: readonly string[]) => of.map((request) => request.replace("/ocsp", "/empty"))
const raw = (operation: RawOperation) => () => rawRate(operation, { threads: 1, seconds })

const { ec, rsa } = requests
await beside(
  `cached responses of ${bytes} octets, POST / empty handler`,
  () => rate(ec.posted),
  () => rate(emptied(ec.posted)),
)
await beside(
  "kept answers, GET / empty handler",
  () => rate(ec.got),
  () => rate(emptied(ec.got)),
)
await beside("fresh answers of RSA 2048 / raw signatures", () => rate(rsa.fresh), raw("sign RSA 2048"))
await beside("fresh answers of EC P-256 / raw signatures", () => rate(ec.fresh), raw("sign P-256"))
child.disconnect()
