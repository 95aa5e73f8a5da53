// Issuing and signing over HTTP, stored durably and in the audit log, relative to the key operations that each requires.
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { startChancery } from "./chancery.ts"
import { median, report, target } from "./figures.ts"
import { measureLoad, rawRequest } from "./load.ts"
import { type RawOperation, rawRate } from "./raw-keys.ts"

const rounds = 5
const seconds = 2
/** During the first seconds, our runtime still compiles frequently used code. */
const warmUpSeconds = 8
/** The same number as `acme.bench.ts` has in flight. With half of them, the server sometimes waits for the disk. */
const clients = 64
const rsaSeconds = 12
/** Enough to measure their delay, and too few to count as a cost of keys: 200 a second with their client take a twelfth of two cores. */
const othersPerSecond = 50

const folder = mkdtempSync(join(tmpdir(), "chancery-bench-"))
try {
  await using server = await startChancery(folder)
  const { port, token } = server
  await server.pki("POST", "/sys/mounts/pki", { type: "pki" })
  await server.pki("POST", "/pki/root/generate/internal", { common_name: "Bench Root", key_type: "ec", ttl: "700h" })
  const role = { allowed_domains: "example.com", allow_subdomains: true, ttl: "1h" }
  await server.pki("POST", "/pki/roles/ec", { ...role, key_type: "ec" })
  await server.pki("POST", "/pki/roles/rsa", { ...role, key_type: "rsa" })

  const signRequest = (path: string, body: object) => rawRequest("POST", `/v1${path}`, token, JSON.stringify(body))
  const issue = signRequest("/pki/issue/ec", { common_name: "www.example.com", alt_names: "api.example.com" })
  const sign = signRequest("/pki/sign/ec", { csr: ecRequest(folder), common_name: "www.example.com" })
  const load = (request: string, more: { seconds?: number; ratePerSecond?: number; count?: number } = {}) =>
    measureLoad({
      port,
      seconds,
      ...more,
      clients: Array.from({ length: more.count ?? clients }, () => [request]),
    })

  async function beside(name: string, request: string, raw: RawOperation): Promise<void> {
    await load(request, { seconds: warmUpSeconds })
    const pairs: { ours: number; bare: number }[] = []
    for (let round = 0; round < rounds; round += 1) {
      const { requestsPerSecond, refused } = await load(request)
      if (refused > 0) throw new Error(`${refused} requests were refused`)
      pairs.push({ ours: requestsPerSecond, bare: await rawRate(raw, { threads: 1, seconds }) })
    }
    const ours = median(pairs.map((pair) => pair.ours))
    report(`${name}, ${clients} clients`, ours, "per second")
    report(`  ${raw}, one thread`, median(pairs.map(({ bare }) => bare)), "per second")
    report(`${name} / raw`, median(pairs.map((pair) => pair.ours / pair.bare)), "")
    const delays: number[] = []
    for (let round = 0; round < rounds; round += 1)
      delays.push((await load(request, { ratePerSecond: ours / 2, seconds: seconds * 2 })).p99Ms)
    target(`${name} at half of that load, p99`, median(delays), { atMost: 20 }, "ms")
  }
  await beside("issue EC P-256", issue, "generate P-256 and sign")
  await beside("sign an EC P-256 CSR", sign, "verify and sign P-256")

  const threads = availableParallelism()
  const makeRsa = signRequest("/pki/issue/rsa", { common_name: "www.example.com" })
  const ratios: number[] = []
  const delays: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const [made, others] = await Promise.all([
      load(makeRsa, { seconds: rsaSeconds, count: threads * 4 }),
      load(rawRequest("GET", "/v1/sys/health", token), {
        seconds: rsaSeconds,
        ratePerSecond: othersPerSecond,
        count: 8,
      }),
    ])
    const bare = await rawRate("generate RSA 2048", { threads, seconds: rsaSeconds })
    report(
      `issue RSA 2048, and raw on ${threads} threads`,
      made.requestsPerSecond,
      `and ${bare.toPrecision(3)} per second`,
    )
    ratios.push(made.requestsPerSecond / bare)
    delays.push(others.p99Ms)
  }
  // The time to generate a key varies at random, so all rounds are averaged.
  report("issue RSA 2048 / raw", ratios.reduce((sum, ratio) => sum + ratio, 0) / rounds, "")
  target("other requests at the same time, p99", median(delays), { atMost: 50 }, "ms")
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function ecRequest(where: string): string {
  const [key, request] = [join(where, "key.pem"), join(where, "request.pem")]
  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
  const names = ["-subj", "/CN=www.example.com", "-addext", "subjectAltName=DNS:www.example.com,DNS:api.example.com"]
  execFileSync("openssl", ["req", "-new", ...ec, "-keyout", key, "-out", request, ...names], { stdio: "ignore" })
  return readFileSync(request, "utf8")
}
