import { openEndpoints } from "./endpoints.ts"
import { parsers } from "./parsers.ts"
import type { OpenTargets } from "./target.ts"

export async function openTargets(): Promise<OpenTargets> {
  const endpoints = await openEndpoints()
  return {
    targets: [...parsers(), ...endpoints.targets],
    [Symbol.asyncDispose]: () => endpoints[Symbol.asyncDispose](),
  }
}
