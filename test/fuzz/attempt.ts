// Settings, messages and records of the process that tries inputs.

/** The run stops after this many faults. */
export const maxFaults = 20

export interface AttemptSettings {
  readonly seed: number
  /** The file that exports `openTargets`. */
  readonly module: string
  /** Empty for all targets. */
  readonly targets: readonly string[]
  /** The file that each attempt is recorded in before it is made. */
  readonly current: string
  readonly milliseconds: number
}

export type AttemptMessage =
  | { readonly kind: "fault"; readonly target: string; readonly input: string; readonly complaint: string }
  | { readonly kind: "slow"; readonly target: string; readonly input: string; readonly ms: number }
  | { readonly kind: "count"; readonly target: string; readonly count: number }

export interface Attempted {
  readonly target: string
  readonly input: Uint8Array
}

/** Number of the attempt (8 bytes), length of the name (4), length of the input (4). */
export const recordHeadLength = 16

export function record({ target, input }: Attempted, number: bigint): Uint8Array {
  const head = Buffer.alloc(recordHeadLength)
  head.writeBigUInt64BE(number)
  head.writeUInt32BE(target.length, 8)
  head.writeUInt32BE(input.length, 12)
  return Buffer.concat([head, Buffer.from(target), input])
}

/** Returns undefined if no attempt was made. */
export function readRecord(file: Buffer): Attempted | undefined {
  if (file.length < recordHeadLength) return undefined
  const nameEnd = recordHeadLength + file.readUInt32BE(8)
  return {
    target: file.subarray(recordHeadLength, nameEnd).toString(),
    input: file.subarray(nameEnd, nameEnd + file.readUInt32BE(12)),
  }
}
