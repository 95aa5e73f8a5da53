import { Command, CommandError, exitCodes, json, table, type Terminal } from "@chancery/engine/cli"
import type { Kind } from "../api/definition.ts"
import { addClusterOptions, addOutputOption, type ClusterOptions, type OutputFormat } from "./cluster-options.ts"

interface Flags extends ClusterOptions {
  readonly output: OutputFormat
}

export function statusCommand(terminal: Terminal): Command {
  const command = new Command("status")
    .description("Show objects of the operator in a Kubernetes cluster: all, those of a kind, or one in detail.")
    .argument("[kind]", "kind, such as certificate, or KIND/NAME")
    .argument("[name]", "name of the object to show in detail")
  addOutputOption(command)
  addClusterOptions(command)
  return command.action(async (kind: string | undefined, name: string | undefined, flags: Flags) => {
    const { kindNamed } = await import("./object-summary.ts")
    const { kinds } = await import("../api/kinds.ts")
    const [word, ...rest] = kind?.split("/") ?? []
    if (word === undefined) return showAll(kinds, flags, terminal)
    const found = kindNamed(kinds, word)
    if (found === undefined || rest.length > 1 || (rest.length === 1 && name !== undefined)) {
      const known = kinds.map((each) => each.singular).join(", ")
      throw new CommandError(exitCodes.usage, `"${kind}" is not KIND or KIND/NAME; the kinds are ${known}.`)
    }
    const wanted = rest[0] ?? name
    return wanted === undefined ? showAll([found], flags, terminal) : showOne(found, wanted, flags, terminal)
  })
}

async function showAll(kinds: readonly Kind<unknown>[], flags: Flags, terminal: Terminal): Promise<void> {
  const { answered, listAll, openClusterAccess } = await import("./cluster-access.ts")
  const { ApiError } = await import("../kube/cluster.ts")
  const { summaryOf } = await import("./object-summary.ts")
  await using access = openClusterAccess(flags)
  const summaries = []
  for (const kind of kinds) {
    try {
      const objects = await listAll(access, kind, access.listed)
      summaries.push(...objects.map((object) => summaryOf(kind, object)))
    } catch (error) {
      const isSkipped = error instanceof ApiError && (error.status === 403 || error.status === 404) && kinds.length > 1
      if (!isSkipped) await answered(() => Promise.reject(error as Error))
      else
        terminal.say(
          error.status === 404
            ? `${kind.plural} are not installed in this cluster.`
            : `You have no right to list ${kind.plural}.`,
        )
    }
  }
  if (flags.output === "json") terminal.out(json({ items: summaries }))
  else if (summaries.length === 0) terminal.say("There are no objects.")
  else {
    const rows = summaries.map(({ kind, namespace, name, ready, reason, expires, message }) => [
      kind,
      namespace,
      name,
      ready,
      reason,
      expires,
      message,
    ])
    terminal.out(table(["KIND", "NAMESPACE", "NAME", "READY", "REASON", "EXPIRES", "MESSAGE"], rows))
  }
}

async function showOne(kind: Kind<unknown>, name: string, flags: Flags, terminal: Terminal): Promise<void> {
  const { answered, openClusterAccess } = await import("./cluster-access.ts")
  const { listEvents } = await import("./events.ts")
  const { revisionsOf, statusOf, summaryOf } = await import("./object-summary.ts")
  await using access = openClusterAccess(flags)
  const namespace = kind.scope === "Cluster" ? undefined : access.namespace
  const key = namespace === undefined ? name : `${namespace}/${name}`
  const object = await answered(() => access.api.get(kind, key))
  // Events about cluster-scoped objects are in this namespace.
  const events = await answered(() => listEvents(access, namespace ?? "default", object.metadata.uid))
  if (flags.output === "json") return terminal.out(json({ object, events }))
  const summary = summaryOf(kind, object)
  const { conditions = [], nextAttemptTime } = statusOf(object)
  const facts = [
    ["Kind:", kind.kind],
    ["Namespace:", summary.namespace],
    ["Name:", name],
    ["Ready:", `${summary.ready} (${summary.reason})`],
    ["Expires:", summary.expires],
    ["Next attempt:", nextAttemptTime ?? ""],
  ].filter(([, value]) => value !== "")
  const sections = [
    table(facts[0] ?? [], facts.slice(1)),
    titled(
      "Conditions:",
      ["TYPE", "STATUS", "REASON", "SINCE", "MESSAGE"],
      conditions.map((one) => [one.type, one.status, one.reason, one.lastTransitionTime, one.message]),
    ),
    titled("Certificates:", ["REVISION", "SERIAL NUMBER", "EXPIRES", "STATE"], revisionsOf(object)),
    titled(
      "Events:",
      ["TIME", "TYPE", "REASON", "COUNT", "MESSAGE"],
      events.map(({ at, type, reason, count, message }) => [at, type, reason, String(count), message]),
    ),
  ]
  terminal.out(sections.filter((section) => section !== "").join("\n\n"))
}

const titled = (title: string, headings: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.length === 0 ? "" : `${title}\n${table(headings, rows)}`
