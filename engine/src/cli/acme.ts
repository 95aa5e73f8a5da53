import { Command } from "commander"
import type {
  AcmeManagement,
  ManagedAccountView,
  ManagedOrderView,
  RenewalSignalInput,
  RenewalSignalView,
} from "../acme/accounts/management.ts"
import { isEngineError } from "../core/errors.ts"
import { formatInstant, parseDuration } from "../core/time.ts"
import type { KeyPage } from "../pki/mounts/key-page.ts"
import { CommandError, exitCodes, usageError } from "./exit-code.ts"
import { json, table } from "./report.ts"
import type { Terminal } from "./terminal.ts"
import { addCallerOptions, withCallerEngine } from "./with-caller-engine.ts"

export function acmeCommand(terminal: Terminal): Command {
  return new Command("acme")
    .description("Manage ACME accounts, orders and renewal signals.")
    .addCommand(accountsCommand(terminal))
    .addCommand(ordersCommand(terminal))
    .addCommand(renewalsCommand(terminal))
}

interface AsJson {
  readonly json?: true
}

function accountsCommand(terminal: Terminal): Command {
  const list = new Command("list")
    .description("List the ACME accounts of a mount.")
    .argument("<mount>", "path of the mount, such as pki")
    .option("--json", "print a JSON array")
  addCallerOptions(list).action((mount: string, { json: asJson }: AsJson) =>
    withCallerEngine(list, terminal, async (engine) => {
      const { accounts } = engine.acme(mount)
      const all = await everyKey((page) => accounts.list(page))
      if (asJson === true) {
        terminal.out(json(all.map(shownAccount)))
        return
      }
      const rows = all.map(({ id, status, acmeDirectory, createdAt, contact }) => [
        id,
        status,
        acmeDirectory,
        formatInstant(createdAt),
        contact.join(","),
      ])
      terminal.out(table(["ID", "STATUS", "DIRECTORY", "CREATED", "CONTACTS"], rows))
    }),
  )
  const show = new Command("show")
    .description("Print an ACME account and its newest orders (up to 100) as JSON.")
    .argument("<mount>", "path of the mount, such as pki")
    .argument("<id>", "id of the account (acct-…)")
  addCallerOptions(show).action((mount: string, id: string) =>
    withCallerEngine(show, terminal, async (engine) => {
      const { orders, ...account } = await known("account", id, engine.acme(mount).accounts.get(id))
      terminal.out(json({ ...shownAccount(account), orders: orders.map(shownOrder) }))
    }),
  )
  return new Command("accounts")
    .description("List, show, disable, enable and delete ACME accounts.")
    .addCommand(list)
    .addCommand(show)
    .addCommand(statusCommand(terminal, "disable"))
    .addCommand(statusCommand(terminal, "enable"))
    .addCommand(
      endCommand(terminal, {
        what: "account",
        verb: "delete",
        description: "Delete an ACME account and its orders. Its certificates are kept.",
        message: (id) => `The account ${id} is deleted.`,
        end: (acme, id) => acme.accounts.delete(id),
      }),
    )
}

const statuses = {
  disable: {
    status: "revoked",
    description: "Disable an ACME account: the server rejects its requests and discards its authorizations.",
  },
  enable: { status: "valid", description: "Enable a disabled ACME account again." },
} as const

function statusCommand(terminal: Terminal, verb: keyof typeof statuses): Command {
  const { status, description } = statuses[verb]
  const command = new Command(verb)
    .description(description)
    .argument("<mount>", "path of the mount, such as pki")
    .argument("<id>", "id of the account (acct-…)")
  return addCallerOptions(command).action((mount: string, id: string) =>
    withCallerEngine(command, terminal, async (engine) => {
      const account = await known("account", id, engine.acme(mount).accounts.changeStatus(id, status))
      terminal.say(`The account ${id} is ${account.status}.`)
    }),
  )
}

function ordersCommand(terminal: Terminal): Command {
  const list = new Command("list")
    .description("List the ACME orders of a mount.")
    .argument("<mount>", "path of the mount, such as pki")
    .option("--account <id>", "list only the orders of this account (acct-…)")
    .option("--json", "print a JSON array")
  addCallerOptions(list).action((mount: string, { account, json: asJson }: AsJson & { readonly account?: string }) =>
    withCallerEngine(list, terminal, async (engine) => {
      const { orders } = engine.acme(mount)
      const of = account === undefined ? {} : { accountId: account }
      const all = await everyKey((page) => orders.list({ ...page, ...of }))
      if (asJson === true) {
        terminal.out(json(all.map(shownOrder)))
        return
      }
      const rows = all.map(({ id, status, accountId, createdAt, identifiers }) => [
        id,
        status,
        accountId,
        formatInstant(createdAt),
        identifiers.join(","),
      ])
      terminal.out(table(["ID", "STATUS", "ACCOUNT", "CREATED", "IDENTIFIERS"], rows))
    }),
  )
  const show = new Command("show")
    .description("Print an ACME order as JSON.")
    .argument("<mount>", "path of the mount, such as pki")
    .argument("<id>", "id of the order (order-…)")
  addCallerOptions(show).action((mount: string, id: string) =>
    withCallerEngine(show, terminal, async (engine) => {
      terminal.out(json(shownOrder(await known("order", id, engine.acme(mount).orders.get(id)))))
    }),
  )
  return new Command("orders")
    .description("List, show and delete ACME orders.")
    .addCommand(list)
    .addCommand(show)
    .addCommand(
      endCommand(terminal, {
        what: "order",
        verb: "delete",
        description: "Delete an ACME order. Its certificate is kept.",
        message: (id) => `The order ${id} is deleted.`,
        end: (acme, id) => acme.orders.delete(id),
      }),
    )
}

