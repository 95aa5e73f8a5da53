import { openEndpoints } from "./endpoints.ts"
import { parsers } from "./parsers.ts"
import type { FuzzTarget } from "./target.ts"

export interface OpenTargets extends AsyncDisposable {
  readonly targets: readonly FuzzTarget[]
}

export async function openTargets(): Promise<OpenTargets> {
  const endpoints = await openEndpoints()
  return {
    targets: [...parsers(), ...endpoints.targets],
    [Symbol.asyncDispose]: () => endpoints[Symbol.asyncDispose](),
  }
}
