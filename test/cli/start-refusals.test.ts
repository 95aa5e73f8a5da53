// Errors that keep a server from starting. The message is one sentence with the cause and the remedy. The exit code distinguishes temporary
// errors (75) from those that need an operator (78). Run with the real command on both kinds of database.
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { createServer, type Socket } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, onTestFinished, test } from "vitest"
import { openEngine } from "../../engine/src/index.ts"
import { openDatabase } from "../../engine/src/storage/sql/database.ts"
import { migrations } from "../../engine/src/storage/schema/migrations/index.ts"
import { databaseKinds } from "../../engine/testing/temporary-database.ts"
import { freePort } from "../free-port.ts"
import { run, temporaryFolder } from "./chancery.ts"

const [key, otherKey] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString("base64"))
const fixture = (name: string) => fileURLToPath(new URL(`tls/${name}.pem`, import.meta.url))

interface Refusal {
  readonly why: string
  readonly environment: Readonly<Record<string, string>>
  readonly code: 75 | 78
  readonly expectedError: RegExp
}

/** Returns the differences between the exit of `chancery serve` and the expected error; empty if there are none. */
async function differences({ environment, code, expectedError }: Omit<Refusal, "why">): Promise<readonly string[]> {
  await using folder = await temporaryFolder()
  const own = { CHANCERY_LISTEN: `127.0.0.1:${await freePort()}`, CHANCERY_DATA: join(folder.path, "data") }
  const ended = await run(["serve"], { folder: folder.path, environment: { ...own, ...environment } })
  const found: string[] = []
  // No output of Node, and no log lines.
  if (!/^chancery: [A-Z0-9][^\n]*[^.\n]\.\n$/.test(ended.stderr)) found.push(`not one sentence: ${ended.stderr}`)
  if (!expectedError.test(ended.stderr)) found.push(`not ${expectedError.source}: ${ended.stderr}`)
  if (ended.stderr.includes("hunter2")) found.push("tells the password")
  if (ended.code !== code) found.push(`exit code ${ended.code}`)
  if (ended.out !== "") found.push(`on standard output: ${ended.out}`)
  return found
}

