// Providers of all kinds in one process. States reference them as `require("@chancery/pulumi/provider").v1.KIND`. `destroy` and `refresh`
// call them with states of every earlier build, so these names never change.
import { systemRuntime } from "@chancery/engine/declared/shared"
import { dynamicProvider, type DynamicProvider } from "./dynamic/dynamic.ts"
import { createEngines } from "./dynamic/engines.ts"
import type { KindName } from "./lifecycle/kind-name.ts"
import type { Lifecycle } from "./lifecycle/lifecycle.ts"
import { createSession, type Session } from "./dynamic/session.ts"

const ending = new AbortController()
const engines = createEngines(ending.signal)
const shared = createSession(engines, ending.signal, process.env)

/** Time for cancelled operations to answer. Pulumi kills the process after five seconds. */
const graceMs = 1_000

let isEndingKnown = false

/** Installs signal handlers. Called only in Pulumi's own process, not in a program that imports this module. */
function endWhenAsked(): void {
  if (isEndingKnown) return
  isEndingKnown = true
  // Pulumi ends every process with a signal, even after all work is done.
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

/** Loads the lifecycles of a family when the first one is needed, because Pulumi waits for this process to start. */
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

/** Providers by kind; each implements `pulumi.dynamic.ResourceProvider`. */
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
  estConfig: ofCertificates("estConfig"),
  pkiCertificate: ofCertificates("pkiCertificate"),
  pkiSignedCertificate: ofCertificates("pkiSignedCertificate"),
  pkiIntermediate: ofCertificates("pkiIntermediate"),
  pkiRevocation: ofCertificates("pkiRevocation"),
  pkiIssuer: ofCertificates("pkiIssuer"),
  authMethod: ofCertificates("authMethod"),
  userpassUser: ofCertificates("userpassUser"),
  certificateAuthRole: ofCertificates("certificateAuthRole"),
} satisfies Record<KindName, DynamicProvider>
