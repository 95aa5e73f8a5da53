import { Command, Option } from "commander"
import { isEngineError } from "../core/errors.ts"
import { formatInstant } from "../core/time.ts"
import type { Enrolments, EnrolmentView } from "../pki/enrolments/enrolment-api.ts"
import type { EnrolmentState } from "../pki/enrolments/enrolment.ts"
import { CommandError, exitCodes } from "./exit-code.ts"
import { json, table } from "./report.ts"
import type { Terminal } from "./terminal.ts"
import { addCallerOptions, withCallerEngine } from "./with-caller-engine.ts"

export function enrolmentCommand(terminal: Terminal): Command {
  return new Command("enrolment")
    .description("List, show, approve and deny enrolment requests that wait for a decision.")
    .addCommand(listCommand(terminal))
    .addCommand(showCommand(terminal))
    .addCommand(decisionCommand(terminal, "approve"))
    .addCommand(decisionCommand(terminal, "deny"))
}

/** Repeats `enrolmentStates`, so that a command line loads no rules of the engine. */
const states: readonly EnrolmentState[] = ["pending", "approved", "denied", "issued"]

interface ListOptions {
  readonly state?: EnrolmentState
  readonly json?: true
}

function listCommand(terminal: Terminal): Command {
  const command = new Command("list")
    .description("List the enrolments of a mount that have not expired, oldest first.")
    .argument("<mount>", "path of the mount, such as pki")
    .addOption(new Option("--state <state>", "list only enrolments in this state").choices(states))
    .option("--json", "print a JSON array")
  return addCallerOptions(command).action((mount: string, { state, json: asJson }: ListOptions) =>
    withCallerEngine(command, terminal, async (engine) => {
      const all = await everyEnrolment(engine.pki(mount).enrolments, state)
      if (asJson === true) {
        terminal.out(json(all.map(shown)))
        return
      }
      const rows = all.map(({ id, state: current, requester, subject, names, createdAt, expiresAt }) => [
        id,
        current,
        requester,
        subject,
        names.join(","),
        formatInstant(createdAt),
        formatInstant(expiresAt),
      ])
      terminal.out(table(["ID", "STATE", "REQUESTER", "SUBJECT", "NAMES", "CREATED", "EXPIRES"], rows))
    }),
  )
}

function showCommand(terminal: Terminal): Command {
  const command = new Command("show")
    .description("Print an enrolment and its CSR as JSON.")
    .argument("<mount>", "path of the mount, such as pki")
    .argument("<id>", "id of the enrolment (enrol-…)")
  return addCallerOptions(command).action((mount: string, id: string) =>
    withCallerEngine(command, terminal, async (engine) => {
      terminal.out(json(shown(await known(id, engine.pki(mount).enrolments.get(id)))))
    }),
  )
}

const descriptions = {
  approve: "Approve a pending enrolment: the client gets its certificate when it repeats the request.",
  deny: "Deny a pending enrolment. The client gets the comment.",
} as const

function decisionCommand(terminal: Terminal, verb: keyof typeof descriptions): Command {
  const command = new Command(verb)
    .description(descriptions[verb])
    .argument("<mount>", "path of the mount, such as pki")
    .argument("<id>", "id of the enrolment (enrol-…)")
    .option("--comment <text>", "text to store with the decision, at most 1024 characters")
  return addCallerOptions(command).action((mount: string, id: string, { comment }: { readonly comment?: string }) =>
    withCallerEngine(command, terminal, async (engine) => {
      const input = comment === undefined ? {} : { comment }
      const { state } = await known(id, engine.pki(mount).enrolments[verb](id, input))
      terminal.say(`The enrolment ${id} is ${state}.`)
    }),
  )
}

async function everyEnrolment(
  enrolments: Enrolments,
  state: EnrolmentState | undefined,
): Promise<readonly EnrolmentView[]> {
  const items: EnrolmentView[] = []
  for (;;) {
    const after = items.at(-1)?.id
    const page = await enrolments.list({ ...(after !== undefined && { after }), ...(state !== undefined && { state }) })
    if (page.length === 0) return items
    items.push(...page)
  }
}

async function known<T>(id: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    // If the mount is missing, the error already names it.
    if (!isEngineError(error, "not-found") || error.subject !== id) throw error
    const sentence = `This mount has no enrolment ${id}; run chancery enrolment list to see all.`
    throw new CommandError(exitCodes.failure, sentence, { cause: error })
  }
}

const shown = ({ createdAt, expiresAt, decidedAt, ...enrolment }: EnrolmentView) => ({
  ...enrolment,
  createdAt: formatInstant(createdAt),
  expiresAt: formatInstant(expiresAt),
  decidedAt: decidedAt === null ? null : formatInstant(decidedAt),
})
