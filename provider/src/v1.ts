// The providers of all kinds in one process, and what they share. States name them: `require("@chancery/pulumi/provider").v1.KIND`.
// `destroy` and `refresh` call them with states of every earlier build, so neither name ever changes.
import { systemRuntime } from "@chancery/engine/declared/shared"
import { dynamicProvider, type DynamicProvider } from "./dynamic/dynamic.ts"
import { createEngines } from "./dynamic/engines.ts"
import type { KindName } from "./lifecycle/kinds.ts"
import type { Lifecycle } from "./lifecycle/lifecycle.ts"
import { createSession, type Session } from "./dynamic/session.ts"

const ending = new AbortController()
const engines = createEngines(ending.signal)
const shared = createSession(engines, ending.signal, process.env)

/** How long what is broken off has to be answered. Pulumi waits five seconds before it kills. */
const graceMs = 1_000

let isEndingKnown = false

/** Set where a process is Pulumi's own, and not in a program that only imports this. */
function endWhenAsked(): void {
  if (isEndingKnown) return
  isEndingKnown = true
  // Pulumi ends every process so, also after everything is done.
  const end = (): void => {
    const isBusy = shared.isBusy()
    ending.abort()
    if (!isBusy) process.exit(0)
    setTimeout(() => process.exit(130), graceMs)
  }
  process.once("SIGINT", end)
  process.once("SIGTERM", end)
}

const session: Session = {
  ...shared,
  configure(source) {
    endWhenAsked()
    shared.configure(source)
  },
}

const { clock } = systemRuntime()

/** A family of kinds is loaded when the first of them is needed: Pulumi waits for this process to start. */
function family<Name extends KindName>(
  load: () => Promise<Readonly<Record<Name, Lifecycle>>>,
): (kind: Name) => DynamicProvider {
  let loading: Promise<Readonly<Record<Name, Lifecycle>>> | undefined
  return (kind) => dynamicProvider(kind, async () => (await (loading ??= load()))[kind], session)
}

const ofWorkspaces = family(async () =>
  (await import("./lifecycle/workspace-lifecycles.ts")).workspaceLifecyclesBy(clock),
)
const ofCertificates = family(async () =>
  (await import("./lifecycle/certificate-lifecycles.ts")).certificateLifecyclesBy(clock),
)

/** One per kind. They implement `pulumi.dynamic.ResourceProvider`. */
export const v1 = {
  workspace: ofWorkspaces("workspace"),
  workspaceTags: ofWorkspaces("workspaceTags"),
  tagBindings: ofWorkspaces("tagBindings"),
  tag: ofWorkspaces("tag"),
  remoteStateConsumers: ofWorkspaces("remoteStateConsumers"),
  sshKeyAssignment: ofWorkspaces("sshKeyAssignment"),
  workspaceLock: ofWorkspaces("workspaceLock"),
  dataRetentionPolicy: ofWorkspaces("dataRetentionPolicy"),
  project: ofWorkspaces("project"),
  variable: ofWorkspaces("variable"),
  pkiMount: ofCertificates("pkiMount"),
  pkiRole: ofCertificates("pkiRole"),
  acmeConfig: ofCertificates("acmeConfig"),
  acmeEab: ofCertificates("acmeEab"),
  pkiCertificate: ofCertificates("pkiCertificate"),
  pkiSignedCertificate: ofCertificates("pkiSignedCertificate"),
  pkiIntermediate: ofCertificates("pkiIntermediate"),
  pkiRevocation: ofCertificates("pkiRevocation"),
  pkiIssuer: ofCertificates("pkiIssuer"),
} satisfies Record<KindName, DynamicProvider>
