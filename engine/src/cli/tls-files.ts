// TLS certificate and key in files that other programs replace. No file watch sees every kind of replacement (`fileVersion`), so the files
// are polled.
import { readFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import type { Log } from "../core/runtime.ts"
import { systemTimers } from "../core/timers.ts"
import { ReloadableIdentity, type SecureContextSource, type TlsIdentity, UnusableIdentity } from "../server/server.ts"
import { fileVersion } from "../storage/sealing/seal-keys.ts"
import { configurationError } from "./exit-code.ts"

export interface TlsFiles {
  readonly certificate: string
  readonly privateKey: string
}

export interface FollowedTlsFiles extends Disposable {
  readonly source: SecureContextSource
}

const tlsFilesCheckMs = 1_000

/** Throws a `CommandError` if the first pair is unusable. A later unusable pair is logged, and the previous one stays in use. */
export function followTlsFiles(files: TlsFiles, log: Log, checkMs = tlsFilesCheckMs): FollowedTlsFiles {
  const identity = firstIdentity(files)
  let stopped = false
  let settled: string | undefined
  let doubtful: string | undefined

  async function check(): Promise<void> {
    const version = await versionOf(files)
    if (version === settled) return
    try {
      const next = await read(files)
      if (!isSame(next, identity.current())) {
        identity.replace(next)
        log.info("tls certificate replaced", { file: files.certificate })
      }
      settled = version
    } catch (error) {
      // A program that writes the two files one after the other leaves a moment in which they do not match. So the first failure is not
      // logged.
      if (version === doubtful) {
        settled = version
        log.warn("tls certificate not replaced", { file: files.certificate, reason: reasonOf(error) })
      }
      doubtful = version
    }
  }

  let takeBack: (() => void) | undefined
  const again = (): void => {
    if (!stopped) takeBack = systemTimers.after(checkMs, () => void check().finally(again))
  }
  again()
  return {
    source: identity,
    [Symbol.dispose]() {
      stopped = true
      takeBack?.()
    },
  }
}

/** Throws a `CommandError` if the pair is unusable. */
export function firstIdentity(files: TlsFiles): ReloadableIdentity {
  const identity = {
    certificate: readPem(files.certificate, "certificate"),
    privateKey: readPem(files.privateKey, "private key"),
  }
  try {
    return new ReloadableIdentity(identity)
  } catch (error) {
    if (!(error instanceof UnusableIdentity)) throw error
    throw configurationError(
      `The TLS certificate and key cannot be used (${error.message}); check that they are complete and belong together.`,
    )
  }
}

function readPem(path: string, what: string): string {
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch {
    throw configurationError(`The TLS ${what} ${path} cannot be read; check that the file exists and is readable.`)
  }
  if (!text.includes("-----BEGIN ")) {
    throw configurationError(`The TLS ${what} ${path} does not contain PEM; check the path.`)
  }
  return text
}

async function read({ certificate, privateKey }: TlsFiles): Promise<TlsIdentity> {
  return { certificate: await readFile(certificate, "utf8"), privateKey: await readFile(privateKey, "utf8") }
}

const isSame = (one: TlsIdentity, other: TlsIdentity): boolean =>
  one.certificate === other.certificate && one.privateKey === other.privateKey

const versionOf = async ({ certificate, privateKey }: TlsFiles): Promise<string> =>
  `${await fileVersion(certificate)} ${await fileVersion(privateKey)}`

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
