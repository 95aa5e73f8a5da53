import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sql } from "kysely"
import { describe, expect, onTestFinished, test } from "vitest"
import { systemRuntime } from "../core/runtime.ts"
import { dayMs, hourMs, minuteMs } from "../core/time.ts"
import { jobSchedules } from "../composition/jobs.ts"
import { openEmbedded } from "../embedded.ts"
import { openDatabase } from "../storage/sql/database.ts"
import { migrations } from "../storage/schema/migrations/index.ts"
import type { QueryRunner } from "../storage/sql/query-runner.ts"
import { writePem } from "../x509/pem.ts"
import { databaseKinds } from "../../testing/temporary-database.ts"
import { recordedMetrics } from "../../testing/recorded-metrics.ts"
import { run } from "./program.ts"

const keys = [7, 8].map((byte) => Buffer.alloc(32, byte).toString("base64"))

interface Found {
  readonly check: string
  readonly level: "ok" | "warn" | "fail"
  readonly message: string
  readonly advice: string | null
}

/** A listener for devices; doctor does not open it. */
const deviceListener = { CHANCERY_DEVICE_LISTEN: "127.0.0.1:1", CHANCERY_TLS_MANAGED: "pki/web:localhost" }

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

async function examine(words: readonly string[], environment: Readonly<Record<string, string>>) {
  const out: string[] = []
  const stderr: string[] = []
  const code = await run(["doctor", ...words], {
    out: (text) => void out.push(text),
    say: (text) => void stderr.push(text),
    input: async () => "",
    environment,
  })
  return { code, out: out.join("\n"), stderr: stderr.join("\n") }
}

async function findings(environment: Readonly<Record<string, string>>, ...words: string[]) {
  const { code, out } = await examine(["--json", ...words], environment)
  return { code, found: (JSON.parse(out) as { findings: readonly Found[] }).findings }
}

/** Finding about the PostgreSQL server of the tests, which runs without fsync. It is correct; one test checks it, the others ignore it. */
const forgetful = "The database can lose acknowledged writes: fsync = off."

/** Returns warnings and failures, except `forgetful`. Those without advice are marked. */
const troubles = (found: readonly Found[]) =>
  found
    .filter(({ level, message }) => level !== "ok" && message !== forgetful)
    .map(
      ({ check, level, message, advice }) => `${level} ${check}: ${message}${advice === null ? " WITHOUT ADVICE" : ""}`,
    )

test("doctor checks the jobs that a server runs", async () => {
  const metrics = recordedMetrics()
  await using _ = await openEmbedded("sqlite::memory:", { jobs: true, metrics })
  expect(jobSchedules.map(({ name }) => name).toSorted()).toEqual(
    metrics
      .series("chancery_job_running")
      .map(({ labels }) => String(labels["job"]))
      .toSorted(),
  )
})

const kinds = databaseKinds.filter(({ name, available }) => available && name !== "SQLite memory")

