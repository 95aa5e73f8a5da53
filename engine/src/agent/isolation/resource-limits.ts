import type { Limits } from "./isolation.ts"

/**
 * Returns the arguments of prlimit before a program. RLIMIT_AS does not serve: Go reserves a gigabyte of addresses that it never uses, and
 * terraform does not start below that. RLIMIT_DATA counts writable memory. It is twice the limit, because programs map more than they
 * use, and because it only bounds one process between two measurements of all.
 */
export function prlimitArguments(memoryBytes: number | null): readonly string[] {
  // A core dump would write variables and credentials into the run's folder.
  return ["--core=0:0", ...(memoryBytes === null ? [] : [`--data=${2 * memoryBytes}:${2 * memoryBytes}`]), "--"]
}

/** Describes how memory is limited outside of containers. */
export function describeMemory({ memoryBytes }: Limits, platform: string, prlimit: string | undefined): string {
  if (memoryBytes === null) return "memory of runs is not limited: no limit is set"
  if (platform !== "linux") return `memory of runs is not limited: it cannot be measured on ${platform}`
  const measured = `memory: runs are killed above ${mebibytes(memoryBytes)} for all their processes, measured 4 times a second`
  return prlimit === undefined
    ? `${measured}; faster growth is not limited: prlimit was not found (Debian package util-linux)`
    : `${measured}; a single process gets at most ${mebibytes(2 * memoryBytes)}`
}

export const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1_048_576)} MiB`