interface RaiseOptions extends AsJson {
  readonly issuer?: string
  readonly serial?: readonly string[]
  readonly within?: string
  readonly explanationUrl?: string
}

function renewalsCommand(terminal: Terminal): Command {
  const raise = new Command("raise")
    .description(
      "Raise a renewal signal: ACME clients that support renewal information (RFC 9773) then renew certificates early.",
    )
    .argument("<mount>", "path of the mount, such as pki")
    .option("--issuer <reference>", "name or id of an issuer, to renew all certificates that it has issued until now")
    .option(
      "--serial <number>",
      "serial number of a certificate to renew, instead of --issuer; repeat it for several",
      appended,
    )
    .option("--within <duration>", "time over which clients spread the renewals, such as 24h (default: at once)")
    .option("--explanation-url <url>", "URL of a page that explains the renewal to users")
    .option("--json", "print the signal as JSON")
  addCallerOptions(raise).action((mount: string, options: RaiseOptions) => {
    const input = signalInput(options)
    return withCallerEngine(raise, terminal, async (engine) => {
      const signal = await engine.acme(mount).renewals.raise(input)
      if (options.json === true) terminal.out(json(shownSignal(signal)))
      else terminal.out(`Raised ${signal.id}: ${meaningOf(signal)} renew until ${formatInstant(signal.renewBy)}.`)
    })
  })
  const list = new Command("list")
    .description("List the current renewal signals of a mount.")
    .argument("<mount>", "path of the mount, such as pki")
    .option("--json", "print a JSON array")
  addCallerOptions(list).action((mount: string, { json: asJson }: AsJson) =>
    withCallerEngine(list, terminal, async (engine) => {
      const all = await engine.acme(mount).renewals.list()
      if (asJson === true) {
        terminal.out(json(all.map(shownSignal)))
        return
      }
      const rows = all.map((signal) => [
        signal.id,
        meaningOf(signal),
        formatInstant(signal.raisedAt),
        formatInstant(signal.renewBy),
        signal.explanationUrl ?? "",
      ])
      terminal.out(table(["ID", "CERTIFICATES", "RAISED", "RENEW BY", "EXPLANATION"], rows))
    }),
  )
  return new Command("renewals")
    .description("Raise, list and withdraw renewal signals, which make ACME clients renew certificates early.")
    .addCommand(raise)
    .addCommand(list)
    .addCommand(
      endCommand(terminal, {
        what: "signal",
        verb: "withdraw",
        description: "Withdraw a renewal signal.",
        message: (id) => `The signal ${id} is withdrawn.`,
        end: (acme, id) => acme.renewals.withdraw(id),
      }),
    )
}

const appended = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

function signalInput({ issuer, serial, within, explanationUrl }: RaiseOptions): RenewalSignalInput {
  if ((issuer === undefined) === (serial === undefined)) throw usageError("Give exactly one of --issuer and --serial.")
  const withinMs = within === undefined ? 0 : parseDuration(within)
  if (withinMs === undefined)
    throw usageError(`--within cannot be ${JSON.stringify(within)}; it must be a duration, such as 12h or 7d.`)
  return {
    ...(issuer === undefined ? {} : { issuerRef: issuer }),
    ...(serial === undefined ? {} : { serialNumbers: serial }),
    ...(explanationUrl === undefined ? {} : { explanationUrl }),
    withinMs,
  }
}

const meaningOf = ({ issuerId, serialNumberCount }: RenewalSignalView): string =>
  issuerId === null ? `${serialNumberCount} certificate${serialNumberCount === 1 ? "" : "s"}` : `all of ${issuerId}`

interface Ending {
  readonly what: "account" | "order" | "signal"
  readonly verb: "delete" | "withdraw"
  readonly description: string
  readonly message: (id: string) => string
  readonly end: (acme: AcmeManagement, id: string) => Promise<void>
}

function endCommand(terminal: Terminal, { what, verb, description, message, end }: Ending): Command {
  const command = new Command(verb)
    .description(description)
    .argument("<mount>", "path of the mount, such as pki")
    .argument("<id>", `id of the ${what}`)
  return addCallerOptions(command).action((mount: string, id: string) =>
    withCallerEngine(command, terminal, async (engine) => {
      await known(what, id, end(engine.acme(mount), id))
      terminal.say(message(id))
    }),
  )
}

/** Returns all items of a list that is read page by page, with the id of the last item as the cursor. */
async function everyKey<T extends { readonly id: string }>(list: (page: KeyPage) => Promise<readonly T[]>) {
  const items: T[] = []
  for (;;) {
    const after = items.at(-1)?.id
    const page = await list(after === undefined ? {} : { after })
    if (page.length === 0) return items
    items.push(...page)
  }
}

async function known<T>(what: Ending["what"], id: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    // If the mount is missing, the error already names it.
    if (!isEngineError(error, "not-found") || error.subject !== id) throw error
    const sentence = `This mount has no ${what} ${id}; run chancery acme ${what === "signal" ? "renewal" : what}s list to see all.`
    throw new CommandError(exitCodes.failure, sentence, { cause: error })
  }
}

const shownAccount = ({ createdAt, statusAt, ...account }: ManagedAccountView) => ({
  ...account,
  createdAt: formatInstant(createdAt),
  statusAt: formatInstant(statusAt),
})

const shownOrder = ({ createdAt, expiresAt, ...order }: ManagedOrderView) => ({
  ...order,
  createdAt: formatInstant(createdAt),
  expiresAt: formatInstant(expiresAt),
})

const shownSignal = ({ raisedAt, renewBy, ...signal }: RenewalSignalView) => ({
  ...signal,
  raisedAt: formatInstant(raisedAt),
  renewBy: formatInstant(renewBy),
})
