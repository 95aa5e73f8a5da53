import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { isEngineError } from "../../core/errors.ts"
import type { ServedEngine } from "../../engine.ts"
import type { RunningServer } from "../../server/server.ts"
import { writeDurably } from "../../storage/sqlite/durable-file.ts"
import { developmentOrganization, defaultManifests, type DevOptions } from "../dev-defaults.ts"
import { runDevAgent } from "../dev-agent.ts"
import { ensureAuthorities, localTls } from "../dev-authorities.ts"
import { runServer } from "../run-server.ts"
import { findOperator, type StoredManifests } from "../operator.ts"
import { readSecretFile } from "../secret-file.ts"
import type { Settings } from "../settings.ts"
import { describeStorage, makeDataFolder, storageUrl } from "../store.ts"
import type { Terminal } from "../terminal.ts"
import { type TerraformSettings, terraformSettings } from "../terraform-settings.ts"
import { tlsAddressOf } from "../tls-address.ts"

export async function serveForDevelopment(
  settings: Settings,
  { manifests, agent }: DevOptions,
  terminal: Terminal,
): Promise<void> {
  let serverUrl = ""
  const tokenFile = join(settings.data, "root-token")
  const rootFile = join(settings.data, "ca.pem")
  const terraformFile = join(settings.data, "terraformrc")
  await runServer(settings, terminal, {
    async prepare(engine) {
      await makeDataFolder(settings.data)
      await ensureOrganization(engine)
      await ensureRootToken(engine, tokenFile)
      await ensureAuthorities(engine, { ...settings, tlsListen: tlsAddressOf(settings) })
    },
    usualTls: localTls,
    onTlsIssued: (root) => keepRoot(rootFile, root),
    async onReady(server) {
      serverUrl = server.url
      const terraform = terraformSettings(server, (await readSecretFile(tokenFile)) ?? "")
      if (terraform !== undefined) await writeDurably(terraformFile, terraform.text, 0o600)
      const storage = describeStorage(storageUrl(settings))
      terminal.out(
        welcome(server, { storage, tokenFile, rootFile, terraformFile, terraform, hasAgent: agent !== undefined }),
      )
    },
    async beside(engine, log, signal) {
      const { data } = settings
      await Promise.all([
        keepManifests(manifests, { engine, log, terminal, data }, signal),
        ...(agent === undefined ? [] : [runDevAgent({ engine, serverUrl, tool: agent, data, terminal, log }, signal)]),
      ])
    },
  })
}

async function keepManifests(
  manifests: string | undefined,
  { data, ...rest }: Pick<StoredManifests, "engine" | "log" | "terminal"> & { readonly data: string },
  signal: AbortSignal,
): Promise<void> {
  if (manifests === "off" || (manifests === undefined && !existsSync(defaultManifests))) return
  const operator = await findOperator()
  if (operator === undefined) {
    if (manifests !== undefined)
      rest.terminal.say("chancery: --manifests needs @chancery/operator, which is not installed.")
    return
  }
  const folder = manifests ?? defaultManifests
  const options = { ...rest, folder, statusFolder: join(data, "manifests"), organization: developmentOrganization }
  await operator.keepManifests(options, signal)
}

async function ensureOrganization({ organizations }: ServedEngine): Promise<void> {
  try {
    await organizations.get(developmentOrganization)
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
    await organizations.create({ name: developmentOrganization, email: "root@localhost" })
  }
}

async function ensureRootToken(engine: ServedEngine, file: string): Promise<void> {
  const existing = await readSecretFile(file)
  if (existing !== undefined && (await isRootToken(engine, existing))) return
  const { caller } = engine
  if (caller.kind !== "user") throw new Error("the embedded engine has no user")
  const { secret } = await engine.tokens.createForUser(caller.userId, { description: "chancery dev" })
  await writeDurably(file, `${secret}\n`, 0o600)
}

async function isRootToken(engine: ServedEngine, token: string): Promise<boolean> {
  try {
    const caller = await engine.authenticate(token)
    return caller.kind === "user" && caller.siteAdmin
  } catch (error) {
    if (isEngineError(error, "unauthenticated")) return false
    throw error
  }
}

/** Writes the root certificate for clients that are to trust the server. The write is atomic, so that readers never see half a file. */
async function keepRoot(file: string, root: string | undefined): Promise<void> {
  if (root !== undefined && (await readFile(file, "utf8").catch(() => "")) !== root)
    await writeDurably(file, root, 0o644)
}

interface DevState {
  readonly storage: string
  readonly tokenFile: string
  readonly rootFile: string
  readonly terraformFile: string
  readonly terraform: TerraformSettings | undefined
  readonly hasAgent: boolean
}

export function welcome({ url, httpsUrl }: RunningServer, state: DevState): string {
  const { storage, tokenFile, rootFile, terraformFile, terraform, hasAgent } = state
  const place = hasAgent
    ? "# plans and applies execute on the agent of this server"
    : "# plans and applies need an agent: start the server with --agent"
  const terraformState =
    terraform === undefined
      ? ""
      : `  # store the state of terraform or tofu here: use a cloud block with hostname = "${terraform.hostname}"
  ${place}
  export TF_CLI_CONFIG_FILE="${resolve(terraformFile)}"

`
  const also = httpsUrl === undefined ? "" : ` and ${httpsUrl} (trust ${rootFile})`
  const trust = httpsUrl === undefined ? "" : ` --cacert ${rootFile}`
  const curl = `curl -s -H "Authorization: Bearer $(cat ${tokenFile})"`
  const workspaces = `${url}/api/v2/organizations/${developmentOrganization}/workspaces`
  return `
Chancery listens on ${url}${also} and stores its data in ${storage}.
The root token is in ${tokenFile}. Next, in another terminal:

  # create a workspace
  ${curl} -H "Content-Type: application/vnd.api+json" -d '{"data":{"type":"workspaces","attributes":{"name":"network"}}}' ${workspaces}

  # list the workspaces
  ${curl} ${workspaces}

  # show one
  ${curl} ${workspaces}/network

  # issue a certificate for this machine
  curl -s${trust} -H "X-Service-Token: $(cat ${tokenFile})" -d common_name=app.localhost ${httpsUrl ?? url}/v1/pki/issue/local

${terraformState}Ctrl-C stops the server.
`
}
