// The events of workspaces: those in the feed, and with `--follow` also later ones.
import { Command } from "commander"
import { isEngineError } from "../core/errors.ts"
import { formatInstant } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import type { EventQuery, EventView } from "../events/feed/events.ts"
import { CommandError, exitCodes } from "./exit-code.ts"
import type { Terminal } from "./terminal.ts"
import { withCallerEngine } from "./with-caller-engine.ts"
import { type Common, names, organizationOf, prepared } from "./workspace-selection.ts"

interface EventOptions extends Common {
  readonly follow?: true
  readonly since?: string
  readonly kinds?: readonly string[]
  readonly workspaces?: readonly string[]
  readonly tags?: readonly string[]
}

export function eventsCommand(terminal: Terminal): Command {
  const command = prepared(new Command("events"))
    .description(
      "Print the events of workspaces, oldest first, one per line. With --json, each line is a JSON document.",
    )
    .option("--follow", "print new events as they happen, until interrupted")
    .option(
      "--since <position>",
      "RFC 3339 time or id of an event to begin after (default: the oldest event; with --follow: now)",
    )
    .option(
      "--kinds <names>",
      "comma-separated kinds, such as workspace.locked, or workspace.* for all workspace events",
      names,
    )
    .option("--workspaces <names>", "comma-separated names or ids of workspaces", names)
    .option(
      "--tags <names>",
      "comma-separated flat tags or keys of bindings; the workspace must have one of them",
      names,
    )
  return command.action((options: EventOptions) =>
    withCallerEngine(command, terminal, async (engine) => {
      const organization = await organizationOf(engine, terminal, options)
      const tell = (event: EventView) =>
        terminal.out(options.json === true ? JSON.stringify(shown(event)) : lineOf(event))
      try {
        if (options.follow === true) await follow(engine, organization, queryOf(options), tell)
        else await tellAll(engine, organization, queryOf(options), tell)
      } catch (error) {
        if (!isEngineError(error, "gone")) throw error
        throw new CommandError(
          exitCodes.failure,
          "--since is before the oldest stored event; omit it to begin there.",
          {
            cause: error,
          },
        )
      }
    }),
  )
}

async function tellAll(
  engine: Engine,
  organization: string,
  query: EventQuery,
  tell: (event: EventView) => void,
): Promise<void> {
  let since = query.since
  for (;;) {
    const page = await engine.events.list(organization, { ...query, ...(since === undefined ? {} : { since }) })
    page.items.forEach(tell)
    if (!page.more) return
    since = page.cursor
  }
}

async function follow(
  engine: Engine,
  organization: string,
  query: EventQuery,
  tell: (event: EventView) => void,
): Promise<void> {
  const ending = new AbortController()
  const end = () => ending.abort()
  process.once("SIGINT", end).once("SIGTERM", end)
  try {
    for await (const event of await engine.events.follow(organization, query, { signal: ending.signal })) tell(event)
  } catch (error) {
    if (!ending.signal.aborted) throw error
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end)
  }
}

const queryOf = ({ since, kinds, workspaces, tags }: EventOptions): EventQuery => ({
  ...(since === undefined ? {} : { since }),
  ...(kinds === undefined ? {} : { kinds }),
  ...(workspaces === undefined ? {} : { workspaces }),
  ...(tags === undefined ? {} : { tags }),
})

function lineOf({ at, kind, workspace, changed, subject, actor }: EventView): string {
  const about = [
    workspace?.name,
    subject === null ? undefined : [subject.type, subject.id, subject.status].filter(Boolean).join(" "),
    changed.length === 0 ? undefined : `(${changed.join(", ")})`,
    actor === null ? undefined : `by ${actor.type}/${actor.id}`,
  ]
  return [formatInstant(at), kind, ...about.filter((part) => part !== undefined)].join("  ")
}

const shown = ({ at, ...event }: EventView) => ({ ...event, at: formatInstant(at) })
