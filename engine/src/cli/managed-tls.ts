// The certificate of a server that issues it to itself: from a mount and role of its own store at the start, and again when
// two thirds of its life are over. Every server has one of its own, and its key never leaves the process.
import { isIP } from "node:net"
import { isEngineError } from "../core/errors.ts"
import type { Runtime } from "../core/runtime.ts"
import { formatInstant, hourMs, type Instant, isAhead, minuteMs } from "../core/time.ts"
import type { Timers } from "../core/timers.ts"
import type { ServingEngine } from "../engine.ts"
import { ReloadableIdentity, type SecureContextSource, type TlsIdentity } from "../server/server.ts"
import { parseCertificate } from "../x509/certificate.ts"
import { sameName } from "../x509/name.ts"
import { writePem } from "../x509/pem.ts"
import { CommandError, exitCodeOf, exitCodes } from "./exit-code.ts"
import type { ManagedTls } from "./managed-tls-setting.ts"

export interface ManagedCertificate extends Disposable {
  readonly source: SecureContextSource
}

export interface ManagedTlsOptions {
  readonly runtime: Pick<Runtime, "clock" | "log">
  readonly timers: Timers
  /** With the root that clients need, PEM, where the mount has it; at the start and after every renewal. */
  readonly onIssued?: (root: string | undefined) => Promise<void>
}

/** Throws a `CommandError` where the first one is not issued; of a later one the log tells, and it is tried again. */
export async function issueManagedTls(
  engine: ServingEngine,
  wanted: ManagedTls,
  { runtime, timers, onIssued }: ManagedTlsOptions,
): Promise<ManagedCertificate> {
  const { clock, log } = runtime
  const first = await issueFirst(engine, wanted)
  await onIssued?.(first.root)
  const held = new ReloadableIdentity(first.identity)
  let renewAt = renewalOf(first)
  let { notBefore, notAfter } = first
  let issuedAt = clock.now()
  let failures = 0
  let stopped = false
  let takeBack: (() => void) | undefined

  async function renew(): Promise<void> {
    try {
      const next = await issue(engine, wanted)
      held.replace(next.identity)
      renewAt = renewalOf(next)
      ;({ notBefore, notAfter } = next)
      issuedAt = clock.now()
      failures = 0
      await onIssued?.(next.root)
      log.info("tls certificate renewed", { mount: wanted.mount, role: wanted.role, notAfter: formatInstant(notAfter) })
    } catch (error) {
      failures += 1
      renewAt = clock.now() + pauseAfter(failures)
      log.error("tls certificate not renewed", {
        mount: wanted.mount,
        role: wanted.role,
        notAfter: formatInstant(notAfter),
        error,
      })
    }
  }

  function schedule(): void {
    if (stopped) return
    // A timer sleeps with its machine and the clock does not, so it is asked again every hour.
    const delayMs = Math.min(Math.max(0, renewAt - clock.now()), longestSleepMs)
    takeBack = timers.after(delayMs, () => {
      const now = clock.now()
      // The clock was ahead when it was issued. A role may also fix a notBefore that is to come, which another one would have too.
      const isEarly = notBefore > now && isAhead(issuedAt, now)
      if (isEarly)
        log.warn("tls certificate not yet valid", {
          mount: wanted.mount,
          role: wanted.role,
          notBefore: formatInstant(notBefore),
        })
      if (now < renewAt && !isEarly) schedule()
      else void renew().then(schedule)
    })
  }

  schedule()
  return {
    source: held,
    [Symbol.dispose]() {
      stopped = true
      takeBack?.()
    },
  }
}

/** A clock that was set back is noticed after so long, too. */
const longestSleepMs = 5 * minuteMs
const longestPauseMs = hourMs

/** Twice as long each time. */
const pauseAfter = (failures: number): number => Math.min(longestPauseMs, minuteMs * 2 ** Math.min(failures - 1, 10))

interface Issued {
  readonly identity: TlsIdentity
  readonly root: string | undefined
  readonly notBefore: Instant
  readonly notAfter: Instant
}

/** Leaves a third of its life for what may be wrong. */
const renewalOf = ({ notBefore, notAfter }: Issued): Instant => notBefore + Math.floor(((notAfter - notBefore) * 2) / 3)

async function issueFirst(engine: ServingEngine, wanted: ManagedTls): Promise<Issued> {
  try {
    return await issue(engine, wanted)
  } catch (error) {
    if (!isEngineError(error)) throw error
    const code = exitCodeOf(error)
    throw new CommandError(
      code === exitCodes.failure ? exitCodes.configuration : code,
      `The server cannot issue itself a certificate from ${wanted.mount} under the role ${wanted.role} (${error.message.replace(/\.$/, "")}); see that both are there and allow ${wanted.hosts.join(", ")}.`,
      { cause: error },
    )
  }
}

async function issue(engine: ServingEngine, { mount, role, hosts }: ManagedTls): Promise<Issued> {
  const [commonName, ...altNames] = hosts.filter((host) => isIP(host) === 0)
  const input = {
    ...(commonName === undefined ? {} : { commonName }),
    altNames,
    ipSans: hosts.filter((host) => isIP(host) !== 0),
  }
  const issued = await engine.pki(mount).certificates.issue(role, input)
  const { certificate, caChain, privateKey, notBefore, notAfter } = issued
  if (privateKey === undefined) throw new TypeError("a certificate was issued without its key")
  // Whoever trusts the root has it, and needs it from nobody.
  const shown = [certificate, ...caChain.filter((der) => !isRoot(der))]
  const root = caChain.find(isRoot)
  return {
    identity: { certificate: shown.map(pemOf).join(""), privateKey: privateKey.pem("pkcs8") },
    root: root && pemOf(root),
    notBefore,
    notAfter,
  }
}

const pemOf = (der: Uint8Array): string => `${writePem("CERTIFICATE", der)}\n`

function isRoot(der: Uint8Array): boolean {
  const { issuer, subject } = parseCertificate(der)
  return sameName(issuer, subject)
}
