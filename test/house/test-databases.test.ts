// Tests on SQLite run on PostgreSQL too: they are part of both runs, or name the kinds of database themselves. Each exception has a reason
// here.
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { filesOnDefaultStore, onEveryKindThemselves, onServersOfTheirOwn } from "../toolchain/default-store.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const patterns = ["{engine,provider,operator}/src/**/*.test.ts", "test/**/*.test.ts"]
const textOf = (file: string) => readFileSync(join(root, file), "utf8")

/** Tests on SQLite only, with the reason. */
const onSqliteAlone: Readonly<Record<string, string>> = {
  "engine/src/cli/acme.test.ts": "commands over the data folder of a machine",
  "engine/src/cli/certificate.test.ts": "commands over the data folder of a machine",
  "engine/src/cli/configuration.test.ts": "what may be written as a storage URL; opens none",
  "engine/src/cli/enrolment.test.ts": "commands over the data folder of a machine",
  "engine/src/cli/organization.test.ts": "commands over the data folder of a machine",
  "engine/src/cli/workspace.test.ts": "commands over the data folder of a machine",
  "engine/src/embedded.test.ts": "the seal key beside the file of a store",
  "engine/src/storage/sqlite/checkpointer.test.ts": "the write-ahead log of a file",
  "operator/src/controllers/connection/connections.test.ts": "how a cluster reaches a server; opens no store",
  "provider/src/cli/program.test.ts": "a program that is given a store in a file",
  "provider/src/dynamic/engines.test.ts": "which engines are opened; opens none",
  "provider/src/lookups.test.ts": "a program that is given a store in a file",
  "provider/src/pki-lookups.test.ts": "a program that is given a store in a file",
  "test/cli/approle-logins.test.ts":
    "commands of the guide, beside a store in a folder; logins themselves are tried on both",
  "test/cli/certificate-logins.test.ts":
    "commands of the guide, beside a store in a folder; logins themselves are tried on both",
  "test/cli/dev.test.ts": "a server for a developer, which keeps its store in a folder",
  "test/cli/documented-commands.test.ts": "commands over the data folder of a machine",
  "test/cli/engine-url.test.ts": "which engine commands mean, a server or the store in a folder",
  "test/cli/serve.test.ts": "commands over the data folder of a machine",
  "test/cli/store-commands.test.ts": "where the file of a store is looked for",
  "test/cli/workspace-events.test.ts": "the store that `chancery dev` leaves behind",
  "test/e2e/clients/go-tfe-suite.test.ts":
    "minutes of a public client's tests; its requests are tried on both by their own",
  "test/house/loading.test.ts": "what is loaded to open a store",
  "test/e2e/pulumi/connection.test.ts": "how a provider reaches a server",
  "test/e2e/pulumi/every-member.test.ts": "how a provider keeps what it is told",
  "test/e2e/pulumi/packed-provider.test.ts": "what is in a package, and is loaded from it",
}

const opens = /\bsqlite:|\bopen(Embedded|Engine|Database)\(/
const namesKinds = /\b(databaseKinds|sharedDatabaseKinds|temporaryDatabase|newPostgresDatabase|storedMount)\b/

describe("a test that opens a store", () => {
  const own = fileURLToPath(import.meta.url)
  // The long tests use both in their own ways; the operator's tests are about a cluster.
  const exclude = ["**/node_modules/**", "test/long/**", "test/e2e/operator/**", ...onServersOfTheirOwn]
  const files = globSync(patterns, { cwd: root, exclude }).filter((file) => join(root, file) !== own)
  const onBoth = new Set(filesOnDefaultStore(root, patterns, exclude))

  test("is part of both runs, names the kinds of store itself, or has a reason for SQLite alone", () => {
    const unlisted = files.filter(
      (file) => !onBoth.has(file) && opens.test(textOf(file)) && !namesKinds.test(textOf(file)),
    )
    expect(unlisted.toSorted()).toEqual(Object.keys(onSqliteAlone).toSorted())
  })

  test("names the store of each of its engines when it is listed as naming the kinds itself", () => {
    for (const file of onEveryKindThemselves) {
      const text = textOf(file)
      expect([file, namesKinds.test(text)]).toEqual([file, true])
      const unnamed = [
        ...text.matchAll(/\b(?:openTestEngine|populatedEngine|stateEngine|newAcmeEngine)\(([^)]*)\)/g),
      ].filter(([, options = ""]) => !/\burl\b/.test(options))
      expect([file, unnamed.map(([call]) => call)]).toEqual([file, []])
    }
  })

  test("is found by its imports, also indirect ones and by imported names", () => {
    for (const found of [
      "engine/src/server/server.test.ts",
      "engine/src/server/tfe/tokens.test.ts",
      "provider/src/lifecycle/lifecycle.test.ts",
      "test/security/permissions/permissions.test.ts",
    ])
      expect([...onBoth]).toContain(found)
    // It uses only random bytes from a file that also exports test engines.
    expect([...onBoth]).not.toContain("test/fuzz/fuzz.test.ts")
  })
})
