// Arguments of the tool for each step of a run.
import type { RunView } from "../../workspaces/runs/run.ts"

/** Options that both forms of output share: messages as JSON for clients that render them, or text without colors. */
const outputOption = (structured: boolean): string => (structured ? "-json" : "-no-color")

export interface PlanPaths {
  readonly plan: string
  readonly variables: string
  /** File for the configuration of imported resources. */
  readonly generatedConfiguration: string
}

export const initArguments = ({ variables }: Pick<PlanPaths, "variables">): readonly string[] => [
  "init",
  "-no-color",
  "-input=false",
  `-var-file=${variables}`,
]

export function planArguments(
  run: Pick<
    RunView,
    "isDestroy" | "refreshOnly" | "refresh" | "targetAddrs" | "replaceAddrs" | "allowConfigGeneration"
  >,
  { plan, variables, generatedConfiguration }: PlanPaths,
  structured: boolean,
): readonly string[] {
  return [
    "plan",
    outputOption(structured),
    "-input=false",
    // 0 for nothing to do, 2 for something.
    "-detailed-exitcode",
    `-out=${plan}`,
    `-var-file=${variables}`,
    ...(run.isDestroy ? ["-destroy"] : []),
    ...(run.refreshOnly ? ["-refresh-only"] : []),
    ...(run.refresh ? [] : ["-refresh=false"]),
    ...(run.allowConfigGeneration ? [`-generate-config-out=${generatedConfiguration}`] : []),
    ...run.targetAddrs.map((address) => `-target=${address}`),
    ...run.replaceAddrs.map((address) => `-replace=${address}`),
  ]
}

export const applyArguments = ({ plan }: Pick<PlanPaths, "plan">, structured: boolean): readonly string[] => [
  "apply",
  outputOption(structured),
  "-input=false",
  plan,
]