describe.each(kinds)("on $name", (kind) => {
  const done = kind.name === "PostgreSQL" ? 1 : 0
  /** Creates a database with an authority, whose jobs have just run. */
  async function healthyStore() {
    const place = await kind.place()
    onTestFinished(() => place[Symbol.asyncDispose]())
    const data = await folder()
    const environment = {
      CHANCERY_STORAGE: place.url,
      CHANCERY_DATA: data,
      CHANCERY_SEAL_KEY: keys[0] ?? "",
      CHANCERY_AUDIT_LOG: join(data, "audit.log"),
    }
    {
      await using engine = await openEmbedded(place.url, { sealKeys: { text: keys[0] } })
      await engine.organizations.create({ name: "acme", email: "a@b.example" })
      await engine.mounts.create({ path: "pki", config: { maxLeaseTtlMs: 3_650 * dayMs } })
      await engine.pki("pki").issuers.generateRoot({ commonName: "Root", ttlMs: 400 * dayMs })
    }
    const change = async (work: (session: QueryRunner) => Promise<unknown>) => {
      await using database = await openDatabase(place.url)
      await database.transact(work)
    }
    const now = systemRuntime().clock.now()
    await change(async (session) => {
      for (const { name } of jobSchedules)
        await session.execute(
          sql`insert into leases (name, holder, fence, expires_at, done_at) values (${name}, ${"eng-1"}, 1, 0, ${now})
            on conflict (name) do update set holder = ${"eng-1"}, done_at = ${now}, expires_at = 0`,
        )
    })
    return { url: place.url, environment, change, now }
  }

  test("doctor reports no problem and changes nothing when the store is in order", async () => {
    const { url, environment } = await healthyStore()
    const file = url.startsWith("sqlite:") ? url.slice("sqlite:".length) : undefined
    // On PostgreSQL the command's transactions are read-only, so only the SQLite file is compared.
    const content = async () => (file === undefined ? "" : (await readFile(file)).toString("base64"))
    const before = await content()
    const { code, found } = await findings(environment)
    expect(troubles(found)).toEqual([])
    expect(code).toBe(done)
    expect(found.filter(({ message }) => message === forgetful)).toHaveLength(done)
    expect([...new Set(found.map(({ check }) => check))].toSorted()).toEqual(
      [
        "authorities",
        "clock",
        "configuration",
        "est",
        "files",
        "jobs",
        "logins",
        "organizations",
        "roles",
        "seal",
        "storage",
        "webhooks",
      ].toSorted(),
    )
    expect((await content()) === before).toBe(true)
    expect((await examine([], environment)).out).toMatch(/^LEVEL {2}CHECK {10}FINDING\nok {5}configuration {2}All /)
  })

  test("doctor reads a store that an engine has open", async () => {
    const { url, environment } = await healthyStore()
    await using _ = await openEmbedded(url, { sealKeys: { text: keys[0] }, jobs: true })
    expect(troubles((await findings(environment)).found)).toEqual([])
  })

  test("doctor fails without reading tables when a newer release wrote the database", async () => {
    const { environment, change } = await healthyStore()
    await change((session) =>
      session.execute(sql`insert into migrations (position, name) values (999, ${"0999-later"})`),
    )
    const { code, found } = await findings(environment)
    expect(code).toBe(78)
    expect(troubles(found)).toEqual([expect.stringMatching(/^fail storage: .*newer release.*"0999-later"/)])
    expect(found.map(({ check }) => check)).not.toContain("jobs")
  })

  test("doctor warns when an older release wrote the database", async () => {
    const { environment, change } = await healthyStore()
    const last = migrations.at(-1)?.name
    await change((session) => session.execute(sql`delete from migrations where name = ${last}`))
    const { code, found } = await findings(environment)
    expect([code, troubles(found)]).toEqual([
      done,
      [expect.stringMatching(/^warn storage: The schema is 1 migration behind this release/)],
    ])
  })

  test.each([
    { why: "another key", key: keys[1], expected: /^fail seal: .*is not among the given seal keys/ },
    { why: "no key", key: "", expected: /^fail seal: .*(is missing|no seal key was given).*is sealed/ },
    { why: "half a key", key: "c2hvcnQ=", expected: /^fail seal: .*32 bytes/ },
  ])("doctor fails when the server has $why", async ({ key, expected }) => {
    const { environment } = await healthyStore()
    const { code, found } = await findings({ ...environment, CHANCERY_SEAL_KEY: key ?? "" })
    expect([code, troubles(found)]).toEqual([78, expect.arrayContaining([expect.stringMatching(expected)])])
  })

  test("doctor warns of secrets under an old key", async () => {
    const { environment } = await healthyStore()
    const { code, found } = await findings({ ...environment, CHANCERY_SEAL_KEY: `${keys[1]},${keys[0]}` })
    expect([code, troubles(found)]).toEqual([
      done,
      [expect.stringMatching(/^warn seal: The old key [0-9a-f]{16} still seals \d+ secrets?\.$/)],
    ])
    expect(
      troubles((await findings({ ...environment, CHANCERY_SEAL_KEY: `${keys[1]},${keys[0]}` }, "--quick")).found),
    ).toEqual([])
  })

  test("doctor warns of overdue jobs, long leases and clocks that are ahead", async () => {
    const { environment, change, now } = await healthyStore()
    await change(async (session) => {
      await session.execute(sql`update leases set done_at = ${now - 3 * hourMs} where name = ${"tidy"}`)
      await session.execute(sql`update leases set expires_at = ${now + hourMs} where name = ${"crl"}`)
      await session.execute(sql`update leases set done_at = ${now + hourMs} where name = ${"acme"}`)
    })
    expect(troubles((await findings(environment)).found).toSorted()).toEqual([
      expect.stringMatching(/^warn clock: A server recorded finished work 60 min in the future/),
      expect.stringMatching(/^warn jobs: The job tidy has not succeeded for 3 h/),
      expect.stringMatching(/^warn jobs: The lease crl is held by eng-1 for another 60 min/),
    ])
    await change((session) => session.execute(sql`update leases set done_at = ${now - 3 * hourMs}, expires_at = 0`))
    expect(troubles((await findings(environment)).found)).toEqual([
      expect.stringMatching(/^warn jobs: No server has run a background job for 3 h/),
    ])
  })

  test("[F-P1] doctor lists old roles, which keep not_after_bound permit; new roles are bound", async () => {
    const { url, environment, change } = await healthyStore()
    const withRoles = async <T>(work: (engine: Awaited<ReturnType<typeof openEmbedded>>) => Promise<T>) => {
      await using engine = await openEmbedded(url, { sealKeys: { text: keys[0] } })
      return await work(engine)
    }
    const far = Date.parse("2090-01-01T00:00:00Z")
    const issue = (name: string) =>
      withRoles(async (engine) => {
        await engine.pki("pki").issuers.update("default", { leafNotAfterBehavior: "permit" })
        return await engine.pki("pki").certificates.issue(name, { commonName: "a.example.com", notAfter: far })
      })
    await withRoles(async (engine) => {
      const { roles } = engine.pki("pki")
      for (const name of ["before", "long-before", "new"])
        await roles.save(name, { allowAnyName: true, keyType: "ec", maxTtlMs: dayMs })
      await roles.save("open", { notAfterBound: "permit" })
    })
    // Roles as the previous release stored them, and as a release without these bounds did.
    const definition = { allowAnyName: true, keyType: "ec", keyBits: 256, signatureBits: 0, maxTtlMs: dayMs }
    const before = JSON.stringify({ ...definition, notAfterBound: "permit", notBeforeBound: "permit" })
    await change(async (session) => {
      await session.execute(sql`update roles set definition = ${before} where name = ${"before"}`)
      await session.execute(
        sql`update roles set definition = ${JSON.stringify(definition)} where name = ${"long-before"}`,
      )
    })
    for (const name of ["before", "long-before"]) {
      const { notAfter, warnings } = await issue(name)
      expect(notAfter).toBe(far)
      expect(warnings).toContainEqual(expect.stringContaining('is beyond the permitted maxTTL "24h", which'))
    }
    const { notAfter, warnings } = await issue("new")
    expect(notAfter).toBeLessThanOrEqual(systemRuntime().clock.now() + dayMs)
    expect(warnings).toContainEqual(expect.stringContaining("is being used"))
    expect(troubles((await findings(environment)).found)).toEqual(
      ["before", "long-before", "open"].map(
        (name) =>
          `warn roles: The role ${name} of pki has not_after_bound permit: requests may set not_after beyond its max_ttl.`,
      ),
    )
    await withRoles((engine) => engine.pki("pki").roles.update("before", { ttlMs: hourMs }))
    expect(await withRoles((engine) => engine.pki("pki").roles.get("before"))).toMatchObject({
      notAfterBound: "permit",
      notBeforeBound: "permit",
    })
  })

  test("[F-W1] doctor lists organizations that are older than remote operations until their setting is made", async () => {
    const { url, environment, change } = await healthyStore()
    await using engine = await openEmbedded(url, { sealKeys: { text: keys[0] } })
    await engine.organizations.create({ name: "old", email: "old@example.com" })
    await engine.organizations.create({ name: "new", email: "new@example.com" })
    await change((session) =>
      session.execute(sql`update organizations set remote_operations = null where name = 'old'`),
    )
    const warned = [expect.stringMatching(/^warn organizations: The organization old is older than remote operations/)]
    expect(troubles((await findings(environment)).found)).toEqual(warned)
    expect((await engine.organizations.get("old")).remoteOperations).toBe("off")
    await engine.organizations.update("old", { email: "else@example.com" })
    expect(troubles((await findings(environment)).found)).toEqual(warned)
    await engine.organizations.update("old", { remoteOperations: "off" })
    expect(troubles((await findings(environment)).found)).toEqual([])
  })

  test("doctor warns of settings of EST that auth methods and roles no longer match", async () => {
    const { url, environment } = await healthyStore()
    await using engine = await openEmbedded(url, { sealKeys: { text: keys[0] } })
    for (const [path, type] of [
      ["devices", "userpass"],
      ["certificates", "cert"],
      ["machines", "approle"],
    ] as const)
      await engine.authMethods.enable({ path, type })
    const accessorOf = async (path: string) => (await engine.authMethods.get(path)).accessor
    const [userpass, cert, approle] = [
      await accessorOf("devices"),
      await accessorOf("certificates"),
      await accessorOf("machines"),
    ]
    const { roles, settings } = engine.pki("pki")
    await roles.save("printers", { allowAnyName: true })
    await engine.mounts.tune("pki", { config: { delegatedAuthAccessors: [userpass, cert] } })
    await settings.changeEst({
      enabled: true,
      defaultPathPolicy: "role:printers",
      labelToPathPolicy: { raw: "sign-verbatim" },
    })
    const found = async () => troubles((await findings({ ...environment, ...deviceListener })).found)
    expect(await found()).toEqual(["warn est: EST of pki has no authenticator: no device can enrol."])
    await settings.changeEst({
      authenticators: { userpass: { accessor: userpass }, cert: { accessor: cert, role: "scanners" } },
    })
    expect(await found()).toEqual([
      'warn est: EST of pki: "authenticators" cert: auth/certificates has no role scanners, which "cert_role" names.',
    ])
    await roles.delete("printers")
    await engine.authMethods.disable("devices")
    await engine.mounts.tune("pki", { config: { delegatedAuthAccessors: [userpass, approle] } })
    expect(await found()).toEqual([
      'warn est: EST of pki: "default_path_policy" names the role printers, which does not exist.',
      `warn est: EST of pki: "authenticators" userpass: no auth method of type userpass has the accessor "${userpass}".`,
      `warn est: EST of pki: "authenticators" cert: the mount does not allow the accessor; add ${cert} to delegated_auth_accessors of pki.`,
      'warn est: EST of pki: "authenticators" cert: auth/certificates has no role scanners, which "cert_role" names.',
      `warn est: delegated_auth_accessors of pki has the accessor ${userpass}, which no auth method has.`,
      `warn est: delegated_auth_accessors of pki has the accessor ${approle}, of a method of type approle, which cannot verify devices.`,
    ])
  })

  test("doctor warns when client certificates cannot reach the server, and fails when clients can forge them", async () => {
    const { url, environment } = await healthyStore()
    await using engine = await openEmbedded(url, { sealKeys: { text: keys[0] } })
    await engine.authMethods.enable({ path: "cert", type: "cert" })
    const warned = async (settings: Readonly<Record<string, string>> = {}) => {
      const { code, found } = await findings({ ...environment, ...settings })
      return [code, ...troubles(found)]
    }
    expect(await warned()).toEqual([done])
    expect(await warned({ CHANCERY_TRUSTED_PROXIES: "0.0.0.0/0" })).toEqual([
      done,
      "warn logins: The setting trusted-proxies contains every address: any client can claim any address.",
    ])
    const { certificate } = await engine.pki("pki").issuers.get("default")
    await engine.certificateLogins("cert").saveRole("printers", { certificate: writePem("CERTIFICATE", certificate) })
    expect(await warned()).toEqual([
      done,
      "warn logins: Client certificates can log in at auth/cert, but none reaches a server with these settings.",
    ])
    for (const CHANCERY_TRUSTED_PROXIES of ["10.0.0.5/32", "unix"])
      expect(await warned({ CHANCERY_TRUSTED_PROXIES })).toEqual([done])
    expect(await warned(deviceListener)).toEqual([done])
    expect(await warned({ CHANCERY_TRUSTED_PROXIES: "private,::/0" })).toEqual([
      1,
      "fail logins: The setting trusted-proxies contains every address: any client can claim any address and any certificate, and log in as any client of auth/cert.",
    ])
  })

  test("doctor warns of failing and disabled webhooks, and of dead letters", async () => {
    const { url, environment, change, now } = await healthyStore()
    {
      await using engine = await openEmbedded(url, { sealKeys: { text: keys[0] } })
      for (const name of ["down", "off", "fine"])
        await engine.webhooks.create("acme", { name, url: "https://192.0.2.1/hook" })
    }
    await change(async (session) => {
      await session.execute(sql`update webhooks set failing_since = ${now - 5 * minuteMs} where name = ${"down"}`)
      await session.execute(sql`update webhooks set enabled = 0, disabled_reason = ${"gone."} where name = ${"off"}`)
      await session.execute(sql`insert into webhook_dead_letters
        (webhook_id, id, event_id, kind, document, attempts, last_error, failed_at, redelivering)
        select id, ${"whd-1"}, ${"evt-1"}, ${"workspace.locked"}, ${"{}"}, 3, ${"no"}, ${now}, 0 from webhooks where name = ${"off"}`)
    })
    expect(troubles((await findings(environment)).found)).toEqual([
      "warn webhooks: The webhook down of acme has been failing for 5 min.",
      "warn webhooks: The webhook off of acme was disabled: gone.",
      "warn webhooks: The webhook off of acme could not deliver 1 event (dead letters).",
    ])
  })
})

