import type { Kind } from "./kinds/definition.ts"
import { specFaults } from "./kinds/rules.ts"
import type { KubernetesObject } from "./kubernetes-object.ts"
import { stalled } from "./outcome.ts"

/** Throws `Unsettled` for what no apiserver of today would admit: objects outlive definitions, and folders admit everything. */
export function parsedSpec<Spec>(kind: Kind<Spec>, object: KubernetesObject): Spec {
  const faults = specFaults(kind, object["spec"])
  if (faults.length > 0)
    throw stalled("InvalidSpec", faults.map(({ field, message }) => `${field}: ${message}`).join("; "))
  return kind.spec.parse(object["spec"])
}
