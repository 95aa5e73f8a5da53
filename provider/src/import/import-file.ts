// Writes the input of `pulumi import --file`. With outputs in addition to inputs, Pulumi does not call the provider. It could not: the
// address of a dynamic resource's code is only in its outputs.
import { writtenState } from "../lifecycle/defaults.ts"
import { providerText, typeToken } from "../dynamic/pulumi-resource.ts"
import type { Existing } from "./candidate.ts"

export function importFile(resources: readonly Existing[]): string {
  const entries = resources.map(({ kind, name, id, inputs, state }) => {
    const address = { __provider: providerText(kind) }
    return {
      type: typeToken(kind),
      name,
      id,
      inputs: { ...inputs, ...address },
      outputs: { ...(kind === "workspace" ? writtenState(state) : state), ...address },
    }
  })
  return `${JSON.stringify({ resources: entries }, undefined, 2)}\n`
}