test.each<Refusal>([
  {
    why: "an unsupported store",
    environment: { CHANCERY_STORAGE: "mysql://chancery:hunter2@db/chancery" },
    code: 78,
    expectedError:
      /setting storage cannot be the given value \(from CHANCERY_STORAGE\); it must be sqlite:PATH or postgres:/,
  },
  {
    why: "a store without a path",
    environment: { CHANCERY_STORAGE: "sqlite:" },
    code: 78,
    expectedError: /setting storage cannot be the given value/,
  },
  {
    why: "a store in an impossible folder",
    environment: { CHANCERY_STORAGE: "sqlite:/dev/null/chancery.db" },
    code: 78,
    expectedError: /store sqlite:\/dev\/null\/chancery.db cannot be opened .* check that it exists/,
  },
  {
    why: "a seal key that is too short",
    environment: { CHANCERY_SEAL_KEY: "c2hvcnQ=" },
    code: 78,
    expectedError: /base64 of 32/,
  },
  {
    why: "a key and a key file",
    environment: { CHANCERY_SEAL_KEY: key ?? "", CHANCERY_SEAL_KEY_FILE: "somewhere" },
    code: 78,
    expectedError: /Both CHANCERY_SEAL_KEY and a seal key file are set; omit one of them/,
  },
  {
    why: "a missing seal key file, for a new store",
    environment: { CHANCERY_SEAL_KEY_FILE: "/nowhere/seal-key" },
    code: 78,
    expectedError: /seal key file \/nowhere\/seal-key is missing; write the base64 of 32 random bytes/,
  },
  {
    why: "a seal key file without a key",
    environment: { CHANCERY_SEAL_KEY_FILE: "/dev/null" },
    code: 78,
    expectedError: /No seal key was given; it must be the base64 of 32 random bytes/,
  },
  {
    why: "a seal key file that is a folder",
    environment: { CHANCERY_SEAL_KEY_FILE: "/tmp" },
    code: 78,
    expectedError: /seal key file \/tmp cannot be read \(EISDIR\); check that it is a file/,
  },
  {
    why: "a database server with an unknown name",
    environment: {
      CHANCERY_STORAGE: "postgres://chancery:hunter2@nowhere.invalid/chancery",
      CHANCERY_SEAL_KEY: key ?? "",
    },
    code: 75,
    expectedError:
      /store postgres:\/\/chancery@nowhere.invalid\/chancery is not available \(.*(ENOTFOUND|EAI_AGAIN).*\); check that it is running/,
  },
  {
    why: "a database server at an unused port",
    environment: { CHANCERY_STORAGE: "postgres://chancery:hunter2@127.0.0.1:1/chancery", CHANCERY_SEAL_KEY: key ?? "" },
    code: 75,
    expectedError: /is not available \(connect ECONNREFUSED 127.0.0.1:1\); check that it is running/,
  },
  {
    why: "an address that this machine does not have",
    environment: { CHANCERY_LISTEN: "192.0.2.1:8420", CHANCERY_SEAL_KEY: key ?? "" },
    code: 78,
    expectedError: /Cannot listen on 192.0.2.1:8420: .*; set another address with --listen/,
  },
  {
    why: "a TLS certificate of another key",
    environment: { CHANCERY_TLS_CERT: fixture("certificate"), CHANCERY_TLS_KEY: fixture("renewed-key") },
    code: 78,
    expectedError: /TLS certificate and key cannot be used \(.*\); check that they are complete and belong together/,
  },
  {
    why: "a TLS certificate without a key",
    environment: { CHANCERY_TLS_CERT: fixture("certificate") },
    code: 78,
    expectedError: /set --tls-key or CHANCERY_TLS_KEY too/,
  },
  {
    why: "an audit log that cannot be written",
    environment: { CHANCERY_AUDIT_LOG: "/dev/null/audit.log", CHANCERY_SEAL_KEY: key ?? "" },
    code: 78,
    expectedError: /audit log \/dev\/null\/audit.log cannot be opened .* Check that its folder exists/,
  },
])("$why", async (refusal) => {
  expect(await differences(refusal)).toEqual([])
})

test("an address in use, which may become free", async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  expect(
    await differences({
      environment: { CHANCERY_LISTEN: `127.0.0.1:${port}`, CHANCERY_SEAL_KEY: key ?? "" },
      code: 75,
      expectedError: /is already in use; stop the process that listens there, or set another address with --listen/,
    }),
  ).toEqual([])
})

test("a file that is not a database, which is not changed", async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, "notes.txt")
  await writeFile(file, "not a database, but somebody's notes of many a year\n".repeat(100))
  const before = await readFile(file, "utf8")
  expect(
    await differences({
      environment: { CHANCERY_STORAGE: `sqlite:${file}`, CHANCERY_SEAL_KEY: key ?? "" },
      code: 78,
      expectedError: /notes.txt cannot be opened \(file is not a database\)/,
    }),
  ).toEqual([])
  expect(await readFile(file, "utf8")).toBe(before)
})

