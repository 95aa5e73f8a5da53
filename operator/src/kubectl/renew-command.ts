import { Command, CommandError, exitCodes, json, table, type Terminal } from "@chancery/engine/cli"
import { parseGoDuration } from "../go-duration.ts"
import { addClusterOptions, addOutputOption, type ClusterOptions, type OutputFormat } from "./cluster-options.ts"
import type { IssuerSelection } from "./renewal-request.ts"

interface Flags extends ClusterOptions {
  readonly issuer?: string
  readonly clusterIssuer?: string
  readonly selector?: string
  readonly all?: true
  readonly dryRun?: true
  readonly wait?: true
  readonly timeout: string
  readonly output: OutputFormat
}

export function renewCommand(terminal: Terminal): Command {
  const command = new Command("renew")
    .description("Request the renewal of Certificates in a Kubernetes cluster.")
    .argument("[name...]", "Certificates; with the options of a selection, those of them that match")
    .option("--issuer <name>", "Certificates of this Issuer, such as ca or shop/ca")
    .option("--cluster-issuer <name>", "Certificates of this ClusterIssuer")
    .option("-l, --selector <labels>", "Certificates with these labels, such as app=web,tier!=dev")
    .option("--all", "all Certificates of the namespace, or with -A of all namespaces")
    .option("--dry-run", "only print the Certificates")
    .option("--wait", "wait until all are renewed; end with code 1 as soon as one fails, and with 75 at the timeout")
    .option("--timeout <duration>", "maximum time of --wait, such as 90s", "10m")
  addOutputOption(command)
  addClusterOptions(command)
  return command.action((names: readonly string[], flags: Flags) => renew(names, flags, terminal))
}

async function renew(names: readonly string[], flags: Flags, terminal: Terminal): Promise<void> {
  const { issuer, ...selection } = selectionOf(names, flags)
  const timeoutMs = parseGoDuration(flags.timeout)
  if (timeoutMs === undefined)
    throw new CommandError(
      exitCodes.usage,
      `--timeout cannot be "${flags.timeout}"; it must be a duration, such as 10m or 90s.`,
    )
  const { openClusterAccess } = await import("./cluster-access.ts")
  const { followRenewals, requestRenewal, selectCertificates } = await import("./renewal-request.ts")
  await using access = openClusterAccess({
    ...flags,
    ...(issuer?.namespace === undefined ? {} : { namespace: issuer.namespace }),
  })
  const selected = await selectCertificates(access, { ...selection, ...(issuer === undefined ? {} : { issuer }) })
  const token = new Date(access.runtime.clock.now()).toISOString()
  const requested: Outcome[] = []
  for (const object of selected) {
    const { namespace = "", name } = object.metadata
    const place = { namespace, name }
    if (flags.dryRun === true) {
      requested.push({ ...place, result: "Selected", message: "The Certificate would be renewed." })
      continue
    }
    const { problem, isPaused } = await requestRenewal(access, object, token)
    requested.push({
      ...place,
      result: problem === undefined ? "Requested" : "Rejected",
      message: problem ?? (isPaused ? "The Certificate is paused." : ""),
    })
  }
  if (flags.output === "table" || flags.wait !== true) print(requested, flags, terminal)
  const rejected = requested.filter(({ result }) => result === "Rejected").length
  if (rejected > 0)
    throw new CommandError(exitCodes.failure, `${rejected} of ${requested.length} requests were rejected.`)
  if (flags.wait !== true || flags.dryRun === true || requested.length === 0) return

  const keyOf = ({ namespace, name }: Outcome) => `${namespace}/${name}`
  const states = await followRenewals(
    access,
    requested.map(keyOf),
    token,
    (key, { message }) => {
      if (flags.output === "table") terminal.out(`${key}: ${message}`)
    },
    AbortSignal.timeout(timeoutMs),
  )
  const outcomes = requested.map((one): Outcome => {
    const { is = "waiting", message = "" } = states.get(keyOf(one)) ?? {}
    return { ...one, result: results[is], message }
  })
  if (flags.output === "json") print(outcomes, flags, terminal)
  const failed = outcomes.filter(({ result }) => result === "Failed").map(keyOf)
  if (failed.length > 0) throw new CommandError(exitCodes.failure, `Not renewed: ${listed(failed)}.`)
  const waiting = outcomes.filter(({ result }) => result === "Waiting").map(keyOf)
  if (waiting.length > 0)
    throw new CommandError(exitCodes.busy, `Not renewed within ${flags.timeout}: ${listed(waiting)}.`)
}

interface Outcome {
  readonly namespace: string
  readonly name: string
  readonly result: "Selected" | "Requested" | "Rejected" | "Renewed" | "Failed" | "Waiting"
  readonly message: string
}

const results = { renewed: "Renewed", failed: "Failed", waiting: "Waiting" } as const

function print(outcomes: readonly Outcome[], { output }: Flags, terminal: Terminal): void {
  if (output === "json") terminal.out(json({ items: outcomes }))
  else if (outcomes.length === 0) terminal.say("No Certificate matches.")
  else {
    const rows = outcomes.map(({ namespace, name, result, message }) => [namespace, name, result, message])
    terminal.out(table(["NAMESPACE", "NAME", "RESULT", "MESSAGE"], rows))
  }
}

const maxListed = 10

function listed(keys: readonly string[]): string {
  const rest = keys.length - maxListed
  return `${keys.slice(0, maxListed).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`
}

interface Selection {
  readonly names: readonly string[]
  readonly issuer?: IssuerSelection & { readonly namespace?: string }
  readonly selector?: string
}

/** Returns the selection. Throws if it is empty or contradictory. */
export function selectionOf(names: readonly string[], flags: Omit<Flags, "output" | "timeout">): Selection {
  const { issuer, clusterIssuer, selector, all, namespace, allNamespaces } = flags
  if (issuer !== undefined && clusterIssuer !== undefined)
    throw new CommandError(exitCodes.usage, "--issuer and --cluster-issuer are mutually exclusive.")
  const isNarrowed = names.length > 0 || [issuer, clusterIssuer, selector].some((one) => one !== undefined)
  if (all === true && isNarrowed)
    throw new CommandError(exitCodes.usage, "--all cannot be combined with names or another selection.")
  if (all !== true && !isNarrowed)
    throw new CommandError(
      exitCodes.usage,
      "Name Certificates, or select them with --issuer, --cluster-issuer, --selector or --all.",
    )
  const selection = { names, ...(selector === undefined ? {} : { selector }) }
  if (clusterIssuer !== undefined) return { ...selection, issuer: { kind: "ClusterIssuer", name: clusterIssuer } }
  if (issuer === undefined) return selection
  const [first = "", name, ...others] = issuer.split("/")
  if (first === "" || name === "" || others.length > 0)
    throw new CommandError(exitCodes.usage, `--issuer cannot be "${issuer}"; it must be NAME or NAMESPACE/NAME.`)
  if (name === undefined) return { ...selection, issuer: { kind: "Issuer", name: first } }
  if (allNamespaces === true || (namespace !== undefined && namespace !== first))
    throw new CommandError(
      exitCodes.usage,
      `--issuer ${issuer} selects Certificates of the namespace ${first} only; omit --namespace and --all-namespaces.`,
    )
  return { ...selection, issuer: { kind: "Issuer", namespace: first, name } }
}
