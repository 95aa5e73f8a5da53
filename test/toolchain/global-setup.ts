// Runs once before a vitest run, and once after it.
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
import { sayMissing } from "./missing.ts"
import { postgresInstallation, postgresVariable, startPostgres } from "./postgres.ts"

export default async function setup({ config }: TestProject): Promise<() => Promise<void>> {
  // Projects that run together have one server and the same templates, which stand in the environment of all.
  if (process.env[fileTemplateVariable] !== undefined) return async () => {}
  await using opening = new AsyncDisposableStack()
  // Every process that a test starts would compile the same sources; for most of them that is half of what they do.
  const compiled = await mkdtemp(join(tmpdir(), "chancery-compiled-"))
  // A process that ends late still writes what it compiled.
  opening.defer(() => rm(compiled, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }))
  process.env["NODE_COMPILE_CACHE"] = compiled
  // Who watches changes the sources, and is to see what they do then.
  if (!config.watch) process.env[bundledVariable] = opening.use(await bundleChancery()).main
  process.env[fileTemplateVariable] = opening.use(await createFileTemplate()).file
  const server = await startPostgres()
  if (server === undefined) sayMissing(postgresInstallation)
  else {
    opening.defer(() => server.stop())
    process.env[postgresVariable] = server.url
    process.env[templateVariable] = opening.use(await createTemplate(server.url)).name
  }
  const closing = opening.move()
  return () => closing.disposeAsync()
}
