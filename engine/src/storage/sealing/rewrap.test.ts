import { sql } from "kysely"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import type { RunId } from "../../core/ids.ts"
import type { MountId } from "../../pki/mounts/mount.ts"
import type { AuthMethodId } from "../../access/logins/auth-method.ts"
import type { CaKey } from "../../pki/keys/key.ts"
import { projectedToken } from "../../../testing/api-server.ts"
import { made } from "../../../testing/users.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { bytesOf, stateFile, stateVersionDocument } from "../../../testing/state-file.ts"
import { tarball } from "../../../testing/tar-archive.ts"
import { seededRandom } from "../../../testing/seeded-random.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"
import { type Database, openDatabase } from "../sql/database.ts"
import { keySealer, newKeyText, parseKeyRing, sealDocument } from "./key-sealing.ts"
import { rewrap, sealedValueCounts } from "./rewrap.ts"
import { sealedRunArchive } from "../repositories/workspaces/run-record-repository.ts"
import { forgetKeyId, rotateKeyFile } from "./seal-keys.ts"
import { sealPaths } from "./seal-paths.ts"
import { sealedPlaces } from "./sealed-columns.ts"
import { repositoriesOver } from "../repositories/repositories.ts"
import { databaseKinds, temporaryDatabase } from "../../../testing/temporary-database.ts"

const { random, clock } = systemRuntime()
const [oldText, newText, newestText] = [newKeyText(random), newKeyText(random), newKeyText(random)]
const idOf = (text: string) => parseKeyRing(text).current.id
const rotated = parseKeyRing(`${newText},${oldText}`)
const documentOf = (type: string, attributes: object) => ({ data: { type, attributes } })

/** Stores at least one sealed value of each kind. The state has a document in several chunks. */
async function seed(url: string): Promise<{
  readonly workspace: string
  readonly state: string
  readonly configuration: string
}> {
  await using testEngine = await populatedEngine({ url, sealKeys: { text: oldText } })
  const post = (path: string, type: string, attributes: object) =>
    made(testEngine, "POST", path, documentOf(type, attributes))
  await post("/organizations/acme/ssh-keys", "ssh-keys", {
    name: "deploy",
    value: "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n",
  })
  await post("/organizations/acme/oauth-clients", "oauth-clients", {
    name: "GitHub",
    "service-provider": "github",
    "http-url": "https://github.com",
    "api-url": "https://api.github.com",
    "oauth-token-string": "ghp-secret",
    secret: "client-secret",
  })
  const [token] = (await testEngine.request("GET", "/organizations/acme/oauth-tokens")).body.data
  const sshKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nY2xvbmU=\n-----END OPENSSH PRIVATE KEY-----\n"
  const patch = { data: { type: "oauth-tokens", attributes: { "ssh-key": sshKey } } }
  await made(testEngine, "PATCH", `/oauth-tokens/${token.id}`, patch)
  await post("/organizations/acme/webhooks", "webhooks", {
    name: "hook",
    url: "https://receiver.example",
    enabled: false,
    secret: webhookSecret,
  })
  const workspace = await testEngine.workspace("network")
  for (let count = 0; count < 3; count += 1)
    await post(`/workspaces/${workspace}/vars`, "vars", {
      key: `key-${count}`,
      value: `value-${count}`,
      category: "env",
    })
  const attributes = { variables: [{ key: "region", value: '"eu"' }] }
  const relationships = { workspace: { data: { type: "workspaces", id: workspace } } }
  await made(testEngine, "POST", "/runs", { data: { type: "runs", attributes, relationships } })
  await made(testEngine, "POST", `/workspaces/${workspace}/actions/lock`, {})
  // Random data does not compress, so the state needs more than one chunk.
  const long = Buffer.from(seededRandom(1).bytes(1_800_000)).toString("base64")
  const state = stateFile({ outputs: { long: { value: long, type: "string" } } })
  await made(
    testEngine,
    "POST",
    `/workspaces/${workspace}/state-versions`,
    stateVersionDocument(state, { inline: true }),
  )
  // The outputs of a state of this length are stored after the answer.
  await vi.waitFor(
    async () => expect((await testEngine.engine.stateVersions.currentOutputs({ id: workspace })).length).toBe(1),
    { timeout: 20_000 },
  )
  await testEngine.engine.mounts.create({ path: "pki" })
  await testEngine.engine.authMethods.enable({ path: "kubernetes", type: "kubernetes" })
  await testEngine.engine
    .kubernetesLogins("kubernetes")
    .configure({ kubernetesHost: "h", tokenReviewerJwt: reviewerToken })
  const { id: configuration } = await made(
    testEngine,
    "POST",
    `/workspaces/${workspace}/configuration-versions`,
    documentOf("configuration-versions", { "auto-queue-runs": false }),
  )
  await testEngine.engine.configurationVersions.upload(configuration, configurationArchive)
  return { workspace, state: state.text, configuration }
}

