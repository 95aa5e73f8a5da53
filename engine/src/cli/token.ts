import { Command } from "commander"
import { isEngineError, notFound } from "../core/errors.ts"
import { firstPage } from "../core/page.ts"
import { formatInstant } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import type { TokenInput } from "../organizations/token.ts"
import type { CreatedToken, TokenView } from "../organizations/tokens.ts"
import { parseDuration } from "./duration.ts"
import { CommandError, exitCodes, usageError } from "./exit-code.ts"
import { everyItem, json, table } from "./report.ts"
import type { Terminal } from "./terminal.ts"
import { addStoreOptions, withEngine } from "./with-engine.ts"

export function tokenCommand(terminal: Terminal): Command {
  return new Command("token")
    .description("Create, list and revoke API tokens, directly in the store.")
    .addCommand(createCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(revokeCommand(terminal))
}

interface OwnerOptions {
  readonly user?: string
  readonly team?: string
  readonly organization?: string
}

interface CreateOptions extends OwnerOptions {
  readonly description?: string
  readonly expires?: string
  readonly json?: true
}

function createCommand(terminal: Terminal): Command {
  const command = addOwnerOptions(new Command("create"))
    .description(
      "Create a token and print it; it cannot be shown again. An organization has one token, and a team one without a description: a new one replaces it.",
    )
    .option("--description <text>", "what the token is for; users and teams only")
    .option("--expires <duration>", "after how long it stops working, such as 12h or 90d (default: never)")
    .option("--json", "print the token and what is known of it as JSON")
  addStoreOptions(command)
  return command.action(async (options: CreateOptions) => {
    const owner = ownerOf(options)
    const lifetimeMs = lifetimeOf(options.expires)
    if (options.description !== undefined && owner.kind === "organization") {
      throw usageError("An organization's token has no description; leave --description out.")
    }
    await withEngine(command, terminal, async (engine, _settings, { clock }) => {
      const input: TokenInput = {
        ...(options.description === undefined ? {} : { description: options.description }),
        ...(lifetimeMs === undefined ? {} : { expiresAt: clock.now() + lifetimeMs }),
      }
      const created = await create(engine, owner, input)
      if (options.json === true) {
        terminal.out(json({ ...shown(created), token: created.secret }))
        return
      }
      const end = created.expiresAt === null ? "does not expire" : `expires at ${formatInstant(created.expiresAt)}`
      terminal.say(`Token ${created.id} for ${describe(owner)} ${end}. It is shown only this once:`)
      terminal.out(created.secret)
    })
  })
}

function listCommand(terminal: Terminal): Command {
  const command = addOwnerOptions(new Command("list"))
    .description("List the tokens of a user, a team or an organization.")
    .option("--json", "print them as JSON")
  addStoreOptions(command)
  return command.action(async (options: OwnerOptions & { json?: true }) => {
    const owner = ownerOf(options)
    await withEngine(command, terminal, async (engine) => {
      const tokens = await list(engine, owner)
      if (options.json === true) {
        terminal.out(json(tokens.map(shown)))
        return
      }
      const rows = tokens.map(({ id, description, createdAt, expiresAt, lastUsedAt }) => [
        id,
        formatInstant(createdAt),
        expiresAt === null ? "never" : formatInstant(expiresAt),
        lastUsedAt === null ? "never" : formatInstant(lastUsedAt),
        description,
      ])
      terminal.out(table(["ID", "CREATED", "EXPIRES", "LAST USED", "DESCRIPTION"], rows))
    })
  })
}

function revokeCommand(terminal: Terminal): Command {
  const command = new Command("revoke")
    .description("Revoke a token: every server on this store refuses it from its next request on.")
    .argument("<id>", "the token's id, at-…")
  addStoreOptions(command)
  return command.action((id: string) =>
    withEngine(command, terminal, async ({ tokens }) => {
      await tokens.delete(id).catch((error: unknown) => {
        throw missing(error, `There is no token ${id}; chancery token list shows the ids.`)
      })
      terminal.say(`Revoked the token ${id}.`)
    }),
  )
}

type Owner =
  | { readonly kind: "user"; readonly name: string }
  | { readonly kind: "team"; readonly organization: string; readonly name: string }
  | { readonly kind: "organization"; readonly name: string }

const addOwnerOptions = (command: Command): Command =>
  command
    .option("--user <name>", "the user whose token it is, such as root")
    .option("--team <organization/team>", "the team whose token it is")
    .option("--organization <name>", "the organization whose token it is")

function ownerOf({ user, team, organization }: OwnerOptions): Owner {
  if ([user, team, organization].filter((given) => given !== undefined).length !== 1) {
    throw usageError("Say whose token it is with exactly one of --user, --team and --organization.")
  }
  if (user !== undefined) return { kind: "user", name: user }
  if (organization !== undefined) return { kind: "organization", name: organization }
  const [, teamOrganization, name] = /^([^/]+)\/([^/]+)$/.exec(team ?? "") ?? []
  if (teamOrganization === undefined || name === undefined) {
    throw usageError("Name the team with its organization, as in --team acme/owners.")
  }
  return { kind: "team", organization: teamOrganization, name }
}

const describe = (owner: Owner): string =>
  `the ${owner.kind} ${owner.kind === "team" ? `${owner.organization}/` : ""}${owner.name}`

async function create(engine: Engine, owner: Owner, input: TokenInput): Promise<CreatedToken> {
  switch (owner.kind) {
    case "user":
      return engine.tokens.createForUser(await userId(engine, owner), input)
    case "team": {
      const id = await teamId(engine, owner)
      return input.description === undefined
        ? engine.tokens.createForTeam(id, input)
        : engine.tokens.addForTeam(id, input)
    }
    case "organization":
      return engine.tokens.createForOrganization(owner.name, input).catch((error: unknown) => {
        throw unknownOwner(error, owner)
      })
    default:
      return owner satisfies never
  }
}

async function list(engine: Engine, owner: Owner): Promise<readonly TokenView[]> {
  switch (owner.kind) {
    case "user": {
      const id = await userId(engine, owner)
      return everyItem((page) => engine.tokens.listForUser(id, page))
    }
    case "team": {
      const id = await teamId(engine, owner)
      return everyItem((page) => engine.tokens.listForTeam(id, page))
    }
    case "organization": {
      await engine.organizations.get(owner.name).catch((error: unknown) => {
        throw unknownOwner(error, owner)
      })
      try {
        return [await engine.tokens.getForOrganization(owner.name)]
      } catch (error) {
        if (isMissing(error)) return []
        throw error
      }
    }
    default:
      return owner satisfies never
  }
}

async function userId(engine: Engine, owner: Owner & { kind: "user" }): Promise<string> {
  const user = await engine.users.findByUsername(owner.name)
  if (user === undefined) throw unknownOwner(notFound(), owner)
  return user.id
}

async function teamId(engine: Engine, owner: Owner & { kind: "team" }): Promise<string> {
  try {
    const { items } = await engine.teams.list(owner.organization, { names: [owner.name] }, firstPage)
    const [team] = items
    if (team === undefined) throw notFound()
    return team.id
  } catch (error) {
    throw unknownOwner(error, owner)
  }
}

function lifetimeOf(expires: string | undefined): number | undefined {
  if (expires === undefined) return undefined
  const lifetimeMs = parseDuration(expires)
  if (lifetimeMs === undefined || lifetimeMs === 0) {
    throw usageError(`--expires cannot be ${JSON.stringify(expires)}; it must be a duration, such as 12h or 90d.`)
  }
  return lifetimeMs
}

const isMissing = (error: unknown): boolean => isEngineError(error, "not-found")

const missing = (error: unknown, sentence: string): unknown =>
  isMissing(error) ? new CommandError(exitCodes.failure, sentence, { cause: error }) : error

const unknownOwner = (error: unknown, owner: Owner): unknown =>
  missing(error, `There is no ${describe(owner).slice("the ".length)}.`)

const shown = ({ id, owner, description, createdAt, expiresAt, lastUsedAt }: TokenView) => ({
  id,
  owner,
  description,
  createdAt: formatInstant(createdAt),
  expiresAt: expiresAt === null ? null : formatInstant(expiresAt),
  lastUsedAt: lastUsedAt === null ? null : formatInstant(lastUsedAt),
})
