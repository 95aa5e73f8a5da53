import { ListenError } from "../server/server.ts"
import { CommandError, exitCodes } from "./exit-code.ts"

/** Starts a server. Throws a `CommandError` if the address cannot be used. */
export async function listening<Started>(start: () => Promise<Started>): Promise<Started> {
  try {
    return await start()
  } catch (error) {
    if (!(error instanceof ListenError)) throw error
    // The address may become free soon, for example if the server that holds it is being replaced.
    const code = error.code === "EADDRINUSE" ? exitCodes.busy : exitCodes.configuration
    throw new CommandError(code, error.message, { cause: error })
  }
}
