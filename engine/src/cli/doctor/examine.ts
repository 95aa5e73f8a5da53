// Examines what a server depends on, while servers run, and changes nothing.
import type { Runtime } from "../../core/runtime.ts"
import { jobSchedules } from "../../composition/jobs.ts"
import { readAuthorityFigures } from "../../composition/pki.ts"
import { sqliteFile } from "../../storage/sql/database.ts"
import { sealedValueCounts } from "../../storage/sealing/rewrap.ts"
import { sealKeysAtHand } from "../../storage/sealing/seal-keys.ts"
import {
  brokenParts,
  leaseFacts,
  openReader,
  schemaStateOf,
  serverFacts,
  storeMadeAt,
  type StoreReader,
  troubledWebhooks,
  unboundedRoles,
  undecidedOrganizations,
} from "../../storage/maintenance/survey.ts"
import { loginFacts } from "../../storage/maintenance/login-survey.ts"
import { authorityFindings } from "./authority-findings.ts"
import { databaseClockFinding, fileClockFinding, serverClockFindings } from "./clock-findings.ts"
import { estFindings } from "./est-findings.ts"
import { fileFindings } from "./file-findings.ts"
import { fail, type Finding, ok, warn } from "./finding.ts"
import { jobFindings, webhookFindings } from "./job-findings.ts"
import { loginFindings } from "./login-findings.ts"
import { organizationFindings } from "./organization-findings.ts"
import { roleFindings } from "./role-findings.ts"
import { sealFindings } from "./seal-findings.ts"
import {
  fileStoreFindings,
  integrityFinding,
  readReplicaFindings,
  schemaFinding,
  serverFindings,
  unreadReplicas,
} from "./storage-findings.ts"
import { tlsFindings } from "./tls-findings.ts"
import { CommandError, exitCodeOf, exitCodes } from "../exit-code.ts"
import type { Settings } from "../settings.ts"
import { describeStorage, readReplicasOf, sealKeySourcesOf, storageUrl, storeError } from "../store.ts"

export interface Examination {
  readonly runtime: Runtime
  readonly quick: boolean
}

export async function examine(readSettings: () => Settings, options: Examination): Promise<readonly Finding[]> {
  let settings: Settings
  try {
    settings = readSettings()
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const advice =
      "Correct the setting and run this command again. Servers do not start with it, and the other checks were skipped."
    return error.message.split("\n").map((message) => fail("configuration", message, advice, exitCodes.configuration))
  }
  const now = options.runtime.clock.now()
  return [
    ok("configuration", "All settings are valid."),
    ...(await fileFindings(settings)),
    ...(await storeFindings(settings, options)),
    ...tlsFindings(settings, now),
  ]
}

async function storeFindings(settings: Settings, options: Examination): Promise<readonly Finding[]> {
  const url = storageUrl(settings)
  const sources = sealKeySourcesOf(settings)
  if (url === "sqlite::memory:") {
    const advice = "Set --storage or CHANCERY_STORAGE to a file or a PostgreSQL database."
    return [warn("storage", "The store is in memory and is lost when its server stops.", advice)]
  }
  try {
    await using store = await openReader(url, options.runtime)
    if (store !== undefined) return await findingsIn(store, settings, options)
    const advice = "Start a server to create it. If it should exist, check --data and --storage."
    const missing = warn("storage", `No store exists at ${describeStorage(url)} yet.`, advice)
    return [missing, ...sealFindings(await sealKeysAtHand(undefined, sources), undefined)]
  } catch (error) {
    const reported = storeError(url, error)
    const message = reported instanceof Error ? reported.message : String(reported)
    const advice = "The contents of the store were not checked; run this command again when the store is available."
    return [fail("storage", message, advice, exitCodeOf(reported))]
  }
}

async function findingsIn(
  store: StoreReader,
  settings: Settings,
  { runtime, quick }: Examination,
): Promise<readonly Finding[]> {
  const findings = [...(await placeFindings(store, settings, { runtime, quick }))]
  const schema = await store.read(schemaStateOf)
  findings.push(schemaFinding(schema))
  // A schema of an older release may lack the tables that are read below, and one of a newer release may have others.
  if (schema.missing.length > 0 || schema.unknown !== undefined) return findings

  const now = runtime.clock.now()
  const keys = await store.read((session) => sealKeysAtHand(session, sealKeySourcesOf(settings)))
  findings.push(...sealFindings(keys, quick ? undefined : await sealedValueCounts(store)))
  findings.push(...authorityFindings(await readAuthorityFigures(store, runtime), now))
  findings.push(...roleFindings(await store.read(unboundedRoles)))
  findings.push(...organizationFindings(await store.read(undecidedOrganizations)))
  const logins = await store.read(loginFacts)
  findings.push(...estFindings(logins), ...loginFindings(settings, logins.methods))
  const leases = await store.read(leaseFacts)
  findings.push(
    ...serverClockFindings(now, leases),
    ...jobFindings(jobSchedules, { leases, madeAt: await store.read(storeMadeAt), now }),
  )
  findings.push(...webhookFindings(await store.read(troubledWebhooks), now))
  return findings
}

/** Returns findings on the database file or the database server. */
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
  // The first query also waits for a connection, which would distort the measured clock difference.
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
  // Loads the PostgreSQL driver, which other examinations do not need.
  const { replicaStatuses } = await import("../../storage/replicas/read-replicas.ts")
  try {
    return readReplicaFindings(await replicaStatuses(readReplicasOf(settings), store, runtime))
  } catch (error) {
    return [unreadReplicas(error)]
  }
}
