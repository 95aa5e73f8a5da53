// Runs once before a vitest run, and once after it.
import { postgresInstallation, postgresVariable, startPostgres } from "./postgres.ts"

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  const server = await startPostgres()
  if (server === undefined) {
    if (process.env["CI"] === "true") throw new Error(postgresInstallation)
    process.stderr.write(`\n${"!".repeat(80)}\n${postgresInstallation}\n${"!".repeat(80)}\n\n`)
    return undefined
  }
  process.env[postgresVariable] = server.url
  return () => server.stop()
}
