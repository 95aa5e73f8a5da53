import { parsers } from "./parsers.ts"
import type { FuzzTarget } from "./target.ts"

export interface OpenTargets extends AsyncDisposable {
  readonly targets: readonly FuzzTarget[]
}

export async function openTargets(): Promise<OpenTargets> {
  return { targets: parsers(), async [Symbol.asyncDispose]() {} }
}
