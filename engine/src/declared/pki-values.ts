// Values of the certificate API as declared: durations are strings such as `720h`, instants are ISO 8601, and names in rules such as
// `"max_ttl"` become `maxTtl`.
import type { Fault } from "../core/errors.ts"
import { formatDuration, parseDuration, formatInstant, type Instant } from "../core/time.ts"
import { mountPathFaults, mountPathOf } from "../pki/mounts/mount.ts"
import { required } from "./members.ts"
import { sameText, type SameValue } from "./same-value.ts"
import { text } from "./types.ts"

export const sameMountPath: SameValue = (a, b) => sameText(withoutSlashes(a), withoutSlashes(b))

const withoutSlashes = (path: unknown): unknown => (typeof path === "string" ? mountPathOf(path) : path)

export const mountMember = required(text, "Path of the mount.", {
  same: sameMountPath,
  forcesReplacement: true,
  providedBy: "configuration",
  defaultText: "`chancery:pkiMount`, else `pki`",
})

export const mountMemberFaults = (member: string, path: string): readonly Fault[] =>
  mountPathFaults(mountPathOf(path)).map(({ detail }) => ({ field: [member], detail: detail.replace("path", member) }))

export const declaredInstant = (instant: Instant | null): string | null =>
  instant === null ? null : formatInstant(instant)

/** Returns a declared lifetime in milliseconds; null stays null. */
export const lifetimeOf = (text: string | null): number | null => (text === null ? null : (parseDuration(text) ?? null))

export const declaredDuration = (ms: number | null): string | null => (ms === null ? null : formatDuration(ms))

/** Members of mounts and roles that rules of other resources name, without quotes. */
const namedElsewhere: Readonly<Record<string, string>> = {
  delegated_auth_accessors: "delegatedAuthAccessors",
  no_store: "noStore",
}

export const withDeclaredNames = (rule: string): string =>
  rule.replaceAll(/\b[a-z]+(?:_[a-z]+)+\b/g, (word) => namedElsewhere[word] ?? word)

/** Returns faults of engine rules with declared names in field and text. */
export const declaredFaults = (
  faults: readonly Fault[],
  memberOf: (inside: string) => string | undefined,
): readonly Fault[] =>
  faults.map(({ field: [inside = "", ...below] = [], detail }) => ({
    field: [memberOf(String(inside)) ?? inside, ...below],
    detail: withDeclaredNames(
      detail.replaceAll(/"([a-z]+(?:_[a-z]+)*)"/g, (quoted, apiName: string) => {
        const name = apiName.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
        return memberOf(name) ?? memberOf(`${name}Ms`) ?? quoted
      }),
    ),
  }))
