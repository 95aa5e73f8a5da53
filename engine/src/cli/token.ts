import { Command } from "commander"
import { isEngineError, notFound } from "../core/errors.ts"
import { firstPage } from "../core/page.ts"
import { systemRuntime } from "../core/runtime.ts"
import { formatInstant, parseDuration } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import type { CreatedToken, TokenInput, TokenView } from "../organizations/token.ts"
import type { ServiceTokenInput } from "../access/service-tokens/service-token.ts"
import type { ServiceTokenView } from "../access/service-tokens/service-token-service.ts"
import { CommandError, exitCodes, usageError } from "./exit-code.ts"
import { everyItem, json, table } from "./report.ts"
import { parseTeamName } from "./team-name.ts"
import type { Terminal } from "./terminal.ts"
import { addCallerOptions, withCallerEngine } from "./with-caller-engine.ts"

export function tokenCommand(terminal: Terminal): Command {
  return new Command("token")
    .description("Create, list and revoke API tokens.")
    .addCommand(createCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(revokeCommand(terminal))
}

interface OwnerOptions {
  readonly user?: string
  readonly team?: string
  readonly organization?: string
  readonly agentPool?: string
}

interface CreateOptions extends OwnerOptions {
  readonly policy?: readonly string[]
  readonly uses?: string
  readonly description?: string
  readonly expires?: string
  readonly json?: true
}

function createCommand(terminal: Terminal): Command {
  const command = addOwnerOptions(new Command("create"))
    .description(
      "Create a token and print it. The token is shown only once. A new token of an organization replaces the previous one, and so does a new token of a team without --description. With --policy, create a service token, which has no owner and is valid on the certificate API only.",
    )
    .option("--policy <name>", "policy of a service token; repeat it for several", appended)
    .option("--uses <count>", "maximum number of uses of a service token (default: unlimited)")
    .option("--description <text>", "description of the token; required for agent pools, and not for organizations")
    .option(
      "--expires <duration>",
      "lifetime of the token, such as 12h or 90d (default: unlimited; service tokens: 768h)",
    )
    .option("--json", "print the token and its attributes as JSON")
  addCallerOptions(command)
  return command.action(async (options: CreateOptions) => {
    const lifetimeMs = lifetimeOf(options.expires)
    if (options.policy !== undefined) {
      const input = serviceTokenInput({ ...options, policy: options.policy }, lifetimeMs)
      await withCallerEngine(command, terminal, (engine) =>
        createService(engine, terminal, input, options.json === true),
      )
      return
    }
    if (options.uses !== undefined) throw usageError("--uses is only for service tokens; give a --policy too.")
    const owner = ownerOf(options)
    if (options.description !== undefined && owner.kind === "organization") {
      throw usageError("--description is not for tokens of organizations; omit it.")
    }
    if (options.description === undefined && owner.kind === "agent pool") {
      throw usageError("--agent-pool needs --description, which identifies the token, such as the name of the agent.")
    }
    await withCallerEngine(command, terminal, async (engine) => {
      const input: TokenInput = {
        ...(options.description === undefined ? {} : { description: options.description }),
        ...(lifetimeMs === undefined ? {} : { expiresAt: systemRuntime().clock.now() + lifetimeMs }),
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
    .description("List the tokens of a user, a team, an organization or an agent pool, or all service tokens.")
    .option("--service", "list all service tokens")
    .option("--json", "print a JSON array")
  addCallerOptions(command)
  return command.action(async (options: OwnerOptions & { json?: true; service?: true }) => {
    if (options.service === true) {
      rejectOwner(options, "--service")
      await withCallerEngine(command, terminal, (engine) => listService(engine, terminal, options.json === true))
      return
    }
    const owner = ownerOf(options)
    await withCallerEngine(command, terminal, async (engine) => {
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
    .description("Revoke a token. Every server rejects it from its next request on.")
    .argument("<id>", "id of the token, from `chancery token list`")
  addCallerOptions(command)
  return command.action((id: string) =>
    withCallerEngine(command, terminal, async ({ tokens, serviceTokens }) => {
      await tokens.delete(id).catch(async (error: unknown) => {
        if (!isMissing(error)) throw error
        await serviceTokens.revoke({ accessor: id }).catch((refusal: unknown) => {
          if (!isEngineError(refusal, "forbidden")) throw refusal
          throw missing(error, `No token has the id ${id}; run chancery token list to see the ids.`)
        })
      })
      terminal.say(`Revoked the token ${id}.`)
    }),
  )
}

const appended = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

function rejectOwner(options: OwnerOptions, option: string): void {
  if (ownersIn(options).length > 0) {
    throw usageError(
      `Service tokens have no owner; omit --user, --team, --organization and --agent-pool with ${option}.`,
    )
  }
}

function serviceTokenInput(
  { policy, description, uses, ...owner }: CreateOptions & { readonly policy: readonly string[] },
  lifetimeMs: number | undefined,
): ServiceTokenInput {
  rejectOwner(owner, "--policy")
  if (uses !== undefined && !/^[1-9]\d{0,8}$/.test(uses)) {
    throw usageError(`--uses cannot be ${JSON.stringify(uses)}; it must be a whole number of at least 1.`)
  }
  return {
    policies: policy,
    ...(description === undefined ? {} : { displayName: description }),
    ...(uses === undefined ? {} : { numUses: Number(uses) }),
    ...(lifetimeMs === undefined ? {} : { ttlMs: lifetimeMs }),
  }
}

async function createService(
  { serviceTokens }: Engine,
  terminal: Terminal,
  input: ServiceTokenInput,
  asJson: boolean,
): Promise<void> {
  const { secret, token, warnings } = await serviceTokens.create(input)
  for (const warning of warnings) terminal.say(warning)
  if (asJson) {
    terminal.out(json({ ...shownService(token), token: secret }))
    return
  }
  const end = token.expiresAt === null ? "does not expire" : `expires at ${formatInstant(token.expiresAt)}`
  terminal.say(`Service token ${token.accessor} with ${token.policies.join(", ")} ${end}. It is shown only this once:`)
  terminal.out(secret)
}

async function listService({ serviceTokens }: Engine, terminal: Terminal, asJson: boolean): Promise<void> {
  const tokens: ServiceTokenView[] = []
  for (const accessor of await serviceTokens.list()) {
    // Skips a token that expired or was revoked after the list was read.
    const token = await serviceTokens.lookup({ accessor }).catch((error: unknown) => {
      if (!isEngineError(error, "forbidden")) throw error
      return undefined
    })
    if (token !== undefined) tokens.push(token)
  }
  if (asJson) {
    terminal.out(json(tokens.map(shownService)))
    return
  }
  const rows = tokens.map(({ accessor, createdAt, expiresAt, usesLeft, policies, displayName }) => [
    accessor,
    formatInstant(createdAt),
    expiresAt === null ? "never" : formatInstant(expiresAt),
    usesLeft === null ? "any" : String(usesLeft),
    policies.join(","),
    displayName,
  ])
  terminal.out(table(["ID", "CREATED", "EXPIRES", "USES LEFT", "POLICIES", "NAME"], rows))
}

const shownService = ({
  accessor,
  displayName,
  policies,
  orphan,
  createdAt,
  expiresAt,
  usesLeft,
}: ServiceTokenView) => ({
  id: accessor,
  name: displayName,
  policies,
  orphan,
  usesLeft,
  createdAt: formatInstant(createdAt),
  expiresAt: expiresAt === null ? null : formatInstant(expiresAt),
})

type Owner =
  | { readonly kind: "user"; readonly name: string }
  | { readonly kind: "team"; readonly organization: string; readonly name: string }
  | { readonly kind: "organization"; readonly name: string }
  /** Named by its id, or by its organization and name. */
  | { readonly kind: "agent pool"; readonly name: string }

const addOwnerOptions = (command: Command): Command =>
  command
    .option("--user <name>", "user that owns the token, such as root")
    .option("--team <organization/team>", "team that owns the token, such as acme/platform")
    .option("--organization <name>", "organization that owns the token, such as acme")
    .option(
      "--agent-pool <organization/pool>",
      "agent pool that owns the token, such as acme/office, or its id (apool-…)",
    )

const ownersIn = ({ user, team, organization, agentPool }: OwnerOptions): readonly string[] =>
  [user, team, organization, agentPool].filter((option) => option !== undefined)

function ownerOf(options: OwnerOptions): Owner {
  const { user, team, organization, agentPool } = options
  if (ownersIn(options).length !== 1) {
    throw usageError("Give exactly one of --user, --team, --organization and --agent-pool.")
  }
  if (agentPool !== undefined) return { kind: "agent pool", name: agentPool }
  if (user !== undefined) return { kind: "user", name: user }
  if (organization !== undefined) return { kind: "organization", name: organization }
  const named = parseTeamName(team ?? "")
  return { kind: "team", organization: named.organization, name: named.team }
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
    case "agent pool":
      return engine.tokens.createForAgentPool(await agentPoolId(engine, owner), input)
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
    case "agent pool": {
      const id = await agentPoolId(engine, owner)
      return everyItem((page) => engine.tokens.listForAgentPool(id, page))
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

async function agentPoolId(engine: Engine, owner: Owner & { kind: "agent pool" }): Promise<string> {
  const [, organization, name] = /^([^/]+)\/(.+)$/.exec(owner.name) ?? []
  try {
    if (organization === undefined || name === undefined) return (await engine.agentPools.get(owner.name)).id
    const found = await everyItem((page) => engine.agentPools.list(organization, { search: name }, page))
    const pool = found.find((each) => each.name === name)
    if (pool === undefined) throw notFound()
    return pool.id
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
