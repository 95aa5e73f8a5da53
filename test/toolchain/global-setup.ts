// Runs once before a vitest run, and once after it.
import { sayMissing } from "./missing.ts"
import { postgresInstallation, postgresVariable, startPostgres } from "./postgres.ts"

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  const server = await startPostgres()
  if (server === undefined) return sayMissing(postgresInstallation)
  process.env[postgresVariable] = server.url
  return () => server.stop()
}
