// Settings of a new workspace, which states leave out unless the program declares them. Pulumi converts and logs each member of a
// state by itself: `pulumi up` of 300 workspaces takes 24 s of processor time with all of them, and 18 s without.
import { isDeepStrictEqual } from "node:util"
import type { Values } from "@chancery/engine/declared/shared"

/** They stay as they are when defaults of the engine change, since states of every earlier build are read with them. */
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

/** Returns the state as Pulumi keeps it. `namedState` reads it again. */
export function writtenState(state: Values): Values {
  const managed = new Set(state["__managed"] as readonly string[])
  const isOmitted = (name: string, value: unknown): boolean =>
    Object.hasOwn(omittedSettings, name) && !managed.has(name) && isDeepStrictEqual(value, omittedSettings[name])
  return Object.fromEntries(Object.entries(state).filter(([name, value]) => !isOmitted(name, value)))
}
