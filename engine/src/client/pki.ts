import { blockedKeys } from "../contracts/vault/blocked-key.ts"
import { issued } from "../contracts/vault/certificate.ts"
import { crls } from "../contracts/vault/crl.ts"
import { enrolments } from "../contracts/vault/enrolment.ts"
import { estConfig } from "../contracts/vault/est.ts"
import { externalPolicy, policyIssue, policySign, policySignIntermediate } from "../contracts/vault/external-policy.ts"
import { unreadable } from "../contracts/vault/format/parameters.ts"
import { keys } from "../contracts/vault/key.ts"
import { mountSettings } from "../contracts/vault/mount-settings.ts"
import { mounts } from "../contracts/vault/mount.ts"
import { ocsp, ocspRequestType } from "../contracts/vault/ocsp.ts"
import type { Body } from "../contracts/vault/record.ts"
import { revocations } from "../contracts/vault/revocation.ts"
import { roles } from "../contracts/vault/role.ts"
import { tidy } from "../contracts/vault/tidy.ts"
import type { CrlChoice, Crls } from "../pki/crl/crl-api.ts"
import { formatShard } from "../pki/crl/shard.ts"
import type { Enrolments } from "../pki/enrolments/enrolment-api.ts"
import type { ExternalPolicy, PolicyIssueRequest, PolicyRequest } from "../pki/external-policy/external-policy.ts"
import type { BlockedKeys } from "../pki/keys/blocked-key.ts"
import type { Keys } from "../pki/keys/key.ts"
import type { Settings } from "../pki/mounts/mount-settings-service.ts"
import { mountPathFaults, mountPathOf, type Mounts } from "../pki/mounts/mount.ts"
import type { Pki } from "../pki/mounts/pki.ts"
import type { Ocsp } from "../pki/ocsp/ocsp.ts"
import { revocationTarget } from "../pki/revocation/revocable-certificate.ts"
import type { Revocations, RevokedCertificate, RevokeInput } from "../pki/revocation/revocation.ts"
import { parseCertificateList } from "../x509/certificate-list.ts"
import { remoteCertificates } from "./certificates.ts"
import { remoteIssuers } from "./issuers.ts"
import { addressablePath, namesOf, type PkiCalls, pkiCallsOver, type RequestBody } from "./pki-calls.ts"
import { remote, type Remote } from "./remote-vault-contract.ts"
import { JsonText, path, type Transport } from "./transport.ts"

export const remoteExternalPolicy = (calls: PkiCalls): ExternalPolicy => ({
  ...remote(externalPolicy, calls),
  issue: async (request) =>
    issued.decode(await calls.write(policyAddress("issue", request), passingOn(policyIssue.byMount.body, request))),
  sign: async (request) =>
    issued.decode(await calls.write(policyAddress("sign", request), passingOn(policySign.byMount.body, request))),
  signIntermediate: async (request) =>
    issued.decode(
      await calls.write(
        policyAddress("sign-intermediate", request),
        passingOn(policySignIntermediate.byMount.body, request),
      ),
    ),
})

function policyAddress(verb: string, { policy, issuerRef }: PolicyRequest): string {
  const below = `/external-policy/${verb}${policy === undefined ? "" : path`/${policy}`}`
  return issuerRef === undefined ? below : path`/issuer/${issuerRef}` + below
}

type PolicyParameters = Omit<PolicyIssueRequest, "policy" | "issuerRef"> & { readonly csr?: string }

/**
 * Builds the body of a request. Parameters for the policy service are sent unchanged. Members that the engine itself reads override
 * parameters of the same name.
 */
function passingOn<T>({ table, encode }: Body<T>, { parameters, ...request }: PolicyParameters): RequestBody {
  const own = encode(request as T)
  const members = new Map([
    ...parameters,
    ...Object.entries(own).map(([name, value]) => [name, JSON.stringify(value)] as const),
    // Overrides a `format` parameter, because the response is decoded as PEM.
    ...(parameters.has("format") ? [["format", '"pem"'] as const] : []),
  ])
  const text = Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")
  return { document: new JsonText(`{${text}}`), names: namesOf(table) }
}

