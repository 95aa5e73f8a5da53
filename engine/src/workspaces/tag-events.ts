import type { Change } from "../events/event.ts"
import { type BindingChange, isFlat } from "../tags/tag-binding.ts"
import type { Workspace } from "./workspace.ts"

type Named = Pick<Workspace, "id" | "organizationId" | "name">

/** Flat tags come and go; of bindings with a value it is told that they are others. */
export function tagChanges(workspace: Named, change: BindingChange): Change[] {
  const { remove } = change
  // A binding that is the same has other owners: who keeps it is nobody else's business.
  const put = change.put.filter(({ key, value, present }) => present?.key !== key || present.value !== value)
  const former = [...remove, ...put.flatMap(({ present }) => (present === undefined ? [] : [present]))]
  const hasCome = put.some((binding) => isFlat(binding))
  const gone = former.filter((binding) => isFlat(binding))
  const formerTags = former.map(({ key, value }) => ({ key, value }))
  const changed = ["tagNames"]
  return [
    ...(hasCome ? [{ kind: "workspace.tagged", workspace, changed } as const] : []),
    ...(gone.length === 0 ? [] : [{ kind: "workspace.untagged", workspace, changed, formerTags } as const]),
    ...(put.some((binding) => !isFlat(binding)) || gone.length < former.length
      ? [{ kind: "tag-bindings.updated", workspace, changed: ["tagBindings"], formerTags } as const]
      : []),
  ]
}
