// Key of a new issuer or CSR: generated, or an existing one.
import { type KeyAlgorithm, keyAlgorithm } from "../../x509/key-algorithm.ts"
import { defaultReference, referenceNameProblem } from "../names/reference-name.ts"
import { isKeyType, keyBitsProblem } from "../policy/key-strength.ts"
import { shown, type Violation, violation } from "../policy/violation.ts"

/**
 * `internal`: generated and stored. `exported`: also returned once. `existing`: a key of the mount. `kms`: a key outside of the
 * process, which is not supported.
 */
export const keySources = ["internal", "exported", "existing", "kms"] as const
export type KeySource = (typeof keySources)[number]

export interface KeyFields {
  /** Default: `internal`. */
  readonly keySource?: KeySource
  /** `rsa`, `ec` or `ed25519`. Default: `rsa`. */
  readonly keyType?: string
  /** 0: the default of the type. */
  readonly keyBits?: number
  /** Name of the generated key; unique in the mount. Empty: no name. */
  readonly keyName?: string
  /** Id or name of an existing key, or `default`. Default: `default`. */
  readonly keyRef?: string
}

export type KeyRequest =
  | {
      readonly kind: "new"
      readonly algorithm: KeyAlgorithm
      readonly name: string | null
      readonly isExported: boolean
    }
  | { readonly kind: "existing"; readonly reference: string }

export interface ReadKeyRequest {
  /** Undefined if there are violations. */
  readonly request: KeyRequest | undefined
  readonly violations: readonly Violation[]
  readonly warnings: readonly string[]
}

export function readKeyRequest(fields: KeyFields): ReadKeyRequest {
  switch (fields.keySource ?? "internal") {
    case "kms":
      return refused("keySource", "kms", 'keys outside of this server are not supported; use "internal" or "exported"')
    case "existing":
      return readExisting(fields)
    default:
      return readNew(fields)
  }
}

const refused = (field: keyof KeyFields, name: string, message: string): ReadKeyRequest => ({
  request: undefined,
  violations: [violation("keyIsAvailable", field, name, message)],
  warnings: [],
})

function readExisting({ keyType, keyBits, keyName = "", keyRef = "" }: KeyFields): ReadKeyRequest {
  const violations: Violation[] = []
  const refuse = (field: "keyType" | "keyBits", name: string) => {
    const message = `"${field === "keyType" ? "key_type" : "key_bits"}" must not be set for an existing key`
    violations.push(violation("keyIsChosenOnce", field, name, message))
  }
  if (keyType !== undefined) refuse("keyType", shown(keyType))
  if (keyBits !== undefined) refuse("keyBits", `${keyBits}`)
  return {
    request: violations.length > 0 ? undefined : { kind: "existing", reference: keyRef || defaultReference },
    violations,
    warnings: keyName === "" ? [] : ['"key_name" has no effect on an existing key'],
  }
}

function readNew({ keySource, keyType = "rsa", keyBits = 0, keyName = "", keyRef = "" }: KeyFields): ReadKeyRequest {
  const violations: Violation[] = []
  const algorithm = isKeyType(keyType) ? keyAlgorithm(keyType, keyBits) : undefined
  if (!isKeyType(keyType))
    violations.push(violation("keyCanBeMade", "keyType", shown(keyType), `unknown key type ${shown(keyType)}`))
  else if (algorithm === undefined)
    violations.push(violation("keyCanBeMade", "keyBits", `${keyBits}`, keyBitsProblem(keyType, keyBits) ?? ""))
  const problem = keyName === "" ? undefined : referenceNameProblem(keyName)
  if (problem !== undefined)
    violations.push(violation("nameIsAReference", "keyName", shown(keyName), `"key_name" ${problem}`))
  if (algorithm === undefined || violations.length > 0) return { request: undefined, violations, warnings: [] }
  return {
    request: { kind: "new", algorithm, name: keyName || null, isExported: keySource === "exported" },
    violations,
    warnings: keyRef === "" ? [] : ['"key_ref" has no effect when a key is generated'],
  }
}
