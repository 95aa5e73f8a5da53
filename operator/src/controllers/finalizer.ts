import { type KubernetesObject, type Resource } from "../kube/kubernetes-object.ts"
import { NotReadyError } from "./reconcile-result.ts"

/** Runs the cleanup. If it is stalled, adds the command to the message that removes the finalizers without cleanup. */
export async function withFinalizerHint(
  { plural, group }: Resource,
  { metadata: { name, namespace } }: KubernetesObject,
  cleanUp: () => Promise<void>,
): Promise<undefined> {
  try {
    await cleanUp()
  } catch (error) {
    if (!(error instanceof NotReadyError) || error.outcome.health.is !== "stalled") throw error
    const { health } = error.outcome
    const where = namespace === undefined ? "" : ` -n ${namespace}`
    const patch = `kubectl patch ${plural}.${group} ${name}${where} --type=merge -p '{"metadata":{"finalizers":null}}'`
    const message = `${health.message} To delete the object without cleanup: ${patch}`
    throw new NotReadyError({ ...error.outcome, health: { ...health, message } })
  }
}