test("a folder instead of the database file", async () => {
  await using folder = await temporaryFolder()
  await mkdir(join(folder.path, "chancery.db"))
  expect(
    await differences({
      environment: { CHANCERY_STORAGE: `sqlite:${folder.path}/chancery.db`, CHANCERY_SEAL_KEY: key ?? "" },
      code: 78,
      expectedError: /cannot be opened \(EISDIR/,
    }),
  ).toEqual([])
})

const kinds = databaseKinds.filter(({ name, available }) => available && name !== "SQLite memory")

describe.each(kinds)("on $name", (kind) => {
  /** Makes a database that is sealed with the key. */
  async function sealedStore(): Promise<string> {
    const place = await kind.place()
    onTestFinished(() => place[Symbol.asyncDispose]())
    await using _ = await openEngine(place.url, { sealKeys: { text: key } })
    return place.url
  }

  test("a store of a newer release", async () => {
    const url = await sealedStore()
    {
      const later = { name: "0999-later", up: async () => {} }
      await using database = await openDatabase(url, { migrations: [...migrations, later] })
      await database.migrate()
    }
    expect(
      await differences({
        environment: { CHANCERY_STORAGE: url, CHANCERY_SEAL_KEY: key ?? "" },
        code: 78,
        expectedError: /written by a newer release of Chancery .*"0999-later".* or restore a backup/,
      }),
    ).toEqual([])
  })

  test.each([
    {
      why: "another seal key",
      sealKey: otherKey,
      expectedError: /sealed under key [0-9a-f]{16}, which is not among the given seal keys\. Add it/,
    },
    { why: "an invalid seal key", sealKey: "hunter2", expectedError: /base64 of 32/ },
  ])("$why", async ({ sealKey, expectedError }) => {
    const url = await sealedStore()
    expect(
      await differences({
        environment: { CHANCERY_STORAGE: url, CHANCERY_SEAL_KEY: sealKey ?? "" },
        code: 78,
        expectedError,
      }),
    ).toEqual([])
  })
})

const postgres = databaseKinds.find(({ name }) => name === "PostgreSQL")

describe.runIf(postgres?.available)("a real PostgreSQL", () => {
  const refusals: readonly {
    readonly why: string
    readonly change: (url: URL) => void
    readonly sealKey?: string
    readonly expectedError: RegExp
  }[] = [
    {
      why: "when the database does not exist",
      change: (url) => (url.pathname = "/nowhere"),
      expectedError: /cannot be opened \(database "nowhere" does not exist\)/,
    },
    {
      why: "when the role does not exist",
      change: (url) => (url.username = "nobody_at_all"),
      expectedError: /cannot be opened \(role "nobody_at_all" does not exist\)/,
    },
    {
      why: "without a seal key, which is not created because other servers would not have it",
      change: () => {},
      sealKey: "",
      expectedError: /No seal key was given; set its file with --seal-key-file/,
    },
  ]
  test.each(refusals)("$why", async ({ change, sealKey = key, expectedError }) => {
    const place = await postgres?.place()
    if (place === undefined) throw new Error("no PostgreSQL")
    onTestFinished(() => place[Symbol.asyncDispose]())
    const url = new URL(place.url)
    change(url)
    expect(
      await differences({
        environment: { CHANCERY_STORAGE: url.href, CHANCERY_SEAL_KEY: sealKey ?? "" },
        code: 78,
        expectedError,
      }),
    ).toEqual([])
  })
})

describe("a database server that rejects or does not respond", () => {
  /** Returns PostgreSQL's error response to a startup message (its protocol, "ErrorResponse"). */
  function errorResponse(sqlState: string, message: string): Buffer {
    const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${message}\0\0`)
    const head = Buffer.alloc(5)
    head.write("E")
    head.writeInt32BE(4 + fields.length, 1)
    return Buffer.concat([head, fields])
  }

  test.each([
    {
      why: "rejects the password",
      answer: errorResponse("28P01", 'password authentication failed for user "chancery"'),
      code: 78,
      expectedError: /cannot be opened \(password authentication failed for user "chancery"\)/,
    },
    {
      why: "is starting",
      answer: errorResponse("57P03", "the database system is starting up"),
      code: 75,
      expectedError: /is not available \(the database system is starting up\)/,
    },
    {
      why: "has no free connection",
      answer: errorResponse("53300", "sorry, too many clients already"),
      code: 75,
      expectedError: /is not available \(sorry, too many clients already\)/,
    },
    {
      why: "speaks another protocol",
      answer: Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"),
      code: 75,
      expectedError: /is not available \(.*\); check that it is running/,
    },
    {
      why: "does not answer",
      answer: undefined,
      code: 75,
      expectedError: /is not available \(.*timeout.*\); check that it is running/,
    },
  ] as const)("$why", async ({ answer, code, expectedError }) => {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on("error", () => {})
      if (answer !== undefined) socket.once("data", () => socket.end(answer))
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    const { port } = server.address() as { port: number }
    const url = `postgres://chancery:hunter2@127.0.0.1:${port}/chancery`
    expect(
      await differences({ environment: { CHANCERY_STORAGE: url, CHANCERY_SEAL_KEY: key ?? "" }, code, expectedError }),
    ).toEqual([])
  })
})
