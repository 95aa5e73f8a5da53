// RSA keys are generated on separate threads. libuv's pool has four threads whatever the number of cores, which also serve signatures,
// files and name look-ups. Separate threads can also yield to all requests.
import { extname } from "node:path"
import type { Timers } from "../core/timers.ts"
import type { RsaKeyOctets, RsaKeySource } from "../x509/key-generation.ts"
import { KeyPool } from "./key-pool.ts"
import { WorkerThreads } from "./worker-threads.ts"

export interface RsaKeysOptions {
  /** Number of keys generated concurrently: the number of cores, but at least two, so that a key that takes minutes blocks no other. */
  readonly threadCount: number
  readonly timers: Timers
  /** Number of keys to keep ready, by size; in memory only. */
  readonly stock?: ReadonlyMap<number, number>
}

export interface RsaKeys extends RsaKeySource, Disposable {
  /** Returns the number of keys of this size that are ready. */
  readyCount(bits: number): number
}

/** Opens a source of RSA keys, whose threads start on demand. */
export function openRsaKeys({ threadCount, timers, stock }: RsaKeysOptions): RsaKeys {
  const threads = new WorkerThreads<number, RsaKeyOctets>({
    timers,
    module: new URL(`./rsa-key-thread${extname(import.meta.url)}`, import.meta.url),
  })
  const pool = new KeyPool({
    make: (bits) => threads.run(bits),
    slotCount: threadCount,
    ...(stock === undefined ? {} : { stock }),
  })
  return {
    generate: (bits) => pool.generate(bits),
    readyCount: (bits) => pool.readyCount(bits),
    [Symbol.dispose]() {
      pool.close()
      threads.close()
    },
  }
}