export function remoteKeys(calls: PkiCalls): Keys {
  const endpoints = remote(keys, calls)
  return {
    ...endpoints,
    generate: ({ keySource = "internal", ...input }) => endpoints.generate(keySource, input),
    import: (pemBundle, keyName) => endpoints.import({ pemBundle, ...(keyName === undefined ? {} : { keyName }) }),
  }
}

export function remoteMountSettings(calls: PkiCalls): Settings {
  const { replaceRoot, ...settings } = remote(mountSettings, calls)
  const { get: est, configure: changeEst } = remote(estConfig, calls)
  return {
    ...settings,
    est,
    changeEst,
    replaceRoot: (reference) => replaceRoot(reference === undefined ? {} : { default: reference }),
  }
}

export const remoteOcsp = (calls: PkiCalls): Ocsp => ({
  answer: async (body) => ({ der: await calls.exchange(ocsp.post.path, { mediaType: ocspRequestType, body }) }),
})

export function remoteRevocations(calls: PkiCalls): Revocations {
  const { revoke, revokeWithKey, ...lists } = remote(revocations, calls)
  return {
    ...lists,
    revoke: async (input) => named(await revoke(input), input),
    revokeWithKey: async (input) => named(await revokeWithKey(input), input),
  }
}

/** Adds the serial number, which the answer omits for an expired certificate. */
const named = (
  { serialNumber, ...revoked }: Awaited<ReturnType<Remote<typeof revocations>["revoke"]>>,
  input: RevokeInput,
): RevokedCertificate => ({ ...revoked, serialNumber: serialNumber ?? revocationTarget(input).serialNumber })

export const remoteCrls = (calls: PkiCalls): Crls => ({
  ...remote(crls, calls),
  async get(choice = {}) {
    const der = await calls.download(addressOf(choice))
    if (der.length === 0) return undefined
    const { number, thisUpdate, nextUpdate } = parseCertificateList(der)
    if (number === undefined || nextUpdate === undefined) throw unreadable("its revocation list has no number")
    return { der, number, thisUpdate, nextUpdate }
  },
})

function addressOf({ issuerRef, delta = false, shard }: CrlChoice): string {
  const base = issuerRef === undefined ? "/crl" : path`/issuer/${issuerRef}/crl`
  return `${base}${delta ? "/delta" : ""}${shard === undefined ? "" : `/shard/${formatShard(shard)}`}`
}

function remoteEnrolments(calls: PkiCalls): Enrolments {
  const { list, get, approve, deny } = remote(enrolments, calls)
  return {
    list: (query = {}) => list(query),
    get,
    approve: (id, input = {}) => approve(id, input),
    deny: (id, input = {}) => deny(id, input),
  }
}

export function remotePki(transport: Transport, mountPath: string): Pki {
  const calls = pkiCallsOver(transport, mountPath)
  return {
    issuers: remoteIssuers(calls),
    keys: remoteKeys(calls),
    settings: remoteMountSettings(calls),
    roles: remote(roles, calls),
    certificates: remoteCertificates(calls),
    revocations: remoteRevocations(calls),
    crls: remoteCrls(calls),
    ocsp: remoteOcsp(calls),
    externalPolicy: remoteExternalPolicy(calls),
    tidy: remote(tidy, calls),
    enrolments: remoteEnrolments(calls),
  }
}

export function remoteBlockedKeys(calls: PkiCalls): BlockedKeys {
  const { add, addByDigest, ...keys } = remote(blockedKeys, calls)
  return {
    ...keys,
    add: ({ spkiSha256: digest, ...input }) => (digest === undefined ? add(input) : addByDigest(digest, input)),
  }
}

/** Reads a mount after it is created, tuned or moved, because those answers are empty. The caller needs the right to read it. */
export function remoteMounts(calls: PkiCalls): Mounts {
  const { create, list, tune, delete: remove, move, moved, ...contract } = remote(mounts, calls)
  const get = async (text: string) => {
    const path = mountPathOf(text)
    return (await contract.get(path))(path)
  }
  return {
    async create({ path: text, ...input }) {
      const path = addressablePath(text, mountPathFaults)
      await create(path, { type: "pki", ...input })
      return get(path)
    },
    list,
    get,
    async tune(path, patch) {
      await tune(mountPathOf(path), patch)
      return get(path)
    },
    delete: (path) => remove(mountPathOf(path)),
    async move(from, to) {
      await move({ from, to })
      return get(to)
    },
    moved,
  }
}
