import { existsSync } from "node:fs"
import { availableParallelism } from "node:os"
import { matchesGlob } from "node:path"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { packageSources } from "./test/toolchain/imports.ts"
import { findPostgresBinaries, postgresVariable } from "./test/toolchain/postgres.ts"
import { unitTests } from "./test/toolchain/unit-tests.ts"
import { filesOnDefaultStore } from "./test/toolchain/default-store.ts"

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Sources, also where one package imports another by its name. */
export const resolve = {
  alias: packageSources.map(({ find, replacement }) => ({ find, replacement: source(replacement) })),
}

/** Only suites that need Docker check that it answers. */
const dockerSeemsThere = process.env["DOCKER_HOST"] !== undefined || existsSync("/var/run/docker.sock")

/** Where there is none, the setup of `engine` says so, and fails in CI. */
const postgresSeemsThere =
  (process.env[postgresVariable] ?? "") !== "" || dockerSeemsThere || (await findPostgresBinaries()) !== undefined

const tests = ["{engine,provider,operator}/src/**/*.test.ts", "test/**/*.test.ts"]
/** The long ones take minutes and have a configuration of their own. */
const excluded = ["**/node_modules/**", "test/long/**", "test/e2e/operator/**"]
/** Public clients, processes, the Pulumi engine, programs that check certificates, and every endpoint with every kind of caller or input. */
const systemTests = [
  "test/{cli,conformance,e2e,examples,fuzz,manifests,monitoring,postgres,security,simulation,validators,x509}/**/*.test.ts",
]
const unit = unitTests(source("."), tests, excluded)
const onPostgres = filesOnDefaultStore(source("."), tests, excluded)
const isSystem = (file: string): boolean => systemTests.some((pattern) => matchesGlob(file, pattern))
/** On PostgreSQL, `npm test` runs services and repositories. Handlers are system tests there, because they double the time. */
const isSystemOnPostgres = (file: string): boolean => isSystem(file) || file.startsWith("engine/src/server/")

/** Files share what they load, a third of what the small ones take; none of them changes what it shares. */
const shared = { isolate: false, globalSetup: ["test/toolchain/global-setup.ts"] }
/** A test that does not say what store it is on is on SQLite; here it is on PostgreSQL. */
const postgres = { ...shared, env: { CHANCERY_TEST_STORAGE: "postgres" } }

export default defineConfig({
  resolve,
  test: {
    // Nothing here measures time; a busy machine, or one that stands still for a minute, must not fail what only takes
    // longer there. No test says less for itself.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 120_000 } },
    // Left to itself it keeps one core free, which is half of a small machine; much of a run waits for other processes, so
    // that two cores have work for three.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    projects: [
      { extends: true, test: { name: "unit", isolate: false, include: unit } },
      {
        extends: true,
        test: { ...shared, name: "engine", include: tests, exclude: [...excluded, ...systemTests, ...unit] },
      },
      {
        extends: true,
        test: { ...shared, name: "system", include: systemTests, exclude: [...excluded, ...unit] },
      },
      ...(postgresSeemsThere
        ? [
            {
              extends: true as const,
              test: {
                ...postgres,
                name: "engine on PostgreSQL",
                include: onPostgres.filter((file) => !isSystemOnPostgres(file)),
              },
            },
            {
              extends: true as const,
              test: { ...postgres, name: "system on PostgreSQL", include: onPostgres.filter(isSystemOnPostgres) },
            },
          ]
        : []),
      {
        // A project of its own, so that other runs do not wait for a control plane.
        extends: true,
        test: {
          name: "operator",
          include: ["test/e2e/operator/**/*.test.ts"],
          globalSetup: ["test/e2e/operator/global-setup.ts"],
        },
      },
      ...(dockerSeemsThere
        ? [
            {
              extends: true as const,
              test: {
                name: "operator on k3s",
                include: ["test/e2e/operator/**/*.test.ts"],
                globalSetup: ["test/e2e/operator/k3s-setup.ts"],
                env: { CHANCERY_TEST_CLUSTER: "k3s" },
              },
            },
          ]
        : []),
    ],
  },
})
