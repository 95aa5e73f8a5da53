// How much room a process gives to garbage. By the time that anything here is loaded, Pulumi's own process has loaded so much that
// V8 keeps 16 MiB twice over for values that live for a call, and waits until those that lived longer have doubled. One such process
// stands beside each instance of a provider, for as long as an update takes.
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

type Collect = (
  options: { readonly type: "major"; readonly flavor: "last-resort" } | { readonly type: "minor" },
) => void

/** More than the smallest young generation holds (1 MiB), so that it grows. */
const survivorCount = 30_000

/**
 * Gives back what loading took, a tenth of a second's work, and lets the heap grow slowly from there on. The flags are read
 * whenever the heap is resized; V8 makes a young generation smaller only when told that memory has run out.
 *
 * 4 MiB hold what the calls of a moment leave behind: with fewer, much of it is taken for something that stays.
 */
export function keepHeapSmall(): void {
  setFlagsFromString("--heap-growing-percent=30")
  setFlagsFromString("--expose-gc")
  try {
    const collect = runInNewContext("globalThis.gc") as Collect | undefined
    // A runtime that hands no collector out goes on with the room that it takes.
    if (collect === undefined) return
    collect({ type: "major", flavor: "last-resort" })
    setFlagsFromString("--semi-space-growth-factor=4")
    const survivors = Array.from({ length: survivorCount }, (_, index) => [index])
    collect({ type: "minor" })
    survivors.length = 0
  } finally {
    setFlagsFromString("--semi-space-growth-factor=1")
    setFlagsFromString("--no-expose-gc")
  }
}
