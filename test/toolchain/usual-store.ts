// Which test files open the store that is usual for the run, most by a test engine: they run on SQLite and on PostgreSQL. It shows
// in what they import, so that a new one does without a line anywhere.
import { globSync } from "node:fs"
import { type Import, importReader } from "./imports.ts"

/** Where the store is chosen, and by which names. */
const source = { file: "engine/testing/temporary-database.ts", names: ["usualKind", "usualSharedKind"] }

/** Every engine they open is on a database that they name, of each kind where that matters. */
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
  // In test/long they send all they have to both kinds.
  "test/security/hostile/hostile-input.test.ts",
  "test/security/hostile/hostile-pki-input.test.ts",
]

/** Every engine they open is on a server of PostgreSQL that they start themselves. */
export const onServersOfTheirOwn: readonly string[] = ["test/postgres/read-replicas.test.ts"]

/**
 * Once is enough for what is about programs or bytes rather than the store, and takes long. Everything they ask of the engine
 * is asked on both by its own tests, and of ACME by two clients and by hand besides.
 */
const onSqliteOnce: readonly string[] = [
  "test/e2e/clients/acme-{certbot,dehydrated,go,newer-certbot,pebble}.test.ts",
  "test/e2e/clients/{consul-template,go-tfe-suite,vault-hvac}.test.ts",
  "test/validators/*.test.ts",
  "test/manifests/*.test.ts",
  "test/monitoring/*.test.ts",
  "test/e2e/pulumi/*.test.ts",
]

/** The test files among `patterns` to run on PostgreSQL again, as paths below `root`. */
export function filesOnUsualStore(root: string, patterns: readonly string[], excluded: readonly string[]): string[] {
  const importsOf = importReader(root)
  // Of a file that only hands on what others export, nothing matters but where the named things come from.
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
