// Runs once before a Vitest run, and once after it.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import {
  createFileTemplate,
  createTemplate,
  fileTemplateVariable,
  templateVariable,
} from "../../engine/testing/temporary-database.ts"
import { bundleChancery, bundledVariable } from "./bundled-chancery.ts"
import { warnMissing } from "./missing.ts"
import { postgresInstallation, postgresVariable, startPostgres } from "./postgres.ts"

export default async function setup({ config }: TestProject): Promise<() => Promise<void>> {
  // Projects that run together share one server and the same templates, whose names are in the environment of all.
  if (process.env[fileTemplateVariable] !== undefined) return async () => {}
  await using opening = new AsyncDisposableStack()
  // Each process that a test starts would compile the same sources, which is half of the work of most.
  const compiled = await mkdtemp(join(tmpdir(), "chancery-compiled-"))
  // A process that ends late still writes its compile cache.
  opening.defer(() => rm(compiled, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }))
  process.env["NODE_COMPILE_CACHE"] = compiled
  // In watch mode the sources change, and the tests must use the changed ones.
  if (!config.watch) process.env[bundledVariable] = opening.use(await bundleChancery()).main
  process.env[fileTemplateVariable] = opening.use(await createFileTemplate()).file
  const server = await startPostgres()
  if (server === undefined) warnMissing(postgresInstallation)
  else {
    opening.defer(() => server.stop())
    process.env[postgresVariable] = server.url
    process.env[templateVariable] = opening.use(await createTemplate(server.url)).name
  }
  const closing = opening.move()
  return () => closing.disposeAsync()
}
