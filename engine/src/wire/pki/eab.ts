// External account bindings (RFC 8555, section 7.3.4).
import type { AccountBindingView, NewAccountBinding } from "../../acme/account-bindings.ts"
import { formatInstant, parseInstant } from "../../core/time.ts"
import { decodeAnswer, type Document, durationText, isDocument, parameters, text, unreadable } from "./parameters.ts"

export const newEabParameters = parameters({ ttlMs: durationText })

const keyType = "hs"

export const encodeNewEab = ({ id, key, createdAt, acmeDirectory }: NewAccountBinding): Document => ({
  id,
  key: Buffer.from(key).toString("base64url"),
  key_type: keyType,
  created_on: formatInstant(createdAt),
  acme_directory: acmeDirectory,
})

export const encodeEabInfo = ({ createdAt, acmeDirectory }: AccountBindingView): Document => ({
  created_on: formatInstant(createdAt),
  key_type: keyType,
  acme_directory: acmeDirectory,
})

const infoAnswer = parameters({ createdOn: text, acmeDirectory: text })
const newAnswer = parameters({ id: text, key: text, createdOn: text, acmeDirectory: text })

export function decodeNewEab(data: unknown): NewAccountBinding {
  const { id, key, createdOn, acmeDirectory } = decodeAnswer(newAnswer, data)
  return { id, key: Buffer.from(key, "base64url"), createdAt: instantOf(createdOn), acmeDirectory }
}

export function decodeEabInfo(id: string, info: unknown): AccountBindingView {
  if (!isDocument(info)) throw unreadable(`nothing is said of ${id}`)
  const { createdOn, acmeDirectory } = decodeAnswer(infoAnswer, info)
  return { id, createdAt: instantOf(createdOn), acmeDirectory }
}

function instantOf(text: string): number {
  const instant = parseInstant(text)
  if (instant === undefined) throw unreadable(`"created_on" is no time`)
  return instant
}
