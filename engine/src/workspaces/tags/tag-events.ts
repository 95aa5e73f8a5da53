import type { Change } from "../../events/feed/event.ts"
import { type BindingChange, isSameEntry } from "./tag-binding.ts"
import type { Workspace } from "../workspace/workspace.ts"

type Named = Pick<Workspace, "id" | "organizationId" | "name">

/** Returns the events of a change. Added and removed flat tags have one event each; all changed bindings have one event together. */
export function tagChanges(workspace: Named, change: BindingChange): Change[] {
  const { remove } = change
  // An unchanged binding only has other owners, which are not reported.
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
