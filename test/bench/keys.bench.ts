// Key generation and use by the engine, relative to Node's OpenSSL when it does nothing else. RSA keys are generated on every core while
// this thread keeps answering.
import { availableParallelism } from "node:os"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { systemTimers } from "../../engine/src/core/timers.ts"
import { openRsaKeys } from "../../engine/src/jobs/rsa-keys.ts"
import { keyGenerator } from "../../engine/src/x509/key-generation.ts"
import { readPublicKey } from "../../engine/src/x509/public-key.ts"
import { isSignedBy } from "../../engine/src/x509/signature.ts"
import { signatureAlgorithmIdentifier } from "../../engine/src/x509/signature-algorithm.ts"
import { signingKey } from "../../engine/src/x509/signing-key.ts"
import { median, report, target } from "./figures.ts"
import { type RawOperation, rawRate } from "./raw-keys.ts"

const rounds = 5
const seconds = 1
const rsaSeconds = 6
const burst = 200
const message = Buffer.alloc(600, 0x5a)
const threads = Math.max(2, availableParallelism())

async function rate(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  let count = 0
  while (performance.now() - began < seconds * 1000) {
    await work()
    count += 1
  }
  return count / ((performance.now() - began) / 1000)
}

async function beside(name: string, raw: RawOperation, work: () => Promise<unknown>): Promise<void> {
  await rate(work)
  const pairs: { ours: number; bare: number }[] = []
  for (let round = 0; round < rounds; round += 1)
    pairs.push({ ours: await rate(work), bare: await rawRate(raw, { threads: 1, seconds }) })
  report(name, median(pairs.map(({ ours }) => ours)), "per second")
  report(`  ${raw}, one thread`, median(pairs.map(({ bare }) => bare)), "per second")
  report("  ratio", median(pairs.map(({ ours, bare }) => ours / bare)), "of raw")
}

{
  const { generate } = keyGenerator({ generate: () => Promise.reject(new Error("no RSA key is asked for")) })
  const ca = signingKey(await generate({ type: "ec", bits: 256 }))
  const signature = await ca.sign(message, "ECDSAWithSHA256")
  const signed = { data: message, algorithm: signatureAlgorithmIdentifier("ECDSAWithSHA256"), signature }
  await beside("generate a key, encode both halves as PEM, sign", "generate P-256 and sign", async () => {
    const key = await generate({ type: "ec", bits: 256 })
    key.pem("traditional")
    await ca.sign(message, "ECDSAWithSHA256")
  })
  await beside("read a public key, verify with it, sign", "verify and sign P-256", async () => {
    if (!isSignedBy(readPublicKey(ca.spki), signed)) throw new Error("the signature does not verify")
    await ca.sign(message, "ECDSAWithSHA256")
  })
}

{
  using rsa = openRsaKeys({ threadCount: threads, timers: systemTimers })
  await Promise.all(Array.from({ length: threads }, () => rsa.generate(2048)))
  const ratios: number[] = []
  const delay = monitorEventLoopDelay({ resolution: 1 })
  for (let round = 0; round < rounds; round += 1) {
    delay.enable()
    const ours = await rsaRate(rsa)
    delay.disable()
    const bare = await rawRate("generate RSA 2048", { threads, seconds: rsaSeconds })
    report(`RSA 2048 keys, ours and raw on ${threads} threads`, ours, `and ${bare.toPrecision(3)} per second`)
    ratios.push(ours / bare)
  }
  // The time to generate a key varies at random, so all rounds are averaged.
  report("RSA 2048 keys / raw", ratios.reduce((sum, ratio) => sum + ratio, 0) / rounds, "")
  target("delay of this thread during it, p99", delay.percentile(99) / 1e6, { atMost: 50 }, "ms")
}

async function rsaRate(rsa: ReturnType<typeof openRsaKeys>): Promise<number> {
  const began = performance.now()
  let count = 0
  const client = async () => {
    while (performance.now() - began < rsaSeconds * 1000) {
      await rsa.generate(2048)
      count += 1
    }
  }
  await Promise.all(Array.from({ length: threads * 2 }, client))
  return count / ((performance.now() - began) / 1000)
}

{
  using rsa = openRsaKeys({ threadCount: threads, timers: systemTimers, stock: new Map([[2048, burst]]) })
  const { generate } = keyGenerator(rsa)
  while (rsa.readyCount(2048) < burst) await new Promise((resolve) => setTimeout(resolve, 50))
  const ca = signingKey(await generate({ type: "rsa", bits: 2048 }))
  while (rsa.readyCount(2048) < burst) await new Promise((resolve) => setTimeout(resolve, 50))
  const timed = async (work: () => Promise<unknown>) => {
    const began = performance.now()
    await Promise.all(Array.from({ length: burst }, work))
    return performance.now() - began
  }
  const keys = await timed(async () => (await generate({ type: "rsa", bits: 2048 })).pem("traditional"))
  const signatures = await timed(() => ca.sign(message, "SHA256WithRSA"))
  report(`${burst} RSA 2048 signatures`, signatures, "ms")
  report(`a burst of ${burst} RSA 2048 keys from the stock`, keys, "ms")
}
