// How a state is written down. Pulumi writes the states of all resources of a stack anew after each step, so what is the same in
// nearly all of them is left out: settings that nobody declares stand in one member, and only where they are not as usual.
import { isDeepStrictEqual } from "node:util"
import type { Values } from "@chancery/engine/managed/shared"
import type { KindName } from "./kinds.ts"
import { lifeMembers } from "./lifecycle.ts"

export interface StateLayout {
  /** Members that stand by themselves, also where nothing declares them: the configuration has filled them in. */
  readonly always: readonly string[]
  /** What is left out. For ever: states that were written have nothing else to say it by. */
  readonly usual: Values
}

/** A kind that is not here is written member by member. */
export const stateLayouts: Readonly<Partial<Record<KindName, StateLayout>>> = {
  workspace: {
    always: ["organization", "name", "tagBindings"],
    usual: {
      adopted: false,
      agentPoolId: null,
      allowDestroyPlan: true,
      assessmentsEnabled: false,
      autoApply: false,
      autoApplyRunTrigger: false,
      autoDestroyActivityDuration: null,
      autoDestroyAt: null,
      description: null,
      executionMode: "remote",
      fileTriggersEnabled: true,
      globalRemoteState: false,
      inheritsProjectAutoDestroy: true,
      queueAllRuns: false,
      settingOverwrites: { agentPool: false, executionMode: false },
      speculativeEnabled: true,
      structuredRunOutputEnabled: true,
      triggerPatterns: [],
      triggerPrefixes: [],
      vcsRepo: null,
      workingDirectory: null,
    },
  },
}

/** Where settings stand that nobody declares. */
export const foundMember = "__found"

export function writtenState(kind: KindName, { __managed: managed, ...state }: Values): Values {
  const layout = stateLayouts[kind]
  if (layout === undefined) return managed === undefined ? state : { ...state, __managed: managed }
  const declared = new Set([...layout.always, ...lifeMembers, ...(Array.isArray(managed) ? managed : [])])
  const entries = Object.entries(state)
  return {
    ...Object.fromEntries(entries.filter(([name]) => declared.has(name))),
    [foundMember]: Object.fromEntries(
      entries.filter(([name, value]) => !declared.has(name) && !isDeepStrictEqual(value, layout.usual[name])),
    ),
  }
}

/** Also of one that is written member by member. */
export function stateIn(kind: KindName, { [foundMember]: found, ...written }: Values): Values {
  const layout = stateLayouts[kind]
  if (layout === undefined || typeof found !== "object") return written
  const managed = Object.keys(written).filter((name) => !lifeMembers.includes(name))
  return { ...layout.usual, ...found, ...written, __managed: managed.toSorted() }
}

/** One member of it, by what stands in the place for settings that nobody declares. */
export const settingIn = (found: Values, name: string, { usual }: StateLayout): unknown =>
  Object.hasOwn(found, name) ? found[name] : usual[name]
