import { open, rename, rm } from "node:fs/promises"
import { dirname } from "node:path"

/** Writes the file atomically; it is on disk when the promise resolves. The folder must exist. */
export async function writeDurably(file: string, content: string | Uint8Array, mode: number): Promise<void> {
  const partial = `${file}.${process.pid}.partial`
  try {
    const handle = await open(partial, "w", mode)
    try {
      await handle.writeFile(content)
    } finally {
      await handle.close()
    }
    await moveDurably(partial, file)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

/** Replaces the file `to` by the finished file `from`. Syncs the file first, then the folder's entry. */
export async function moveDurably(from: string, to: string): Promise<void> {
  await sync(from)
  await rename(from, to)
  await sync(dirname(to))
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
