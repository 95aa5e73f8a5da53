import { ListenError } from "../server/server.ts"
import { CommandError, exitCodes } from "./exit-code.ts"

/** Starts a server; an address that cannot be had ends the command with a sentence about it. */
export async function listening<Started>(start: () => Promise<Started>): Promise<Started> {
  try {
    return await start()
  } catch (error) {
    if (!(error instanceof ListenError)) throw error
    // Whoever has the address may be about to leave it, as a server that is being replaced.
    const code = error.code === "EADDRINUSE" ? exitCodes.busy : exitCodes.configuration
    throw new CommandError(code, error.message, { cause: error })
  }
}
