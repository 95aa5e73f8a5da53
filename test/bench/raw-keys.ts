// Rates of Node's OpenSSL when it does only key operations: no encoding, no parsing, no requests. The figures of issuing are ratios to
// these, measured in the same run.
import { generateKeyPairSync, sign, verify } from "node:crypto"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads"

/** Size of the signed part of a typical certificate. */
const message = Buffer.alloc(600, 0x5a)

type Prepare = () => () => unknown

const ecKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" })
const rsaKey = () => generateKeyPairSync("rsa", { modulusLength: 2048 })

const operations = {
  /** The minimum for `issue`. */
  "generate P-256 and sign": () => {
    const { privateKey } = ecKey()
    return () => [ecKey(), sign("sha256", message, privateKey)]
  },
  /** The minimum for `sign`. */
  "verify and sign P-256": () => {
    const { publicKey, privateKey } = ecKey()
    const signature = sign("sha256", message, privateKey)
    return () => verify("sha256", message, publicKey, signature) && sign("sha256", message, privateKey)
  },
  "sign P-256": () => {
    const { privateKey } = ecKey()
    return () => sign("sha256", message, privateKey)
  },
  "sign Ed25519": () => {
    const { privateKey } = generateKeyPairSync("ed25519")
    return () => sign(null, message, privateKey)
  },
  "sign RSA 2048": () => {
    const { privateKey } = rsaKey()
    return () => sign("sha256", message, privateKey)
  },
  "generate RSA 2048": () => rsaKey,
} satisfies Record<string, Prepare>

export type RawOperation = keyof typeof operations

export interface RawMeasurement {
  /** One for comparison with a single process of ours, all cores for RSA keys. */
  readonly threads: number
  readonly seconds: number
}

/** Returns operations per second of all threads together. */
export async function rawRate(operation: RawOperation, { threads, seconds }: RawMeasurement): Promise<number> {
  const workers = Array.from(
    { length: threads },
    () => new Worker(fileURLToPath(import.meta.url), { workerData: { operation, seconds }, execArgv: [] }),
  )
  const rates = await Promise.all(workers.map(async (worker) => (await once(worker, "message"))[0] as number))
  return rates.reduce((sum, rate) => sum + rate, 0)
}

function measure(operation: RawOperation, seconds: number): number {
  const operate = operations[operation]()
  operate()
  const began = performance.now()
  let count = 0
  let elapsed = 0
  while (elapsed < seconds * 1000) {
    operate()
    count += 1
    elapsed = performance.now() - began
  }
  return count / (elapsed / 1000)
}

if (!isMainThread && workerData?.operation !== undefined)
  parentPort?.postMessage(measure(workerData.operation as RawOperation, workerData.seconds as number))
