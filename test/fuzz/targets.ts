import { openAcme } from "./acme.ts"
import { archives } from "./archives.ts"
import { openEndpoints } from "./endpoints.ts"
import { parsers } from "./parsers.ts"
import type { OpenTargets } from "./target.ts"
import { textTargets } from "./texts.ts"

export async function openTargets(): Promise<OpenTargets> {
  await using opening = new AsyncDisposableStack()
  const endpoints = opening.use(await openEndpoints())
  const acme = opening.use(await openAcme())
  const closing = opening.move()
  return {
    targets: [...parsers(), ...textTargets(), ...archives(), ...endpoints.targets, ...acme.targets],
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}