test("doctor reports only the invalid settings, with exit code 78, when settings are invalid", async () => {
  const { code, found } = await findings({ CHANCERY_LISTEN: "nowhere", CHANCERY_STORAGE: "mysql://x" })
  expect([code, troubles(found)]).toEqual([
    78,
    [
      expect.stringMatching(/^fail configuration: The setting listen cannot be "nowhere"/),
      expect.stringMatching(/^fail configuration: The setting storage cannot be the given value/),
    ],
  ])
})

test("doctor fails without printing the password when the store is not available", async () => {
  const environment = { CHANCERY_DATA: await folder(), CHANCERY_STORAGE: "postgres://chancery:hunter2@127.0.0.1:1/x" }
  const { code, out } = await examine([], { ...environment, CHANCERY_SEAL_KEY: keys[0] ?? "" })
  expect(code).toBe(75)
  expect(out).toMatch(/fail +storage +The store postgres:\/\/chancery@127.0.0.1:1\/x is not available/)
  expect(out).not.toContain("hunter2")
})

test("doctor creates nothing when no store exists", async () => {
  const data = await folder()
  const { code, found } = await findings({ CHANCERY_DATA: data })
  expect([code, troubles(found)]).toEqual([0, [expect.stringMatching(/^warn storage: No store exists at/)]])
  await expect(readFile(join(data, "chancery.db"))).rejects.toThrow("ENOENT")
  await expect(readFile(join(data, "seal-key"))).rejects.toThrow("ENOENT")
})

