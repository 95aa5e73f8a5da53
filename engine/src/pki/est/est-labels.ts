// Finds the mount of a label. The settings of the mount, which are cached, have the policy.
import { anonymous } from "../../core/caller.ts"
import { readMount } from "../mounts/with-mount-snapshot.ts"
import { mountAccess, type PkiContext } from "../pki-context.ts"
import { parsePathPolicy } from "./est-settings.ts"
import type { EstLabelTarget } from "./est.ts"

/** Returns undefined if no mount has registered the label. */
export async function findEstLabel(context: PkiContext, label: string): Promise<EstLabelTarget | undefined> {
  const found = await context.storage.read(({ estLabels }) => estLabels.find(label))
  const mount = (await context.mountDirectory.current()).mounts.find(({ id }) => id === found?.mountId)
  if (mount === undefined) return undefined
  const access = mountAccess(context, mount.path, anonymous, () => Promise.resolve())
  return readMount(access, async ({ settings: { est } }) => {
    const policy = parsePathPolicy((label === "" ? est.defaultPathPolicy : est.labelToPathPolicy[label]) ?? "")
    return policy && { mountPath: mount.path, policy }
  })
}