/** Inserts a JSON state as an earlier release stored it, for a version without one. */
async function addEarlierDocument(database: Database): Promise<void> {
  await database.transact(async (session) => {
    const [version] = await session.queryMany(sql<{ id: string }>`select id from state_versions`)
    const id = version?.id ?? ""
    const chunks = sealDocument(
      keySealer(parseKeyRing(oldText), random),
      sealPaths.stateDocument(id, "json-state"),
      Buffer.from(earlierDocument),
    )
    for (const [chunk, sealed] of chunks.entries())
      await session.execute(sql`insert into state_contents (state_version_id, document, chunk, sealed)
        values (${id}, 'json-state', ${chunk}, ${sealed})`)
  })
}

const earlierDocument = JSON.stringify({ long: Buffer.from(seededRandom(2).bytes(1_500_000)).toString("base64") })

const reviewerToken = await projectedToken()
const webhookSecret = "what deliveries are signed with"

async function addAuthoritySecrets(database: Database): Promise<void> {
  const { transact } = repositoriesOver(database, keySealer(parseKeyRing(oldText), random), clock)
  const [mount] = await database.read((session) => session.queryMany(sql<{ id: string }>`select id from mounts`))
  const mountId = mount?.id as MountId
  await transact(async ({ caKeys, mountSettings, acmeAccounts }) => {
    const key: CaKey = { id: "key-1" as CaKey["id"], mountId, name: null, publicKey: Buffer.of(1), createdAt: 0 }
    await caKeys.insert(key, Buffer.from("private key"))
    await mountSettings.saveSecret(mountId, "client-key", Buffer.from("secret"))
    const binding = { id: "eab-1", mountId, directory: "acme", createdAt: 0, expiresAt: null }
    await acmeAccounts.insertBinding({ ...binding, key: Buffer.from("binding key") })
  })
}

const log = Buffer.from("Plan: 1 to add\n")
const plan = Buffer.from(seededRandom(2).bytes(1_200_000))

async function addRunRecords(database: Database): Promise<void> {
  const sealer = keySealer(parseKeyRing(oldText), random)
  const id = await onlyRun(database)
  await repositoriesOver(database, sealer, clock).transact(async ({ runRecords }) => {
    await runRecords.appendLog(id, "plan", log)
    await runRecords.saveDocument(id, "plan-file", sealedRunArchive(sealer).pack(id, "plan-file", plan))
  })
}

async function onlyRun(database: Database): Promise<RunId> {
  const [run] = await database.read((session) => session.queryMany(sql<{ id: string }>`select id from runs`))
  return run?.id as RunId
}

/** Random, so that it needs more than one chunk. */
const configurationArchive = tarball({ "random.bin": seededRandom(2).bytes(1_200_000) })

const countsOf = async (database: Database) => Object.fromEntries(await sealedValueCounts(database))

