// TLS certificate that a server issues to itself, from a mount and role of its own database. It is issued at the start and renewed after
// two thirds of its lifetime. Every server has its own, whose key never leaves the process.
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
  /** Called after the first issuance and every renewal, with the root certificate (PEM) that clients need if the mount has it. */
  readonly onIssued?: (root: string | undefined) => Promise<void>
}

/**
 * Issues the certificate and schedules renewals. Throws a `CommandError` if the first issuance fails; failed renewals are logged and
 * retried.
 */
export async function issueManagedTls(
  engine: ServingEngine,
  wanted: ManagedTls,
  { runtime, timers, onIssued }: ManagedTlsOptions,
): Promise<ManagedCertificate> {
  const { clock, log } = runtime
  const first = await issueFirst(engine, wanted)
  await onIssued?.(first.root)
  const identity = new ReloadableIdentity(first.identity)
  let renewAt = renewalOf(first)
  let { notBefore, notAfter } = first
  let issuedAt = clock.now()
  let failures = 0
  let stopped = false
  let takeBack: (() => void) | undefined

  async function renew(): Promise<void> {
    try {
      const next = await issue(engine, wanted)
      identity.replace(next.identity)
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
    // Timers stop while the machine sleeps, but the clock does not. So the clock is checked again after at most `longestSleepMs`.
    const delayMs = Math.min(Math.max(0, renewAt - clock.now()), longestSleepMs)
    takeBack = timers.after(delayMs, () => {
      const now = clock.now()
      // The clock was ahead when the certificate was issued. A role may also set a notBefore in the future; a new certificate would have it
      // too.
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
    source: identity,
    [Symbol.dispose]() {
      stopped = true
      takeBack?.()
    },
  }
}

/** Also the longest time until a clock that was set back is noticed. */
const longestSleepMs = 5 * minuteMs
const longestPauseMs = hourMs

/** Doubles with each failure. */
const pauseAfter = (failures: number): number => Math.min(longestPauseMs, minuteMs * 2 ** Math.min(failures - 1, 10))

interface Issued {
  readonly identity: TlsIdentity
  readonly root: string | undefined
  readonly notBefore: Instant
  readonly notAfter: Instant
}

/** Leaves a third of the lifetime for retries. */
const renewalOf = ({ notBefore, notAfter }: Issued): Instant => notBefore + Math.floor(((notAfter - notBefore) * 2) / 3)

async function issueFirst(engine: ServingEngine, wanted: ManagedTls): Promise<Issued> {
  try {
    return await issue(engine, wanted)
  } catch (error) {
    if (!isEngineError(error)) throw error
    const code = exitCodeOf(error)
    throw new CommandError(
      code === exitCodes.failure ? exitCodes.configuration : code,
      `The server cannot issue itself a certificate from ${wanted.mount} under the role ${wanted.role} (${error.message.replace(/\.$/, "")}); check that both exist and allow ${wanted.hosts.join(", ")}.`,
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
  // Clients that trust the root have it already, so it is not sent.
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
