import type { Kind } from "./kinds/definition.ts"
import { specFaults } from "./kinds/rules.ts"
import type { KubernetesObject } from "./kubernetes-object.ts"
import { stalled } from "./outcome.ts"

/** Throws `Unsettled` for what no apiserver of today would admit: objects outlive definitions, and folders admit everything. */
export function parsedSpec<Spec>(kind: Kind<Spec>, object: KubernetesObject): Spec {
  const found = known.get(object)
  // Whoever knows the object knows its kind: it is looked at as no other.
  if (found !== undefined) return found as Spec
  const faults = specFaults(kind, object["spec"])
  if (faults.length > 0)
    throw stalled("InvalidSpec", faults.map(({ field, message }) => `${field}: ${message}`).join("; "))
  const spec = kind.spec.parse(object["spec"])
  known.set(object, spec)
  return spec
}

/** An authority, or the way to an engine, is looked at for each of ten thousand certificates. */
const known = new WeakMap<KubernetesObject, unknown>()
