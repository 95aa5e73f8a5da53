// What states point at: `require("@chancery/pulumi/provider").v1.KIND`. A contract for ever: `destroy` and `refresh` come here
// with states that any earlier release wrote.
import { dynamicProvider, type DynamicProvider } from "./dynamic.ts"
import { createEngines } from "./engines.ts"
import { type KindName, lifecycles } from "./kinds.ts"
import { createSession, type Session } from "./session.ts"

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

const handler = (kind: KindName): DynamicProvider => dynamicProvider(kind, lifecycles[kind], session)

/** One per kind. They implement `pulumi.dynamic.ResourceProvider`. */
export const v1 = {
  workspace: handler("workspace"),
  workspaceTags: handler("workspaceTags"),
  tagBindings: handler("tagBindings"),
  tag: handler("tag"),
  remoteStateConsumers: handler("remoteStateConsumers"),
  sshKeyAssignment: handler("sshKeyAssignment"),
  workspaceLock: handler("workspaceLock"),
  dataRetentionPolicy: handler("dataRetentionPolicy"),
  project: handler("project"),
  pkiMount: handler("pkiMount"),
  pkiRole: handler("pkiRole"),
  pkiCertificate: handler("pkiCertificate"),
  pkiSignedCertificate: handler("pkiSignedCertificate"),
  pkiIntermediate: handler("pkiIntermediate"),
  pkiRevocation: handler("pkiRevocation"),
  pkiIssuer: handler("pkiIssuer"),
} satisfies Record<KindName, DynamicProvider>
