// Lock of a status folder, so that one process at a time uses it. A lock file left by a killed process does not count.
import { mkdir, open, readFile, rm } from "node:fs/promises"
import { join } from "node:path"

const maxAttempts = 3

/** Returns undefined while another process of this machine holds the lock. */
export async function lockFolder(folder: string): Promise<AsyncDisposable | undefined> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, "lock")
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    try {
      const handle = await open(file, "wx", 0o600)
      await handle.writeFile(String(process.pid))
      await handle.close()
      return { [Symbol.asyncDispose]: () => rm(file, { force: true }) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
    const holder = Number(await readFile(file, "utf8").catch(() => ""))
    if (holder !== process.pid && lives(holder)) return undefined
    await rm(file, { force: true })
  }
  return undefined
}

function lives(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // The process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}
