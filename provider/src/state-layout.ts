// How a state is written down. Pulumi writes the states of all resources of a stack anew after each step, so what is the same in
// nearly all of them is left out: settings that nobody declares stand in one member, and only where they are not as usual. Those
// that are never as usual stand there without their names.
import { isDeepStrictEqual } from "node:util"
import type { Values } from "@chancery/engine/managed/shared"
import type { KindName } from "./kinds.ts"
import { lifeMembers } from "./lifecycle.ts"

export interface StateLayout {
  /** Members that stand by themselves, also where nothing declares them: the configuration has filled them in. */
  readonly always: readonly string[]
  /** What is left out. For ever: states that were written have nothing else to say it by. */
  readonly usual: Values
  /** What every state tells, in this order, which is for ever as well: first in a list, and what else there is behind them. */
  readonly told: readonly string[]
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
      projectRemoteState: false,
      queueAllRuns: false,
      settingOverwrites: { agentPool: false, executionMode: false },
      speculativeEnabled: true,
      structuredRunOutputEnabled: true,
      triggerPatterns: [],
      triggerPrefixes: [],
      vcsRepo: null,
      workingDirectory: null,
    },
    told: ["createdAt", "engineVersion", "projectId"],
  },
}

/** Where settings stand that nobody declares. */
export const foundMember = "__found"

export function writtenState(kind: KindName, { __managed: managed, ...state }: Values): Values {
  const layout = stateLayouts[kind]
  if (layout === undefined) return managed === undefined ? state : { ...state, __managed: managed }
  const declared = new Set([...layout.always, ...lifeMembers, ...(Array.isArray(managed) ? managed : [])])
  const written: [string, unknown][] = []
  const found: [string, unknown][] = []
  for (const entry of Object.entries(state)) {
    const [name, value] = entry
    if (declared.has(name)) written.push(entry)
    else if (!isDeepStrictEqual(value, layout.usual[name])) found.push(entry)
  }
  return { ...Object.fromEntries(written), [foundMember]: listed(Object.fromEntries(found), layout) }
}

/** Null stands for one that is declared, and so has a member of its own. */
function listed(found: Values, { told }: StateLayout): readonly unknown[] {
  const others = Object.fromEntries(Object.entries(found).filter(([name]) => !told.includes(name)))
  return [...told.map((name) => found[name] ?? null), ...(Object.keys(others).length === 0 ? [] : [others])]
}

/** Also of what was written with all names. */
function named(found: unknown, { told }: StateLayout): Values | undefined {
  if (!Array.isArray(found)) return typeof found === "object" && found !== null ? (found as Values) : undefined
  const entries = told.map((name, index) => [name, found[index]] as const).filter(([, value]) => value !== null)
  return { ...Object.fromEntries(entries), ...(found[told.length] as Values | undefined) }
}

/** Also of one that is written member by member. */
export function stateIn(kind: KindName, { [foundMember]: written, ...members }: Values): Values {
  const layout = stateLayouts[kind]
  const found = layout && named(written, layout)
  if (found === undefined) return members
  const managed = Object.keys(members).filter((name) => !lifeMembers.includes(name))
  return { ...layout?.usual, ...found, ...members, __managed: managed.toSorted() }
}

/** One member of it, by what stands in the place for settings that nobody declares; undefined where nothing does. */
export function settingIn(written: unknown, name: string, layout: StateLayout): unknown {
  const found = named(written, layout)
  if (found === undefined) return undefined
  return Object.hasOwn(found, name) ? found[name] : layout.usual[name]
}
