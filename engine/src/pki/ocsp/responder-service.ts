// Makes and renews delegated responders, for requests and for the job that renews them in advance.
import { formatInstant, type Instant } from "../../core/time.ts"
import { issuerOf } from "../mounts/mount-snapshot.ts"
import { readMount, withMountSnapshot } from "../mounts/with-mount-snapshot.ts"
import type { MountAccess } from "../pki-context.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import { isAsSet, isDue, isNotYetValid, newResponder, openResponder, responderSecret } from "./delegated-responder.ts"
import type { DelegatedResponder } from "./cached-responders.ts"

export class ResponderService {
  readonly #access: MountAccess

  constructor(access: MountAccess) {
    this.#access = access
  }

  /** Returns the stored responder, which another server may have made, or a new one if `dueAt` is past its renewal time. */
  provide({ id }: ParsedIssuer, dueAt: Instant): Promise<DelegatedResponder> {
    return withMountSnapshot(this.#access, async (snapshot) => {
      const issuer = issuerOf(snapshot, id)
      const name = responderSecret(issuer)
      const { mount, settings } = snapshot
      const stored = await this.stored(issuer)
      const { clock, log } = this.#access.context.runtime
      const isEarly = stored !== undefined && isNotYetValid(stored, issuer, clock.now())
      if (stored !== undefined && !isEarly && !isDue(stored, issuer, dueAt) && isAsSet(stored, issuer, settings.crl))
        return { store: undefined, value: stored }
      if (isEarly)
        log.warn("ocsp-responder-not-yet-valid", {
          mount: mount.path,
          issuer: id,
          notBefore: formatInstant(stored.notBefore),
        })
      const { responder, record, secret } = await newResponder(
        this.#access.context,
        snapshot,
        issuer,
        this.#access.recordKeyUse,
      )
      return {
        store: async (_snapshot, { certificates, mountSettings }) => {
          await certificates.insert(record)
          await mountSettings.saveSecret(mount.id, name, secret)
        },
        value: responder,
      }
    })
  }

  async stored(issuer: ParsedIssuer): Promise<DelegatedResponder | undefined> {
    const secret = await readMount(this.#access, ({ mount }, { mountSettings }) =>
      mountSettings.secret(mount.id, responderSecret(issuer)),
    )
    return secret && openResponder(secret, this.#access.context.signingKeys)
  }

  /** Returns the responder as `provided`, and caches it in the memory of this server for requests. */
  renew(mountId: string, issuer: ParsedIssuer, dueAt: Instant): Promise<DelegatedResponder> {
    return this.#access.context.ocspResponders.renew(responderCacheKey(mountId, issuer), () =>
      this.provide(issuer, dueAt),
    )
  }
}

export const responderCacheKey = (mountId: string, issuer: ParsedIssuer): string =>
  `${mountId} ${responderSecret(issuer)}`
