import { Command, json, processLog, table, type Terminal, untilStopped } from "@chancery/engine/cli"
import { addClusterOptions, addOutputOption, type ClusterOptions, type OutputFormat } from "./cluster-options.ts"
import type { ShownEvent } from "./events.ts"

interface Flags extends ClusterOptions {
  readonly watch?: true
  readonly output: OutputFormat
}

export function eventsCommand(terminal: Terminal): Command {
  const command = new Command("events")
    .description(
      "Show the events of the operator in a Kubernetes cluster, oldest first. Events about cluster-scoped objects are in the namespace default.",
    )
    .option("-w, --watch", "also print new events until interrupted, with -o json one per line")
  addOutputOption(command)
  addClusterOptions(command)
  return command.action(async (flags: Flags) => {
    const { answered, openClusterAccess } = await import("./cluster-access.ts")
    const { followEvents, listEvents } = await import("./events.ts")
    await using access = openClusterAccess(flags)
    if (flags.watch === true) {
      const ending = new AbortController()
      void untilStopped(processLog("error"), terminal).then(() => ending.abort())
      const print = (event: ShownEvent) =>
        terminal.out(flags.output === "json" ? JSON.stringify(event) : cellsOf(event).join("  "))
      return await answered(() => followEvents(access, access.runtime, access.listed, print, ending.signal))
    }
    const events = await answered(() => listEvents(access, access.listed))
    if (flags.output === "json") terminal.out(json({ items: events }))
    else if (events.length === 0) terminal.say("There are no events.")
    else terminal.out(table(["TIME", "TYPE", "REASON", "NAMESPACE", "OBJECT", "COUNT", "MESSAGE"], events.map(cellsOf)))
  })
}

const cellsOf = ({ at, type, reason, namespace, object, count, message }: ShownEvent): readonly string[] => [
  at,
  type,
  reason,
  namespace || "-",
  object,
  String(count),
  message,
]
