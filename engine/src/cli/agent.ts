import { hostname } from "node:os"
import { Command, Option } from "commander"
import { minuteMs, parseDuration, secondMs } from "../core/time.ts"
import type { AgentSettings, PodSettings } from "./actions/agent.ts"
import { parseByteSize } from "./byte-size.ts"
import { usageError } from "./exit-code.ts"
import type { Terminal } from "./terminal.ts"
import { addServerOptions, type CallerOptions } from "./with-caller-engine.ts"

export const agentDefaults = {
  data: ".chancery-agent",
  timeLimit: "2h",
  memoryLimit: "off",
  graceTime: "2m",
  maxLog: "64MiB",
  snapshotInterval: "20s",
  lease: "60s",
  podStartTimeout: "5m",
} as const

const groups = { tools: "Tools:", isolation: "Isolation and limits:", pods: "Pods of a Kubernetes cluster:" }

interface Given extends CallerOptions {
  readonly pool?: string
  readonly claim?: string
  readonly name: string
  readonly slots: string
  readonly once?: true
  readonly data: string
  readonly passEnv?: readonly string[]
  readonly lease: string
  readonly snapshotInterval: string
  readonly maxLog: string
  readonly tool: AgentSettings["toolKind"]
  readonly tools?: string
  readonly toolsMirror?: string
  readonly toolsKey?: string
  readonly toolsSignature: "required" | "off"
  readonly providerMirror?: string
  readonly isolation: AgentSettings["isolation"]
  readonly runAs?: string
  readonly containerImage?: string
  readonly containerProgram?: string
  readonly containerNetwork?: string
  readonly podImage?: string
  readonly podTemplate?: string
  readonly podNamespace?: string
  readonly podStartTimeout: string
  readonly timeLimit: string
  readonly memoryLimit: string
  readonly graceTime: string
}

export function agentCommand(terminal: Terminal): Command {
  const command = new Command("agent").description(
    "Execute runs of workspaces with terraform or OpenTofu. The token is that of an agent pool.",
  )
  addServerOptions(command, "http://127.0.0.1:8420")
  command
    .option("--pool <id>", "agent pool whose runs to execute (default: the pool of the token)")
    .option("--claim <id>", 'claim whose run to execute, instead of runs that wait (docs/agents.md, "In a cluster")')
    .option("--name <name>", "name that runs and their logs show", hostname())
    .option("--slots <count>", "runs to execute at the same time", "1")
    .option("--once", "end when no run waits")
    .option(
      "--data <folder>",
      "folder of this agent alone, for tools, caches and the folders of runs",
      agentDefaults.data,
    )
    .option("--pass-env <names...>", "variables of this process that runs see, such as HTTPS_PROXY")
    .option(
      "--lease <duration>",
      "time after which a silent agent loses its run, from 10s to 10m in whole seconds",
      agentDefaults.lease,
    )
    .option(
      "--snapshot-interval <duration>",
      "time between two intermediate states of an apply",
      agentDefaults.snapshotInterval,
    )
    .option(
      "--max-log <size>",
      "size of the log of a plan or an apply, after which the rest is left out",
      agentDefaults.maxLog,
    )
  const grouped = (group: string, flags: string, description: string) => new Option(flags, description).helpGroup(group)
  command
    .addOption(
      grouped(groups.tools, "--tool <name>", "tool that executes the runs")
        .choices(["terraform", "opentofu"])
        .default("terraform"),
    )
    .addOption(grouped(groups.tools, "--tools <folder>", "folder with versions of the tool (docs/agent-tools.md)"))
    .addOption(grouped(groups.tools, "--tools-mirror <url>", "mirror from which versions of the tool are downloaded"))
    .addOption(
      grouped(
        groups.tools,
        "--tools-key <file>",
        "OpenPGP keys that may sign releases of the mirror, besides those of HashiCorp and OpenTofu",
      ),
    )
    .addOption(
      grouped(groups.tools, "--tools-signature <policy>", "signatures of releases")
        .choices(["required", "off"])
        .default("required"),
    )
    .addOption(
      grouped(
        groups.tools,
        "--provider-mirror <url|folder>",
        "network mirror or folder from which providers are installed",
      ),
    )
    .addOption(
      grouped(groups.isolation, "--isolation <kind>", "isolation of runs (docs/agent-isolation.md)")
        .choices(["auto", "sandbox", "container", "user", "pod", "none"])
        .default("auto"),
    )
    .addOption(grouped(groups.isolation, "--run-as <user>", "user of the runs, for the isolation user"))
    .addOption(grouped(groups.isolation, "--container-image <image>", "image of the runs, for the isolation container"))
    .addOption(
      grouped(groups.isolation, "--container-program <program>", "podman or docker (default: the one on the PATH)"),
    )
    .addOption(grouped(groups.isolation, "--container-network <network>", "network of the containers"))
    .addOption(
      grouped(groups.isolation, "--time-limit <duration>", "time limit of one command").default(
        agentDefaults.timeLimit,
      ),
    )
    .addOption(
      grouped(groups.isolation, "--memory-limit <size|off>", "memory limit of one command").default(
        agentDefaults.memoryLimit,
      ),
    )
    .addOption(
      grouped(
        groups.isolation,
        "--grace-time <duration>",
        "time to end after an interrupt, before a command is killed",
      ).default(agentDefaults.graceTime),
    )
  command
    .addOption(
      grouped(
        groups.pods,
        "--pod-image <image>",
        "image of the pods, for the isolation pod (default: that of the container agent in the template)",
      ),
    )
    .addOption(
      grouped(
        groups.pods,
        "--pod-template <file>",
        'template of the pods, YAML or JSON (docs/agents.md, "In a cluster")',
      ),
    )
    .addOption(
      grouped(
        groups.pods,
        "--pod-namespace <namespace>",
        "namespace of the pods (default: that of the service account or of the kubeconfig)",
      ),
    )
    .addOption(
      grouped(
        groups.pods,
        "--pod-start-timeout <duration>",
        "time for a pod to start, after which its run is errored",
      ).default(agentDefaults.podStartTimeout),
    )
  return command.action(async (given: Given) => {
    const settings = settingsOf(given, terminal)
    const { serveAgent } = await import("./actions/agent.ts")
    await serveAgent(settings, terminal)
  })
}

