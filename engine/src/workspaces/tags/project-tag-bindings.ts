import type { ProjectBindings } from "../../organizations/project.ts"
import { bind } from "./bind-tags.ts"
import { rejectPlan, replaceAllAs } from "./tag-owners.ts"
import { bindingFaults, changesBetween } from "./tag-binding.ts"
import type { Taggable, TagRepository } from "./tag-repository.ts"

/** Implementation of the port by which a project is created or updated together with its tag bindings. */
export const projectBindings: ProjectBindings<{ readonly tags: TagRepository }> = {
  faults: (bindings) => bindingFaults(bindings, ["tagBindings"]),
  async replace({ tags }, { id, organizationId }, bindings, made) {
    const taggable: Taggable = { kind: "project", id, organizationId }
    const before = (await tags.bindingsOf([taggable])).get(id) ?? []
    const plan = replaceAllAs(made.owner, before, bindings, ["tagBindings"])
    rejectPlan(plan)
    await bind(tags, [{ taggable, change: changesBetween(before, plan.bindings) }], made)
  },
}
