// Settings of a new workspace. States omit them unless the program declares them, because Pulumi converts and logs each member of a state
// separately. `pulumi up` of 300 workspaces takes 24 s of processor time with all of them, and 18 s without.
import { isDeepStrictEqual } from "node:util"
import type { Values } from "@chancery/engine/declared/shared"

/** Never change these values, even if defaults of the engine change: states of all earlier builds are read with them. */
export const omittedSettings: Values = {
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
}

/** Returns the state without omitted settings, as Pulumi stores it. `namedState` is the inverse. */
export function writtenState(state: Values): Values {
  const managed = new Set(state["__managed"] as readonly string[])
  const isOmitted = (name: string, value: unknown): boolean =>
    Object.hasOwn(omittedSettings, name) && !managed.has(name) && isDeepStrictEqual(value, omittedSettings[name])
  return Object.fromEntries(Object.entries(state).filter(([name, value]) => !isOmitted(name, value)))
}
