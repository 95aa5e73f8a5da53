// Enrolments stored as a protocol stores them, for tests of what administrators do with them.
import { noAccess } from "../src/core/access.ts"
import type { ServedEngine } from "../src/engine.ts"
import { type AwaitOptions, awaitDecision, type EnrolmentRequest } from "../src/pki/enrolments/await-decision.ts"
import { mountAccess, type MountAccess, type PkiContext } from "../src/pki/pki-context.ts"
import type { Repositories } from "../src/storage/repositories/repositories.ts"
import { readSigningRequest } from "../src/pki/issuance/issue-request.ts"
import { oids } from "../src/x509/asn1/oids.ts"
import { subjectAltName } from "../src/x509/extensions.ts"
import { certificateRequest } from "./certificate-requests.ts"

/** Every `ServedEngine` is an embedded engine. */
interface Embedded {
  readonly context: PkiContext<Repositories>
}

/** Returns the access of a protocol to a mount: the client has no token. */
export function protocolAccess(engine: ServedEngine, mountPath: string): MountAccess<Repositories> {
  const { context } = engine as unknown as Embedded
  return mountAccess(context, mountPath, { kind: "anonymous", acl: noAccess }, async () => {})
}

/** Creates the request of a device to `est/simpleenroll`, with a new key. */
export async function enrolmentRequest(change: Partial<EnrolmentRequest> = {}): Promise<EnrolmentRequest> {
  const { csr } = await certificateRequest({
    subject: [[{ type: oids.commonName, value: "printer.example" }]],
    extensions: [subjectAltName([{ kind: "dns", value: "Printer-7.example" }], { critical: false })],
  })
  return {
    protocol: "est",
    operation: "simpleenroll",
    path: "est/simpleenroll",
    policy: "sign-verbatim",
    requester: { accessor: "auth_userpass_1a2b3c4d", displayName: "userpass-printer-7" },
    csr: readSigningRequest(csr).request,
    ...change,
  }
}

/** Stores an enrolment that waits for its approval, and returns its id. */
export async function pendingEnrolment(
  engine: ServedEngine,
  mountPath: string,
  { request, ...options }: AwaitOptions & { readonly request?: EnrolmentRequest } = {},
): Promise<string> {
  const step = await awaitDecision(protocolAccess(engine, mountPath), request ?? (await enrolmentRequest()), options)
  if (step.kind !== "wait") throw new Error(`the request does not wait: ${step.kind}`)
  return step.id
}
