import { existsSync } from "node:fs"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { findPostgresBinaries, postgresVariable } from "./test/toolchain/postgres.ts"
import { filesOnUsualStore } from "./test/toolchain/usual-store.ts"

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Sources, also where one package asks for another by its name. */
export const resolve = {
  alias: [
    { find: /^@chancery\/engine$/, replacement: source("engine/src/index.ts") },
    { find: /^@chancery\/pulumi$/, replacement: source("provider/src/index.ts") },
    { find: /^@chancery\/engine\/declared\/(\w+)$/, replacement: source("engine/src/declared/$1.ts") },
    { find: /^@chancery\/engine\/(cli|declared|testing|x509)$/, replacement: source("engine/src/$1/index.ts") },
  ],
}

/** Whether it answers is asked where that is needed; a run of something else asks nobody. */
const dockerSeemsThere = process.env["DOCKER_HOST"] !== undefined || existsSync("/var/run/docker.sock")

/** Where there is none, the setup of `engine` says so, and fails in CI. */
const postgresSeemsThere =
  (process.env[postgresVariable] ?? "") !== "" || dockerSeemsThere || (await findPostgresBinaries()) !== undefined

const engineTests = ["{engine,provider,operator}/src/**/*.test.ts", "test/**/*.test.ts"]
/** The long ones take minutes and have a configuration of their own. */
const notEngineTests = ["**/node_modules/**", "test/long/**", "test/operator/**"]

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
      {
        extends: true,
        test: {
          name: "engine",
          // Files share what they load, a third of what the small ones take; none of them changes what it shares.
          isolate: false,
          include: engineTests,
          exclude: notEngineTests,
          globalSetup: ["test/toolchain/global-setup.ts"],
        },
      },
      // A test that does not say what store it is on is on SQLite; here it is on PostgreSQL.
      ...(postgresSeemsThere
        ? [
            {
              extends: true as const,
              test: {
                name: "engine on PostgreSQL",
                isolate: false,
                include: filesOnUsualStore(source("."), engineTests),
                exclude: notEngineTests,
                globalSetup: ["test/toolchain/global-setup.ts"],
                env: { CHANCERY_TEST_STORAGE: "postgres" },
              },
            },
          ]
        : []),
      {
        // Whoever runs none of these waits for no control plane.
        extends: true,
        test: {
          name: "operator",
          include: ["test/operator/**/*.test.ts"],
          globalSetup: ["test/operator/global-setup.ts"],
        },
      },
      ...(dockerSeemsThere
        ? [
            {
              extends: true as const,
              test: {
                name: "operator on k3s",
                include: ["test/operator/**/*.test.ts"],
                globalSetup: ["test/operator/k3s-setup.ts"],
                env: { CHANCERY_TEST_CLUSTER: "k3s" },
              },
            },
          ]
        : []),
    ],
  },
})
