// How a state is written down. Pulumi writes the states of all resources of a stack anew after each step, so what is the same in
// nearly all of them is left out: settings that nobody declares stand in one member, and only where they are not as usual. Those
// that are never as usual stand there without their names, and so does who declares, whom the inputs tell as well. The member is
// a text: Pulumi checks, logs and converts each value of a state wherever it goes.
//
// What a program declares stays a member of its own, for Pulumi knows by its name what is a secret.
import { isDeepStrictEqual } from "node:util"
import type { Values } from "@chancery/engine/managed/shared"
import type { KindName } from "./kind-name.ts"
import { lifeMembers } from "./lifecycle.ts"

export interface StateLayout {
  /** Members that stand by themselves, also where nothing declares them: the configuration has filled them in. */
  readonly always: readonly string[]
  /** What is left out. For ever: states that were written have nothing else to say it by. */
  readonly usual: Values
  /**
   * What every state tells, in this order, which is for ever as well: `__found` is a list of these as JSON, with the marker behind
   * them, and what else there is at the end. Earlier states have the list as it is and no marker in it, the first an object.
   */
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

const markerMember = "__marker"

// This runs for each resource of a stack at each refresh, so it makes no values that are thrown away.
export function writtenState(kind: KindName, state: Values): Values {
  const layout = stateLayouts[kind]
  if (layout === undefined) return state
  const { __managed: managed } = state
  const { always, usual } = layout
  const told = toldIn(layout)
  const written: Record<string, unknown> = {}
  // Null stands for one that is declared, and so has a member of its own.
  const listed: unknown[] = told.map(() => null)
  const others: Record<string, unknown> = {}
  for (const name of Object.keys(state)) {
    if (name === "__managed") continue
    const value = state[name]
    const isDeclared = always.includes(name) || (Array.isArray(managed) && managed.includes(name))
    if (isDeclared || (lifeMembers.includes(name) && name !== markerMember)) written[name] = value
    else if (told.includes(name)) listed[told.indexOf(name)] = value ?? null
    else if (value !== usual[name] && !isDeepStrictEqual(value, usual[name])) others[name] = value
  }
  if (Object.keys(others).length > 0) listed.push(others)
  written[foundMember] = JSON.stringify(listed)
  return written
}

const toldIn = ({ told }: StateLayout): readonly string[] => [...told, markerMember]

/** Also of what earlier releases wrote. */
function named(found: unknown, layout: StateLayout): Values | undefined {
  if (typeof found === "string") return namedBy(toldIn(layout), JSON.parse(found) as readonly unknown[])
  if (Array.isArray(found)) return namedBy(layout.told, found)
  return typeof found === "object" && found !== null ? (found as Values) : undefined
}

function namedBy(told: readonly string[], found: readonly unknown[]): Values {
  const values: Record<string, unknown> = { ...(found[told.length] as Values | undefined) }
  for (const [index, name] of told.entries()) if (found[index] !== null) values[name] = found[index]
  return values
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
