// Installations of the operator and the server: the charts as the real Helm renders them, and the kustomize base.
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { parseAllDocuments } from "yaml"
import { goProgram, helmFolder } from "../../toolchain/go-modules.ts"

const run = promisify(execFile)

export const deployFolder = join(import.meta.dirname, "../../../operator/deploy")
export const chartFolder = join(deployFolder, "chart")
export const serverChartFolder = join(import.meta.dirname, "../../../engine/deploy/chart")
export const agentChartFolder = join(import.meta.dirname, "../../../engine/deploy/agent-chart")

/** A Kubernetes object parsed from YAML. */
export interface Manifest {
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [member: string]: unknown
}

export interface Release {
  readonly name?: string
  readonly namespace?: string
  /** Arguments of `--set`. */
  readonly values?: readonly string[]
}

export interface Helm {
  readonly program: string
  /** Renders the chart. Throws Helm's error text if Helm fails. */
  template(release?: Release): Promise<string>
  lint(values?: Release["values"]): Promise<string>
}

/** Logs a warning and returns undefined if there is no Helm and none can be built. */
export async function findHelm(chart = chartFolder): Promise<Helm | undefined> {
  const program = await goProgram(helmFolder)
  if (program === undefined) return undefined
  const helm = async (...args: string[]) => (await run(program, args, { maxBuffer: 16 * 1024 * 1024 })).stdout
  return {
    program,
    template: ({ name = "chancery-operator", namespace = "chancery", values = [] } = {}) =>
      helm("template", name, chart, "--namespace", namespace, ...values.flatMap((value) => ["--set", value])),
    lint: (values = []) => helm("lint", "--strict", chart, ...values.flatMap((value) => ["--set", value])),
  }
}

export const manifestsIn = (text: string): readonly Manifest[] =>
  parseAllDocuments(text).flatMap((document) => (document.contents === null ? [] : [document.toJS() as Manifest]))
