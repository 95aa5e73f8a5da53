// Workspace states of earlier builds. They hold undeclared settings in the member `__found`, without names. Like all states, they omit
// settings with the value of a new workspace. Every release must read them, because such a state may be destroyed before it is rewritten.
import type { Values } from "@chancery/engine/declared/shared"
import { lifeMembers } from "../lifecycle/lifecycle.ts"
import { omittedSettings } from "../lifecycle/defaults.ts"

export const foundMember = "__found"

const listMembers = ["createdAt", "engineVersion", "projectId"]
const textMembers = [...listMembers, "__marker"]

export const isLegacyState = (state: Values): boolean => state[foundMember] !== undefined

/** Returns the state of a workspace with every member under its name. */
export function namedState(state: Values): Values {
  if (!isLegacyState(state)) return { ...omittedSettings, ...state }
  const { [foundMember]: found, ...members } = state
  const managed = Object.keys(members).filter((name) => !lifeMembers.includes(name))
  return { ...omittedSettings, ...foundSettings(found), ...members, __managed: managed.toSorted() }
}

/** Parses `__found`. The first builds wrote an object, later ones a list, then a list as text that includes the marker. */
function foundSettings(found: unknown): Values {
  if (typeof found === "string") return listedSettings(textMembers, JSON.parse(found) as readonly unknown[])
  if (Array.isArray(found)) return listedSettings(listMembers, found)
  return found as Values
}

/**
 * Returns the settings of a list. Null is the place of a declared member, which has its own name. The last element holds settings with
 * unusual values.
 */
function listedSettings(names: readonly string[], list: readonly unknown[]): Values {
  const listed = names.map((name, index) => [name, list[index]] as const).filter(([, value]) => value !== null)
  return { ...Object.fromEntries(listed), ...(list[names.length] as Values | undefined) }
}