test("doctor warns of files that other users can read, and fails when the database is damaged", async () => {
  const data = await folder()
  const environment = { CHANCERY_DATA: data }
  {
    await using _ = await openEmbedded(`sqlite:${join(data, "chancery.db")}`, {})
  }
  await chmod(join(data, "seal-key"), 0o604)
  await chmod(join(data, "chancery.db"), 0o640)
  const { code, found } = await findings(environment, "--quick")
  expect([code, troubles(found).filter((line) => line.includes(" files: "))]).toEqual([
    1,
    [
      expect.stringMatching(/^warn files: The database .* has mode 640/),
      expect.stringMatching(/^fail files: The seal key file .* has mode 604/),
    ],
  ])

  const file = join(data, "chancery.db")
  const bytes = await readFile(file)
  await writeFile(file, Buffer.concat([bytes.subarray(0, 100), Buffer.alloc(bytes.length - 100, 0xa5)]))
  const damaged = await findings(environment)
  expect(damaged.code).toBeGreaterThan(0)
  expect(troubles(damaged.found)).toContainEqual(expect.stringMatching(/^fail storage: .*(malformed|damaged)/))
})

test.each([
  { files: ["absent", "absent"], expected: /^fail tls: The TLS certificate .* cannot be read/, code: 78 },
  {
    files: ["certificate", "renewed-key"],
    expected: /^fail tls: The TLS certificate and key cannot be used/,
    code: 78,
  },
])(
  "doctor fails when the TLS certificate and key are unusable: $files",
  async ({ files: [certificate, key], expected, code }) => {
    const fixture = (name = "") => new URL(`../../../test/cli/tls/${name}.pem`, import.meta.url).pathname
    const ended = await findings({
      CHANCERY_DATA: await folder(),
      CHANCERY_TLS_CERT: fixture(certificate),
      CHANCERY_TLS_KEY: fixture(key),
    })
    expect(ended.code).toBe(code)
    expect(troubles(ended.found)).toContainEqual(expect.stringMatching(expected))
  },
)
