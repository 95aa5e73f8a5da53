// Finds the test files that open the default database of the run, most with a test engine: they run on SQLite and on PostgreSQL. Their
// imports show that, so a new test file needs no entry here.
import { globSync } from "node:fs"
import { type Import, importReader } from "./imports.ts"

/** The module that selects the database, and its exports. */
const source = { file: "engine/testing/temporary-database.ts", names: ["defaultKind", "defaultSharedKind"] }

/** Tests that name the database of every engine they open, and cover each kind if it matters. */
export const onEveryKindThemselves: readonly string[] = [
  "engine/src/server/acme/acme-replicas.test.ts",
  "engine/src/server/vault/stored-certificates.test.ts",
  "engine/src/server/http/replicas.test.ts",
  "engine/src/server/tfe/identity-input.test.ts",
  "engine/src/server/tfe/identity-races.test.ts",
  "engine/src/pki/issuers/issuer-races.test.ts",
  "engine/src/pki/roles/role-service.test.ts",
  "engine/src/storage/repositories/assigned-records.test.ts",
  "engine/src/storage/repositories/workspaces/bulk-action-repository.test.ts",
  "engine/src/storage/sealing/rewrap.test.ts",
  "engine/src/storage/repositories/workspaces/run-records.test.ts",
  "engine/src/storage/repositories/workspaces/statement-counts.test.ts",
  "engine/src/storage/maintenance/store-copy.test.ts",
  "engine/src/storage/repositories/workspaces/workspace-records.test.ts",
  "test/postgres/independent-pki-writes.test.ts",
  "test/postgres/independent-writes.test.ts",
  "test/postgres/one-organization.test.ts",
  // In test/long they send everything to both kinds.
  "test/security/hostile/hostile-input.test.ts",
  "test/security/hostile/hostile-pki-input.test.ts",
]

/** Tests that start the PostgreSQL server of every engine they open. */
export const onServersOfTheirOwn: readonly string[] = ["test/postgres/read-replicas.test.ts"]

/**
 * Slow tests about programs or bytes rather than the database, which run once. The tests of the engine cover the same operations on both
 * databases, and two clients and handwritten requests cover ACME.
 */
const onSqliteOnce: readonly string[] = [
  "test/e2e/clients/acme-{certbot,dehydrated,go,newer-certbot,pebble}.test.ts",
  "test/e2e/clients/{consul-template,go-tfe-suite,openapi-client,vault-hvac}.test.ts",
  "test/validators/*.test.ts",
  "test/manifests/*.test.ts",
  "test/monitoring/*.test.ts",
  "test/e2e/pulumi/*.test.ts",
  "test/e2e/agent/*.test.ts",
  "test/security/permissions/described-answers.test.ts",
]

/** Returns the test files among `patterns` to run on PostgreSQL as well, as paths below `root`. */
export function filesOnDefaultStore(root: string, patterns: readonly string[], excluded: readonly string[]): string[] {
  const importsOf = importReader(root)
  // Follows files that only re-export to the files that define the named exports.
  const targetsOf = ({ names, module }: Import): readonly string[] => {
    const handedOn = importsOf(module).filter((one) => one.isExport && one.names.some((name) => names.includes(name)))
    const known = new Set(handedOn.flatMap((one) => one.names))
    return names.length > 0 && names.every((name) => known.has(name))
      ? handedOn.flatMap((one) => targetsOf({ ...one, names: one.names.filter((name) => names.includes(name)) }))
      : [module]
  }
  const opensUsualStore = (test: string) => {
    const reached = new Set([test])
    for (const file of reached) for (const target of importsOf(file).flatMap(targetsOf)) reached.add(target)
    return [...reached].some((file) =>
      importsOf(file).some(
        (one) => one.module === source.file && one.names.some((name) => source.names.includes(name)),
      ),
    )
  }
  const exclude = [...excluded, ...onEveryKindThemselves, ...onServersOfTheirOwn, ...onSqliteOnce]
  return globSync([...patterns], { cwd: root, exclude })
    .filter(opensUsualStore)
    .toSorted()
}
