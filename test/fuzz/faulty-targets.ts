// Targets whose faults the fuzzer must report.
import type { FuzzTarget, OpenTargets } from "./target.ts"

const target = (name: string, attempt: FuzzTarget["attempt"]): FuzzTarget => ({
  name,
  corpus: [Buffer.from(`valid for ${name}`)],
  mutations: [(input) => input],
  turnMs: 20,
  attempt,
})

export const openTargets = async (): Promise<OpenTargets> => ({
  targets: [
    target("fine", () => undefined),
    target("complaining", () => "is not in order"),
    target("throwing", () => {
      throw new TypeError("was not thought of")
    }),
    target("slow", () => {
      for (const end = performance.now() + 60; performance.now() < end;);
      return undefined
    }),
    target("ending", () => process.exit(3)),
    target("leaving", () => {
      setTimeout(() => {
        throw new Error("too late to be caught")
      })
      return new Promise((resolve) => setTimeout(() => resolve(undefined), 1_000))
    }),
    target("hanging", () => {
      for (;;);
    }),
  ],
  async [Symbol.asyncDispose]() {},
})