function settingsOf(given: Given, { environment }: Terminal): AgentSettings {
  const { isolation, containerImage } = given
  if (isolation === "container" && containerImage === undefined)
    throw usageError("--isolation container needs --container-image.")
  if (isolation === "user" && given.runAs === undefined) throw usageError("--isolation user needs --run-as.")
  if (isolation === "pod") assertPodOptions(given)
  const slots = Number(given.slots)
  if (!Number.isInteger(slots) || slots < 1 || slots > 100)
    throw usageError(`--slots cannot be ${JSON.stringify(given.slots)}; it must be 1 to 100.`)
  const passed = (given.passEnv ?? []).flatMap((name) => {
    const value = environment[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    connection: given,
    pool: given.pool,
    claim: given.claim,
    name: given.name,
    slots,
    once: given.once === true,
    data: given.data,
    passed: Object.fromEntries(passed),
    leaseMs: leaseDuration(given.lease),
    snapshotEveryMs: duration("--snapshot-interval", given.snapshotInterval),
    maxLogBytes: logSize(given.maxLog),
    toolKind: given.tool,
    tools: {
      folder: given.tools,
      mirror: given.toolsMirror,
      keyFile: given.toolsKey,
      signature: given.toolsSignature,
    },
    providerMirror: given.providerMirror,
    isolation,
    runAs: given.runAs,
    container:
      containerImage === undefined
        ? undefined
        : { image: containerImage, program: given.containerProgram, network: given.containerNetwork },
    limits: {
      timeMs: duration("--time-limit", given.timeLimit),
      memoryBytes: given.memoryLimit === "off" ? null : size("--memory-limit", given.memoryLimit),
      graceMs: duration("--grace-time", given.graceTime),
    },
    ...(isolation === "pod" ? { pods: podSettings(given) } : {}),
  }
}

const podSettings = (given: Given): PodSettings => ({
  image: given.podImage,
  templateFile: given.podTemplate,
  namespace: given.podNamespace,
  startTimeoutMs: duration("--pod-start-timeout", given.podStartTimeout),
  options: given,
})

/** Name of an environment variable that can be a key of a Secret. */
const variableName = /^[A-Za-z_]\w{0,199}$/

function assertPodOptions({ claim, podImage, podTemplate, podNamespace, passEnv = [] }: Given): void {
  if (claim !== undefined) throw usageError("--claim cannot be used with --isolation pod.")
  if (podImage === undefined && podTemplate === undefined)
    throw usageError("--isolation pod needs --pod-image, or --pod-template with an image of the container agent.")
  if (podNamespace !== undefined && !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(podNamespace))
    throw usageError(`--pod-namespace cannot be ${JSON.stringify(podNamespace)}; it must be the name of a namespace.`)
  const name = passEnv.find((one) => !variableName.test(one) || one.startsWith("CHANCERY_"))
  if (name !== undefined)
    throw usageError(
      `--pass-env cannot be ${JSON.stringify(name)} with --isolation pod; it must be the name of a variable that does not begin with CHANCERY_.`,
    )
}

function duration(option: string, text: string): number {
  const durationMs = parseDuration(text)
  if (durationMs === undefined || durationMs < 1_000)
    throw usageError(
      `${option} cannot be ${JSON.stringify(text)}; it must be a duration of at least 1s, such as 90s or 2h.`,
    )
  return durationMs
}

/** Range of `lease-seconds` (docs/runs.md, "Execute runs"). */
const leaseBoundsMs = { least: 10 * secondMs, most: 10 * minuteMs }

function leaseDuration(text: string): number {
  const leaseMs = parseDuration(text) ?? Number.NaN
  if (leaseMs >= leaseBoundsMs.least && leaseMs <= leaseBoundsMs.most && leaseMs % secondMs === 0) return leaseMs
  throw usageError(
    `--lease cannot be ${JSON.stringify(text)}; it must be a duration from 10s to 10m in whole seconds, such as 60s.`,
  )
}

/** Limit of the server (docs/runs.md, "Execute runs"). */
const largestLogBytes = 256 * 2 ** 20

function logSize(text: string): number {
  const bytes = size("--max-log", text)
  if (bytes > largestLogBytes)
    throw usageError(`--max-log cannot be ${JSON.stringify(text)}; it must be at most 256MiB.`)
  return bytes
}

function size(option: string, text: string): number {
  const bytes = parseByteSize(text)
  if (bytes === undefined || bytes === 0)
    throw usageError(`${option} cannot be ${JSON.stringify(text)}; it must be a size, such as 512MiB or 2GiB.`)
  return bytes
}
