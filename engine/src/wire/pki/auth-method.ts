// Auth methods as the system's endpoints write them: like mounts (pki-facts 4.2), with the type of the tokens that they give.
import { type Fault, invalid } from "../../core/errors.ts"
import {
  type AuthMethodConfig,
  type AuthMethodInput,
  type AuthMethodPatch,
  type AuthMethodType,
  authMethodTypes,
} from "../../pki/logins/auth-method.ts"
import type { AuthMethodView } from "../../pki/logins/auth-methods.ts"
import {
  decodeMountPatch,
  encodeMounted,
  encodeTune,
  ignoredConfigWarnings,
  ineffective,
  mountConfigIn,
  mountConfigKinds,
  mountParameters,
  pluginNameFaults,
  traitParameters,
  tuneKinds,
  unsupportedConfig,
} from "./mount.ts"
import {
  anything,
  type Decoded,
  decodeAnswer,
  decodeDocument,
  type Document,
  encodeMembers,
  isDocument,
  optionalPairs,
  parameters,
  text,
  unreadable,
  type ValuesOf,
  word,
} from "./parameters.ts"
import { tokenType as tokenTypeKind } from "./token-terms.ts"

const configKinds = {
  ...mountConfigKinds,
  tokenType: {
    ...tokenTypeKind,
    decode: (value: unknown) => tokenTypeKind.decode(value === "" ? "default-service" : value),
  },
}
const configParameters = parameters(configKinds)
const configInput = parameters({ ...configKinds, ...unsupportedConfig })

export const authMethodParameters = mountParameters
export const authMethodTuneParameters = parameters({ ...tuneKinds, tokenType: configKinds.tokenType })

/** Throws `invalid` with every fault of the document. */
export function decodeAuthMethodInput(
  path: string,
  { value, faults }: Omit<Decoded<ValuesOf<typeof authMethodParameters>>, "ignored">,
): { readonly input: AuthMethodInput; readonly warnings: readonly string[] } {
  const { type: given = value.pluginName ?? "", description, config, options } = value
  const { local = false, sealWrap = false, externalEntropyAccess = false } = value
  const all: Fault[] = [...faults]
  const type = authMethodTypes.find((one) => one === given)
  if (type === undefined) all.push({ field: ["type"], detail: unknownType(given) })
  all.push(...pluginNameFaults(value.pluginName, given))
  const decoded = isDocument(config ?? {}) ? decodeDocument(configInput, (config ?? {}) as Document) : undefined
  if (decoded === undefined) all.push({ field: ["config"], detail: `"config" must be an object` })
  all.push(...(decoded?.faults ?? []))
  if (all.length > 0 || type === undefined) throw invalid(all)
  return {
    input: {
      path,
      type,
      ...(description === undefined ? {} : { description }),
      config: authMethodConfigIn(decoded?.value ?? {}),
      traits: { local, sealWrap, externalEntropyAccess },
      ...(options === undefined ? {} : { options }),
    },
    warnings: [...ineffective(value), ...ignoredConfigWarnings(decoded?.ignored ?? [])],
  }
}

const authMethodConfigIn = ({
  tokenType,
  ...rest
}: Partial<ValuesOf<typeof configInput>>): Partial<AuthMethodConfig> => ({
  ...mountConfigIn(rest),
  ...(tokenType === undefined ? {} : { tokenType }),
})

const typeShownMaximum = 64

const unknownType = (given: string): string =>
  `"type" must be ${word(...authMethodTypes).expected}, and not "${given.slice(0, typeShownMaximum).toWellFormed()}"`

export function decodeAuthMethodPatch(value: Partial<ValuesOf<typeof authMethodTuneParameters>>): AuthMethodPatch {
  const { tokenType, ...rest } = value
  const { config, ...patch } = decodeMountPatch(rest)
  return { ...patch, config: { ...config, ...(tokenType === undefined ? {} : { tokenType }) } }
}

export const encodeAuthMethodInput = ({ type, ...patch }: AuthMethodInput): Document => ({
  type,
  ...(patch.description === undefined ? {} : { description: patch.description }),
  ...encodeMembers(traitParameters, patch.traits ?? {}, "native"),
  ...(patch.options === undefined ? {} : { options: patch.options }),
  config: encodeMembers(configParameters, patch.config ?? {}, "native"),
})

export const encodeAuthMethodPatch = ({ description, config = {}, options }: AuthMethodPatch): Document => ({
  ...(description === undefined ? {} : { description }),
  ...(options === undefined ? {} : { options }),
  ...encodeMembers(configParameters, config, "native"),
})

/** One method among all, or by itself. */
export const encodeAuthMethod = (method: AuthMethodView): Document =>
  encodeMounted(method, encodeMembers(configParameters, method.config, "native"))

/** By path, each with the "/" at its end that clients look for. */
export const encodeAuthMethods = (methods: readonly AuthMethodView[]): Document =>
  Object.fromEntries(methods.map((method) => [`${method.path}/`, encodeAuthMethod(method)]))

/** What holds, where the other shapes have what was said. */
export const encodeAuthMethodTune = (method: AuthMethodView): Document => ({
  ...encodeTune(method),
  token_type: method.config.tokenType,
})

const methodMembers = parameters({
  type: word<AuthMethodType | "token">(...authMethodTypes, "token"),
  description: text,
  config: anything,
  options: optionalPairs,
  accessor: text,
  uuid: text,
})

export function decodeAuthMethod(path: string, data: unknown): AuthMethodView {
  const { config, ...members } = decodeAnswer(methodMembers, data)
  return {
    path,
    ...members,
    config: decodeAnswer(configParameters, config),
    traits: decodeAnswer(traitParameters, data),
  }
}

export function decodeAuthMethods(data: unknown): readonly AuthMethodView[] {
  if (!isDocument(data)) throw unreadable("there are no auth methods")
  return Object.entries(data).map(([path, method]) => decodeAuthMethod(path.slice(0, -1), method))
}
