// Checks which other users of the machine can read private files of the server.
import { access, constants, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { type AuditTarget, formatAuditTarget } from "../../audit/audit-target.ts"
import { sqliteFile } from "../../storage/sql/database.ts"
import { exitCodes } from "../exit-code.ts"
import type { Settings } from "../settings.ts"
import { auditTargetOf, sealKeySourcesOf, storageUrl } from "../store.ts"
import { type Finding, fail, ok, warn } from "./finding.ts"

/** Path to check. `others` is the mask of permission bits that group and others must not have. */
interface PrivatePath {
  readonly path: string
  readonly what: string
  readonly others: number
  readonly mode: string
  readonly grave: boolean
}

const nothing = 0o077
/** A group may read a key, because certificate managers and Kubernetes mount keys like that. */
const nothingForAll = 0o007

export async function fileFindings(settings: Settings): Promise<readonly Finding[]> {
  return [...(await auditFindings(auditTargetOf(settings))), ...(await privacyFindings(settings))]
}

/**
 * Checks that the audit log can be written, since a server does not start otherwise. A missing data folder is fine: the server creates it.
 */
async function auditFindings(target: AuditTarget | undefined): Promise<readonly Finding[]> {
  if (target === undefined) {
    const advice = "Set --audit-log to a file or a syslog server, or omit it for the default file."
    return [warn("files", "The audit log is off: requests are not recorded.", advice)]
  }
  if (target.kind !== "file") {
    return [
      ok(
        "files",
        `The audit log is sent to ${formatAuditTarget(target)}; a server does not start while it is unreachable.`,
      ),
    ]
  }
  const { path } = target
  const missing = await access(path, constants.W_OK).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  )
  const place = missing === "ENOENT" ? dirname(path) : path
  try {
    await access(place, constants.W_OK)
    return [ok("files", `The audit log ${path} can be written.`)]
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT") return []
    const message = `The audit log ${path} cannot be written (${code}): the server rejects all requests that it must record.`
    const advice = "Check that the user of the servers owns its folder, and that the disk is not mounted read-only."
    return [fail("files", message, advice, exitCodes.configuration)]
  }
}

async function privacyFindings(settings: Settings): Promise<readonly Finding[]> {
  // Windows has no such modes; access control lists decide who may read a file.
  if (process.platform === "win32") return []
  const { text, file, defaultFile } = sealKeySourcesOf(settings)
  const sealKey = text === undefined ? (file ?? defaultFile) : undefined
  const auditTarget = auditTargetOf(settings)
  const paths = [
    { path: settings.data, what: "data folder", others: nothing, mode: "700", grave: false },
    { path: sqliteFile(storageUrl(settings)), what: "database", others: nothing, mode: "600", grave: false },
    {
      path: auditTarget?.kind === "file" ? auditTarget.path : undefined,
      what: "audit log",
      others: nothing,
      mode: "600",
      grave: false,
    },
    { path: sealKey, what: "seal key file", others: nothingForAll, mode: "600", grave: true },
    { path: settings.tlsKey, what: "TLS private key", others: nothingForAll, mode: "600", grave: true },
  ].flatMap(({ path, ...rest }): PrivatePath[] => (path === undefined ? [] : [{ path, ...rest }]))
  const findings = (await Promise.all(paths.map(finding))).filter((each) => each !== undefined)
  const troubles = findings.filter(({ level }) => level !== "ok")
  if (troubles.length > 0) return troubles
  return findings.length === 0
    ? []
    : [ok("files", "Other users of this machine cannot read the private files of the server.")]
}

/** Returns undefined if there is no such file or folder. Another check reports whether that is a fault. */
async function finding({ path, what, others, mode, grave }: PrivatePath): Promise<Finding | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || !(found.isFile() || found.isDirectory())) return undefined
  if ((found.mode & others) === 0) return ok("files", `The ${what} ${path} is private.`)
  const shown = (found.mode & 0o777).toString(8)
  const message = `The ${what} ${path} has mode ${shown}: other users of this machine can access it.`
  return (grave ? fail : warn)("files", message, `Run: chmod ${mode} ${path}`)
}
