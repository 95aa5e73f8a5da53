// Bodies of EST: base64 of DER with any line ends and padding (RFC 8951, section 3.1). Content-Transfer-Encoding is ignored, as it requires.
import { badRequest, EngineError } from "../../core/errors.ts"

/** Decodes the body of a request. Throws `unsupported-media-type` and `bad-request`. */
export function decodeEstBody(contentType: string | null, mediaType: string, body: Uint8Array): Uint8Array {
  if (contentType?.split(";")[0]?.trim().toLowerCase() !== mediaType)
    throw new EngineError("unsupported-media-type", `Content-Type must be ${mediaType}`)
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1").replaceAll(/[\s]+/g, "")
  if (text === "") throw badRequest("the body is empty")
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw badRequest("the body must be base64 of DER")
  return Buffer.from(text, "base64")
}

const lineLength = 64

/** Encodes as base64 in lines that end in LF, which `base64 --decode` reads too. */
export const encodeEstBody = (der: Uint8Array): string =>
  `${(
    Buffer.from(der)
      .toString("base64")
      .match(new RegExp(`.{1,${lineLength}}`, "g")) ?? []
  ).join("\n")}\n`

export interface BasicCredentials {
  readonly name: string
  readonly password: string
}

/** Longer than any user name and password that an auth method accepts. */
const maxBasicLength = 8_192

/** Returns the credentials of a Basic header (RFC 7617), in UTF-8. Returns undefined for another scheme, and for a header that is malformed. */
export function basicCredentials(header: string | null): BasicCredentials | undefined {
  if (header === null || header.length > maxBasicLength) return undefined
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header) ?? []
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, "base64").toString("utf8")
  const colon = text.indexOf(":")
  return colon <= 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}
