import type { Change } from "../../events/feed/event.ts"
import { type BindingChange, isSameEntry } from "./tag-binding.ts"
import type { Workspace } from "../workspace/workspace.ts"

type Named = Pick<Workspace, "id" | "organizationId" | "name">

/** Flat tags come and go; of bindings there is one event for all that changed. */
export function tagChanges(workspace: Named, change: BindingChange): Change[] {
  const { remove } = change
  // A binding that is the same has other owners: who keeps it is nobody else's business.
  const put = change.put.filter((entry) => entry.present === undefined || !isSameEntry(entry, entry.present))
  const former = [...remove, ...put.flatMap(({ present }) => (present === undefined ? [] : [present]))]
  const hasCome = put.some((entry) => entry.isTag && (entry.present?.isTag !== true || entry.key !== entry.present.key))
  const hasGone =
    remove.some(({ isTag }) => isTag) ||
    put.some(({ key, isTag, present }) => present?.isTag === true && (!isTag || key !== present.key))
  const bindingsChanged =
    remove.some(({ isBinding }) => isBinding) ||
    put.some(
      ({ key, value, isBinding, present }) =>
        isBinding !== (present?.isBinding ?? false) || (isBinding && (key !== present?.key || value !== present.value)),
    )
  const formerTags = former.map(({ key, value }) => ({ key, value }))
  const changed = ["tagNames"]
  return [
    ...(hasCome ? [{ kind: "workspace.tagged", workspace, changed } as const] : []),
    ...(hasGone ? [{ kind: "workspace.untagged", workspace, changed, formerTags } as const] : []),
    ...(bindingsChanged
      ? [{ kind: "tag-bindings.updated", workspace, changed: ["tagBindings"], formerTags } as const]
      : []),
  ]
}
