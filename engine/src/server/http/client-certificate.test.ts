import { readFileSync } from "node:fs"
import { X509Certificate } from "node:crypto"
import { expect, test } from "vitest"
import { clientCertificateOf } from "./client-certificate.ts"
import { parseTrustedProxies } from "./client-address.ts"

const fixture = (name: string) =>
  Uint8Array.from(
    new X509Certificate(readFileSync(new URL(`../../../../test/cli/tls/${name}.pem`, import.meta.url))).raw,
  )
const [leaf, other] = [fixture("certificate"), fixture("renewed-certificate")]
const field = (der: Uint8Array) => `:${Buffer.from(der).toString("base64")}:`
const [leafField, otherField] = [field(leaf), field(other)]

interface Case {
  readonly why: string
  readonly peer?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly handshake?: readonly Uint8Array[] | undefined
}

function certificate({ peer = "10.0.0.1", headers = {}, ...rest }: Case, trusted = "private") {
  return clientCertificateOf(
    {
      headers: new Headers(headers),
      remoteAddress: peer,
      deviceConnection: "handshake" in rest ? { clientChain: () => rest.handshake } : undefined,
    },
    parseTrustedProxies(trusted),
  )
}

test.each<Case & { readonly chain: readonly Uint8Array[] }>([
  { why: "a trusted proxy reports a leaf", headers: { "client-cert": leafField }, chain: [leaf] },
  {
    why: "a trusted proxy reports a leaf and its chain",
    headers: { "client-cert": leafField, "client-cert-chain": `${otherField} , ${leafField}` },
    chain: [leaf, other, leaf],
  },
  {
    why: "the chain is an empty list",
    headers: { "client-cert": leafField, "client-cert-chain": "" },
    chain: [leaf],
  },
  { why: "the handshake has a chain", handshake: [leaf, other], chain: [leaf, other] },
  {
    why: "a device sends the header of another certificate",
    handshake: [leaf],
    headers: { "client-cert": otherField },
    chain: [leaf],
  },
])("the client's certificate is known if $why", ({ chain, ...row }) => {
  expect(certificate(row)).toEqual({ chain })
})

test.each<Case & { readonly trusted?: string }>([
  { why: "no header is sent" },
  { why: "no proxy is trusted", trusted: "none", headers: { "client-cert": leafField } },
  { why: "another address sends the header", peer: "203.0.113.7", headers: { "client-cert": leafField } },
  { why: "another address sends a malformed header", peer: "203.0.113.7", headers: { "client-cert": "?" } },
  { why: "the device presents none", handshake: undefined },
  { why: "a device sends the header", handshake: undefined, headers: { "client-cert": leafField } },
  { why: "a device sends a malformed header", handshake: undefined, headers: { "client-cert": "?" } },
])("the client has no certificate if $why", ({ trusted, ...row }) => {
  expect(certificate(row, trusted)).toBeUndefined()
})

const byteSequence = "Client-Cert must contain base64 between colons (RFC 9440)."

test.each<Case & { readonly message: string }>([
  { why: "is empty", headers: { "client-cert": "" }, message: byteSequence },
  { why: "is an empty byte sequence", headers: { "client-cert": "::" }, message: byteSequence },
  { why: "has no colons", headers: { "client-cert": leafField.slice(1, -1) }, message: byteSequence },
  { why: "is not base64", headers: { "client-cert": ":AA*A:" }, message: byteSequence },
  { why: "is sent twice", headers: { "client-cert": `${leafField}, ${leafField}` }, message: byteSequence },
  { why: "has parameters", headers: { "client-cert": `${leafField};a=1` }, message: byteSequence },
  {
    why: "is PEM in a URL encoding",
    headers: { "client-cert": "-----BEGIN%20CERTIFICATE-----" },
    message: byteSequence,
  },
  {
    why: "is no certificate",
    headers: { "client-cert": ":MAA=:" },
    message: "Client-Cert contains an invalid certificate.",
  },
  {
    why: "has bytes after the certificate",
    headers: { "client-cert": field(Buffer.concat([leaf, Buffer.from([0])])) },
    message: "Client-Cert contains an invalid certificate.",
  },
  { why: "is missing beside a chain", headers: { "client-cert-chain": leafField }, message: byteSequence },
  {
    why: "has a chain with an empty member",
    headers: { "client-cert": leafField, "client-cert-chain": `${leafField},` },
    message: "Client-Cert-Chain must contain base64 between colons (RFC 9440).",
  },
  {
    why: "has a chain of another type",
    headers: { "client-cert": leafField, "client-cert-chain": `"a"` },
    message: "Client-Cert-Chain must contain base64 between colons (RFC 9440).",
  },
  {
    why: "has a long chain",
    headers: { "client-cert": leafField, "client-cert-chain": Array.from({ length: 500 }, () => leafField).join(",") },
    message: "Client-Cert-Chain has too many certificates (maximum is 10).",
  },
])("a trusted proxy's header is rejected if it $why", ({ message, ...row }) => {
  expect(() => certificate(row)).toThrow(message)
})

test.each([
  { why: "has too many certificates", handshake: Array.from({ length: 11 }, () => leaf), message: "maximum is 10" },
  { why: "is too long", handshake: [leaf, new Uint8Array(64 * 1_024)], message: "maximum is 65536 bytes" },
])("the chain of a handshake is rejected if it $why", ({ why, handshake, message }) => {
  expect(() => certificate({ why, handshake })).toThrow(message)
})
