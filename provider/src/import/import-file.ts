// What `pulumi import --file` reads. With its outputs beside its inputs Pulumi takes a resource as it stands here, and asks no
// provider: dynamic resources cannot be read without the address of their code, which is only in the outputs.
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
