// Messages for users about rejected requests: status, member, detail, and remedy. They contain no stack and no secret.
import { isRejection, type Rejection } from "../lifecycle/rejection.ts"

export type Phase = "check" | "diff" | "create" | "read" | "update" | "delete"

/** Returns the message. `members` are the property names of the kind, which replace the wire names in the API's texts. */
export function explain(error: unknown, kindName: string, phase: Phase, members: readonly string[] = []): string {
  if (!isRejection(error)) return error instanceof Error ? error.message : String(error)
  const hint = hintFor(error, kindName, phase)
  const faults = error.faults.map(({ field, pointer, detail }) => {
    const where = field?.join(".") ?? pointer
    return where === undefined ? detail : `${where}: ${detail}`
  })
  const reason = faults.length === 0 ? error.message : faults.join("; ")
  return `${withPropertyNames(reason, members)} (${statusOf(error)})${hint === undefined ? "" : `\n${hint}`}`
}

/** Replaces wire names of members, such as `auto-apply` or `max_ttl`, with the names of the properties. */
export function withPropertyNames(text: string, members: readonly string[]): string {
  return text.replaceAll(/(?<![\w/.-])[a-z]+(?:[-_][a-z]+)+(?![\w/-]|\.\w)/g, (wireName) => {
    const property = wireName.replaceAll(/[-_]([a-z])/g, (_separator, letter: string) => letter.toUpperCase())
    return members.includes(property) ? property : wireName
  })
}

/** Returns what happens next after an operation with unknown outcome. */
export const nextRun = (kindName: string, phase: Phase): string =>
  phase === "create" && unrepeatable.has(kindName)
    ? "the next `pulumi up` searches for the certificate before it issues another one"
    : "the next `pulumi up` detects the result"

/** Kinds whose every creation issues another certificate, and whose certificates have no unique name. */
const unrepeatable = new Set(["pkiCertificate", "pkiSignedCertificate", "pkiIntermediate"])

function hintFor(error: Rejection, kindName: string, phase: Phase): string | undefined {
  switch (error.code) {
    case "unauthenticated":
      return "The token is unknown, expired or revoked. CHANCERY_TOKEN in the environment takes precedence over chancery:token of the stack."
    case "invalid":
      return phase === "create" && error.faults.some(({ detail }) => detail.includes("taken"))
        ? "To manage it with this stack, set adopt: true or import it."
        : undefined
    case "conflict":
      if (phase === "create") return "To manage it with this stack, set adopt: true."
      return phase === "delete"
        ? `Nothing was deleted. Remove what depends on it, set deletionPolicy: "force" and run \`pulumi up\` first, or set ` +
            `deletionPolicy: "retain" to keep the ${kindName}.`
        : undefined
    case "unavailable":
      if (error.notSent !== undefined) return `Nothing was changed. ${remedies[error.notSent]}`
      return `The result of the request is unknown; ${nextRun(kindName, phase)}.`
    default:
      return undefined
  }
}

const remedies: Readonly<Record<NonNullable<Rejection["notSent"]>, string>> = {
  unreachable: "Check that the server is running, and its address in chancery:engineUrl or CHANCERY_ENGINE_URL.",
  "untrusted-certificate":
    "If its certificate is from a private authority, set chancery:caFile or CHANCERY_CA_FILE to a file with its certificate (PEM).",
}

/** HTTP statuses of the API by error code, because an engine in this process has no status. */
const statuses: Readonly<Record<string, number>> = {
  "bad-request": 400,
  unauthenticated: 401,
  forbidden: 403,
  "not-found": 404,
  conflict: 409,
  gone: 410,
  "precondition-failed": 412,
  "too-large": 413,
  invalid: 422,
  unprocessable: 422,
  "rate-limited": 429,
  pending: 503,
  busy: 503,
  "out-of-service": 503,
}

const statusOf = ({ code }: Rejection): string => {
  const status = statuses[code]
  return status === undefined ? code : `${status} ${code}`
}