describe.each(databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory"))(
  "on $name",
  (kind) => {
    test("rewrap seals every value under the new key, and none needs the old key", async () => {
      await using place = await kind.place()
      const { workspace, state, configuration } = await seed(place.url)
      await using database = await openDatabase(place.url)
      await addAuthoritySecrets(database)
      await addRunRecords(database)
      await addEarlierDocument(database)
      const before = await countsOf(database)
      const total = before[idOf(oldText)] ?? 0
      expect(Object.keys(before)).toEqual([idOf(oldText)])
      for (const { table, column } of sealedPlaces) {
        const rows = await database.read((session) =>
          session.queryMany(sql`select 1 from ${sql.table(table)} where ${sql.ref(column)} is not null`),
        )
        expect([table, rows.length > 0]).toEqual([table, true])
      }

      const shown: number[] = []
      const report = await rewrap(database, { ring: rotated, random, progress: (done) => void shown.push(done) })
      expect(report).toEqual({ rewrapped: total, unopened: 0, firstProblem: undefined })
      expect(shown.at(-1)).toBe(total)
      expect(await countsOf(database)).toEqual({ [idOf(newText)]: total })
      expect(await rewrap(database, { ring: rotated, random })).toMatchObject({ rewrapped: 0, unopened: 0 })

      // This ring has no old key, so every value that opens does not need it.
      const later = await rewrap(database, { ring: parseKeyRing(`${newestText},${newText}`), random })
      expect(later).toMatchObject({ rewrapped: total, unopened: 0 })
      for (const id of [idOf(oldText), idOf(newText)]) await forgetKeyId(database, id)
      const newest = keySealer(parseKeyRing(newestText), random)
      const run = await onlyRun(database)
      const [method] = await database.read((session) =>
        session.queryMany(sql<{ id: string }>`select id from auth_methods`),
      )
      const [webhook] = await database.read((session) =>
        session.queryMany(sql<{ id: string }>`select id from webhooks`),
      )
      await repositoriesOver(database, newest, clock).read(async ({ kubernetesLogins, runRecords, runs, webhooks }) => {
        expect(await kubernetesLogins.reviewerToken(method?.id as AuthMethodId)).toBe(reviewerToken)
        expect(await webhooks.secret(webhook?.id ?? "")).toBe(webhookSecret)
        expect(await runRecords.readLog(run, "plan", 0, 1_000)).toEqual(log)
        const chunks = await runRecords.document(run, "plan-file")
        expect(sealedRunArchive(newest).unpack(run, "plan-file", chunks)).toEqual(plan)
        expect((await runs.find(run))?.variables).toEqual([{ key: "region", value: '"eu"' }])
      })
      await using testEngine = await openTestEngine({ url: place.url, sealKeys: { text: newestText } })
      const variables = await testEngine.request("GET", `/workspaces/${workspace}/vars`)
      const valueOf = ({ attributes }: { attributes: { value: string } }) => attributes.value
      // Variables created within one millisecond have no defined order.
      expect(variables.body.data.map(valueOf).toSorted()).toEqual(["value-0", "value-1", "value-2"])
      const version = await testEngine.request("GET", `/workspaces/${workspace}/current-state-version?include=outputs`)
      const download = await testEngine.app.fetch(
        new Request(new URL(version.body.data.attributes["hosted-state-download-url"]), {
          headers: { authorization: `Bearer ${testEngine.rootToken}` },
        }),
        { requestId: "test", route: undefined },
      )
      expect((await download.text()) === state).toBe(true)
      const earlier = await testEngine.engine.stateVersions.download(version.body.data.id, "json-state")
      expect((await bytesOf(earlier)).toString() === earlierDocument).toBe(true)
      const archive = await testEngine.engine.configurationVersions.download(configuration)
      expect(Buffer.compare(archive, configurationArchive)).toBe(0)
    })

    test("a server that follows the key file keeps serving without lost writes, and the next pass finds the rest", async () => {
      await using place = await kind.place()
      const { workspace } = await seed(place.url)
      const folder = await mkdtemp(join(tmpdir(), "chancery-rewrap-"))
      onTestFinished(() => rm(folder, { recursive: true, force: true }))
      const file = join(folder, "seal-key")
      await writeFile(file, `${oldText}\n`)
      await using testEngine = await openTestEngine({ url: place.url, sealKeys: { file } })
      await using database = await openDatabase(place.url)
      const [variable] = (await testEngine.request("GET", `/workspaces/${workspace}/vars`)).body.data
      const path = `/workspaces/${workspace}/vars/${variable.id}`
      let written = 0
      const stop = new AbortController()
      const writing = (async () => {
        while (!stop.signal.aborted) {
          const attributes = { value: `later-${written + 1}` }
          const answer = await testEngine.request("PATCH", path, {
            body: { data: { type: "vars", id: variable.id, attributes } },
          })
          expect(answer.status).toBe(200)
          written += 1
        }
      })()
      const ring = await rotateKeyFile(file, random)
      await rewrap(database, { ring, random })
      stop.abort()
      await writing
      await rewrap(database, { ring, random })
      expect(Object.keys(await countsOf(database))).toEqual([ring.current.id])
      expect(written).toBeGreaterThan(0)
      expect((await testEngine.request("GET", path)).body.data.attributes.value).toBe(`later-${written}`)
    })

    test("an interrupted pass leaves every value under one of the keys, and the next one finishes", async () => {
      await using place = await kind.place()
      await seed(place.url)
      await using database = await openDatabase(place.url)
      const total = (await countsOf(database))[idOf(oldText)] ?? 0
      const stop = new AbortController()
      const interrupted = rewrap(database, {
        ring: rotated,
        random,
        signal: stop.signal,
        progress: (done) => {
          if (done > 2) stop.abort(new Error("the power is gone"))
        },
      })
      await expect(interrupted).rejects.toThrow("the power is gone")
      const counts = await countsOf(database)
      expect(Object.keys(counts).toSorted()).toEqual([idOf(newText), idOf(oldText)].toSorted())
      expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(total)
      const rest = await rewrap(database, { ring: rotated, random })
      expect(rest.rewrapped).toBe(counts[idOf(oldText)])
      expect(await countsOf(database)).toEqual({ [idOf(newText)]: total })
    })

    test("values that do not open are unchanged and reported, and the others are rewrapped", async () => {
      await using place = await kind.place()
      await seed(place.url)
      await using database = await openDatabase(place.url)
      const total = (await countsOf(database))[idOf(oldText)] ?? 0
      await database.transact(async (session) => {
        const sealed = keySealer(parseKeyRing(oldText), random).seal("variables/another", Buffer.from("moved"))
        await session.execute(sql`update variables set value_sealed = ${sealed} where key = 'key-1'`)
      })
      const report = await rewrap(database, { ring: rotated, random })
      expect(report).toMatchObject({ rewrapped: total - 1, unopened: 1 })
      expect(report.firstProblem).toMatch(/^the sealed value of variables\/var-\w+ does not open: it was changed/)
      expect(await countsOf(database)).toEqual({ [idOf(newText)]: total - 1, [idOf(oldText)]: 1 })
    })
  },
)

test("rewrap covers every sealed column of the schema", async () => {
  const memory = databaseKinds.find(({ name }) => name === "SQLite memory")
  if (memory === undefined) throw new Error("no SQLite memory")
  await using temporary = await temporaryDatabase(memory)
  const columns = await temporary.database.read((session) =>
    session.queryMany(sql<{ place: string }>`
      select tables.name || '.' || columns.name as place
      from sqlite_master as tables, pragma_table_info(tables.name) as columns
      where tables.type = 'table' and columns.type = 'BLOB' and columns.name like '%sealed' order by 1`),
  )
  const known = sealedPlaces.map(({ table, column }) => `${table}.${column}`).toSorted()
  expect(columns.map(({ place }) => place)).toEqual(known)
})
