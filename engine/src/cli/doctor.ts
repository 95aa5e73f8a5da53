// Looks at all that a server stands on, beside running servers, and changes nothing.
import { Command } from "commander"
import { type Runtime, systemRuntime } from "../core/runtime.ts"
import { jobSchedules, readAuthorityFigures } from "../embedded.ts"
import { sqliteFile } from "../storage/database.ts"
import { sealedValueCounts } from "../storage/rewrap.ts"
import { sealKeysAtHand } from "../storage/seal-keys.ts"
import {
  brokenParts,
  leaseFacts,
  openReader,
  schemaStanding,
  serverFacts,
  storeMadeAt,
  type StoreReader,
  troubledWebhooks,
} from "../storage/survey.ts"
import { authorityFindings } from "./doctor/authority-findings.ts"
import { databaseClockFinding, fileClockFinding, serverClockFindings } from "./doctor/clock-findings.ts"
import { fileFindings } from "./doctor/file-findings.ts"
import { fail, type Finding, ok, warn } from "./doctor/finding.ts"
import { jobFindings, webhookFindings } from "./doctor/job-findings.ts"
import { sealFindings } from "./doctor/seal-findings.ts"
import {
  fileStoreFindings,
  integrityFinding,
  readReplicaFindings,
  schemaFinding,
  serverFindings,
  unaskedReplicas,
} from "./doctor/storage-findings.ts"
import { tlsFindings } from "./doctor/tls-findings.ts"
import { CommandError, exitCodeOf, exitCodes } from "./exit-code.ts"
import { json, table } from "./report.ts"
import { addSettingOptions, settingsOf } from "./setting-options.ts"
import { settingNames, type Settings } from "./settings.ts"
import { describeStorage, readReplicasOf, sealKeySourcesOf, storageUrl, storeError } from "./store.ts"
import type { Terminal } from "./terminal.ts"

interface DoctorFlags {
  readonly quick?: true
  readonly json?: true
}

export function doctorCommand(terminal: Terminal): Command {
  const command = new Command("doctor")
    .description(
      "Check configuration, files, clock, storage, seal, authorities, TLS, jobs and webhooks, and say what to do. " +
        "Works beside running servers and changes nothing.",
    )
    .option("--quick", "leave out what reads the whole store: whether its file is whole, and which key seals what")
    .option("--json", "print the findings as JSON")
  addSettingOptions(command, { names: settingNames, dev: false })
  return command.action(async ({ quick, json: asJson }: DoctorFlags) => {
    const findings = await examine(() => settingsOf(command, terminal), {
      runtime: systemRuntime(),
      quick: quick === true,
    })
    terminal.out(asJson === true ? json({ findings: findings.map(shown) }) : tableOf(findings))
    const failures = findings.filter(({ level }) => level === "fail")
    if (failures.length === 0) return
    const code = failures.find(({ exitCode }) => exitCode !== undefined)?.exitCode ?? exitCodes.failure
    throw new CommandError(code, `${failures.length} of ${findings.length} findings are failures.`)
  })
}

const shown = ({ check, level, message, advice }: Finding) => ({ check, level, message, advice: advice ?? null })

function tableOf(findings: readonly Finding[]): string {
  const rows = findings.flatMap(({ check, level, message, advice }) => [
    [level, check, message],
    ...(advice === undefined ? [] : [["", "", `-> ${advice}`]]),
  ])
  return table(["LEVEL", "CHECK", "FINDING"], rows)
}

interface Examination {
  readonly runtime: Runtime
  readonly quick: boolean
}

async function examine(readSettings: () => Settings, options: Examination): Promise<readonly Finding[]> {
  let settings: Settings
  try {
    settings = readSettings()
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const advice = "A server does not start with it; what the settings name is not checked here."
    return error.message.split("\n").map((message) => fail("configuration", message, advice, exitCodes.configuration))
  }
  const now = options.runtime.clock.now()
  return [
    ok("configuration", "All settings can be read."),
    ...(await fileFindings(settings)),
    ...(await storeFindings(settings, options)),
    ...tlsFindings(settings, now),
  ]
}

async function storeFindings(settings: Settings, options: Examination): Promise<readonly Finding[]> {
  const url = storageUrl(settings)
  const sources = sealKeySourcesOf(settings)
  if (url === "sqlite::memory:") {
    const advice = "Name a file or a PostgreSQL database with --storage or CHANCERY_STORAGE."
    return [warn("storage", "The store is in memory, and gone when its server ends.", advice)]
  }
  try {
    await using store = await openReader(url, options.runtime)
    if (store !== undefined) return await findingsIn(store, settings, options)
    const advice = "Start a server: it makes the store. If there should be one, see that --data and --storage name it."
    const missing = warn("storage", `There is no store at ${describeStorage(url)} yet.`, advice)
    return [missing, ...sealFindings(await sealKeysAtHand(undefined, sources), undefined)]
  } catch (error) {
    const refused = storeError(url, error)
    const message = refused instanceof Error ? refused.message : String(refused)
    const advice = "Nothing that is in the store was checked; run this again when it answers."
    return [fail("storage", message, advice, exitCodeOf(refused))]
  }
}

async function findingsIn(
  store: StoreReader,
  settings: Settings,
  { runtime, quick }: Examination,
): Promise<readonly Finding[]> {
  const findings = [...(await placeFindings(store, settings, { runtime, quick }))]
  const standing = await store.read(schemaStanding)
  findings.push(schemaFinding(standing))
  // What an older release has made need not have the tables that are looked at below, and a newer one may have others.
  if (standing.missing.length > 0 || standing.unknown !== undefined) return findings

  const now = runtime.clock.now()
  const keys = await store.read((session) => sealKeysAtHand(session, sealKeySourcesOf(settings)))
  findings.push(...sealFindings(keys, quick ? undefined : await sealedValueCounts(store)))
  findings.push(...authorityFindings(await readAuthorityFigures(store, runtime), now))
  const leases = await store.read(leaseFacts)
  findings.push(
    ...serverClockFindings(now, leases),
    ...jobFindings(jobSchedules, { leases, madeAt: await store.read(storeMadeAt), now }),
  )
  findings.push(...webhookFindings(await store.read(troubledWebhooks), now))
  return findings
}

/** Of the file or the server that the store is in. */
async function placeFindings(
  store: StoreReader,
  settings: Settings,
  { runtime, quick }: Examination,
): Promise<readonly Finding[]> {
  const { clock } = runtime
  const file = sqliteFile(storageUrl(settings))
  if (file !== undefined) {
    const { findings, latest } = await fileStoreFindings(file)
    const whole = quick ? [] : [integrityFinding(await store.read(brokenParts))]
    return [...findings, ...whole, fileClockFinding(clock.now(), latest)]
  }
  // The first question also waits for a connection.
  await store.read(serverFacts)
  const before = clock.now()
  const facts = await store.read(serverFacts)
  return [
    ...serverFindings(facts, settings.storageConnections),
    databaseClockFinding({ before, after: clock.now(), database: facts.now }),
    ...(await replicaFindings(store, settings, runtime)),
  ]
}

async function replicaFindings(store: StoreReader, settings: Settings, runtime: Runtime): Promise<readonly Finding[]> {
  if (settings.storageReadReplica === undefined) return []
  // With the driver of PostgreSQL, which others do without.
  const { replicaStandings } = await import("../storage/read-replicas.ts")
  try {
    return readReplicaFindings(await replicaStandings(readReplicasOf(settings), store, runtime))
  } catch (error) {
    return [unaskedReplicas(error)]
  }
}
