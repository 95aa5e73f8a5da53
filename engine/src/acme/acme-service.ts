// Use cases of one ACME directory.
import { isEngineError } from "../core/errors.ts"
import { newId, newOrderedId } from "../core/ids.ts"
import { dayMs, type Instant } from "../core/time.ts"
import type { MountSnapshot } from "../pki/mounts/mount-snapshot.ts"
import { readMount } from "../pki/mounts/with-mount-snapshot.ts"
import type { AcmeRepositories } from "./acme-context.ts"
import { refreshCrlsJob } from "../pki/crl/refresh-crls.ts"
import { assertKeyAllowed, assertRsaExponent } from "../pki/keys/key-check.ts"
import { recordRevocation } from "../pki/revocation/record-revocation.ts"
import type { PublicKey } from "../x509/public-key.ts"
import type { Certificate } from "../x509/certificate.ts"
import { isKeyOfJwk } from "../x509/jwk.ts"
import { weakKeyProblem } from "../x509/weak-rsa.ts"
import type { SerialNumber } from "../x509/serial-number.ts"
import {
  type AccountKey,
  type AccountSummary,
  type AcmeAccount,
  type AcmeAccountId,
  readContact,
} from "./accounts/account.ts"
import {
  type AccountSigner,
  type AccountView,
  accountView,
  type AcmeServer,
  type AuthorizationView,
  type CertificateChains,
  challengesShown,
  type ChallengeView,
  challengeView,
  type DirectoryView,
  type DirectoryAccess,
  type KeySigner,
  type NewAccount,
  type NewOrder,
  type OrderPage,
  type OrderView,
  orderView,
  type RenewalInfo,
  type Revocation,
} from "./acme.ts"
import {
  badCsrKey,
  eabPolicyOf,
  identifiersOf,
  isIssuedByKey,
  openDirectory,
  type ReadCsr,
  readCsr,
  readGiven,
} from "./directory.ts"
import {
  distinctIdentifiers,
  type Identifier,
  isWildcard,
  provedBy,
  type ProvedIdentifier,
} from "./orders/identifier.ts"
import { newNonce, readNonce } from "./nonces/nonce.ts"
import {
  type AcmeOrder,
  type AcmeOrderId,
  type Authorization,
  type AuthorizationId,
  authorizationStatusOf,
  caaHorizon,
  type Challenge,
  challengesFor,
  type ChallengeType,
  isCaaOld,
  validityMs,
} from "./orders/order.ts"
import { requiresCaaCheck, caaLeaseMs } from "./orders/caa-check.ts"
import { accountNotValid, AcmeProblem, malformed, nothingThere, unauthorized } from "./problem.ts"
import {
  rejectFailuresBeyond,
  rejectOrdersBeyond,
  registerAuthorizationWithin,
  registerWithin,
} from "./orders/rate-limits.ts"
import { readCertificateId, renewalWindow } from "./renewal/renewal-info.ts"

import { DirectoryService } from "./directory-service.ts"
import { turnOf } from "./due-queue.ts"
import { policyLeaseMs, roleLeaseMs } from "./orders/finalization-queue.ts"
import { type Approval, approveCsr, rejectOtherCsr } from "./orders/order-policy.ts"
import { validationLeaseMs } from "./validation/validation-queue.ts"
import { chainsFrom } from "./orders/certificate-chains.ts"

const orderLifetimeMs = dayMs
const pendingLifetimeMs = 7 * dayMs
const maxIdentifiers = 100
const ordersPerPage = 100
const tokenOctets = 32
/** Time that the response of a finalization waits for the signature. */
const finalizeTimeoutMs = 500
/** Time that the response of a challenge waits for the validation. */
const validateTimeoutMs = 250

export class AcmeService extends DirectoryService implements AcmeServer {
  async describe(): Promise<DirectoryView> {
    const snapshot = await this.served()
    const { profiles } = openDirectory(snapshot, this.directory)
    const { acme } = snapshot.settings
    return {
      base: this.baseOf(snapshot),
      externalAccountRequired: eabPolicyOf(acme, this.tools.rules) !== "not-required",
      termsOfService: acme.termsOfService,
      website: acme.website,
      caaIdentities: acme.caaIdentities,
      profiles: new Map(Array.from(profiles.keys(), (name) => [name, `Certificates of the role ${name}`])),
    }
  }

  async enter(): Promise<DirectoryAccess> {
    const snapshot = await this.entered()
    const scope = this.scopeOf(snapshot)
    const nonceAuthority = this.nonceAuthority(snapshot)
    const { random, clock } = this.access.context.runtime
    return {
      base: this.baseOf(snapshot),
      newNonce: () => newNonce(nonceAuthority, random, clock.now()),
      knownKeyOf: (id) => this.tools.accountKeys.of(scope, id),
    }
  }

  async spend(nonce: string): Promise<void> {
    const now = this.access.context.runtime.clock.now()
    const { digest, expiresAt } = readNonce(nonce, this.nonceAuthority(await this.entered()), now)
    await this.access.context.storage.transact(({ acmeNonces }) => acmeNonces.redeem(digest, expiresAt))
  }

  async keyOf(id: AcmeAccountId): Promise<AccountKey> {
    const { jwk, thumbprint } = await readMount(this.access, async (snapshot, repositories) =>
      this.accountIn(snapshot, repositories, id),
    )
    this.tools.accountKeys.keep(this.scopeOf(await this.entered()), id, { jwk, thumbprint })
    return { jwk, thumbprint }
  }

  async admit(signer: AccountSigner): Promise<void> {
    await this.asAccount(signer, async () => {})
  }

  async newAccount(signer: KeySigner, input: NewAccount) {
    const bindingKey = input.binding === undefined ? undefined : await this.bindingKey(input.binding.keyId)
    const isBound = bindingKey !== undefined && (await input.binding?.verify(bindingKey)) === true
    return this.once(signer.nonce, async (snapshot, repositories) => {
      const { acmeAccounts } = repositories
      const { mount, settings } = snapshot
      const known = await acmeAccounts.byThumbprint(mount.id, this.path, signer.thumbprint)
      if (known !== undefined) {
        if (known.status !== "valid") throw accountNotValid(known.status)
        return { account: accountView(known), created: false }
      }
      if (input.onlyReturnExisting) throw new AcmeProblem("accountDoesNotExist", "No account exists for this key.")
      assertStrongAccountKey(signer.key)
      await assertKeyAllowed(this.access.context, repositories, { key: signer.key, refuse: badAccountKey })
      const contact = readContact(input.contact)
      if (settings.acme.termsOfService !== "" && !input.termsOfServiceAgreed)
        throw new AcmeProblem(
          "userActionRequired",
          `"termsOfServiceAgreed" must be true; agree to the terms of service at ${settings.acme.termsOfService}.`,
        )
      if (input.binding === undefined && eabPolicyOf(settings.acme, this.tools.rules) !== "not-required")
        throw new AcmeProblem("externalAccountRequired", '"externalAccountBinding" is required.')
      if (input.binding !== undefined) {
        if (!isBound || !(await acmeAccounts.removeBinding(mount.id, input.binding.keyId)))
          throw unauthorized('"externalAccountBinding" is not an unused binding of this directory; request a new one.')
      }
      const now = this.access.context.runtime.clock.now()
      const id = newId("acct", this.access.context.runtime.random)
      await registerWithin(this.limitsOf(snapshot), repositories, {
        id,
        mountId: mount.id,
        address: input.address,
        now,
      })
      const account: AcmeAccount = {
        id,
        mountId: mount.id,
        directory: this.path,
        thumbprint: signer.thumbprint,
        jwk: signer.jwk,
        status: "valid",
        contact,
        termsOfServiceAgreed: input.termsOfServiceAgreed,
        externalAccountBinding: input.binding?.document ?? null,
        bindingId: input.binding?.keyId ?? null,
        createdAt: now,
        statusAt: now,
      }
      // Concurrent registrations of one key: the transaction of the second one runs again and finds the first account.
      if (!(await acmeAccounts.insert(account)))
        throw unauthorized("Another request created an account for this key; retry.")
      return { account: accountView(account), created: true }
    })
  }

  async changeAccount(
    signer: AccountSigner,
    id: AcmeAccountId,
    change: { readonly contact: unknown; readonly deactivate: boolean },
  ): Promise<AccountView> {
    return await this.asAccount(signer, async (snapshot, repositories, { id: signedBy }) => {
      const account = await this.accountIn(snapshot, repositories, signedBy)
      rejectOtherAccount(account, id)
      if (change.contact === undefined && !change.deactivate) return accountView(account)
      const status = change.deactivate ? ("deactivated" as const) : account.status
      const contact = change.contact === undefined ? account.contact : readContact(change.contact)
      const statusAt = change.deactivate ? this.access.context.runtime.clock.now() : account.statusAt
      await repositories.acmeAccounts.change(id, { status, statusAt, contact })
      if (change.deactivate) {
        // Pending orders and authorizations end with the account (RFC 8555, section 7.3.6).
        await repositories.acmeAuthorizations.deactivateAll(id)
        await repositories.acmeOrders.failAll(id, { type: "unauthorized", detail: "The account has been deactivated." })
      }
      return accountView({ ...account, status, contact })
    })
  }

  async changeKey(
    signer: AccountSigner,
    oldThumbprint: string,
    { key: presented, ...key }: Pick<KeySigner, "jwk" | "thumbprint" | "key">,
  ): Promise<AccountView> {
    const changed = await this.asAccount(signer, async (snapshot, repositories, { id: signedBy }) => {
      const { mount } = snapshot
      const { acmeAccounts } = repositories
      const account = await this.accountIn(snapshot, repositories, signedBy)
      if (oldThumbprint !== account.thumbprint) throw malformed(`"oldKey" is not the account's key.`)
      assertStrongAccountKey(presented)
      await assertKeyAllowed(this.access.context, repositories, { key: presented, refuse: badAccountKey })
      const other = await acmeAccounts.byThumbprint(mount.id, this.path, key.thumbprint)
      if (other !== undefined)
        throw new AcmeProblem("malformed", "The new key belongs to another account.", {
          status: 409,
          accountId: other.id,
        })
      if (!(await acmeAccounts.changeKey(account.id, key)))
        throw new AcmeProblem("malformed", "The new key belongs to another account.", { status: 409 })
      return accountView({ ...account, ...key })
    })
    this.tools.accountKeys.forget(changed.id)
    return changed
  }

  async orders(signer: AccountSigner, id: AcmeAccountId, before: AcmeOrderId | undefined): Promise<OrderPage> {
    return await this.asAccount(signer, async (_snapshot, { acmeOrders }, account) => {
      rejectOtherAccount(account, id)
      const now = this.access.context.runtime.clock.now()
      const page = { now, limit: ordersPerPage + 1, ...(before === undefined ? {} : { before }) }
      const found = await acmeOrders.ofAccount(id, page)
      const orders = found.slice(0, ordersPerPage)
      return { orders, next: found.length > ordersPerPage ? orders.at(-1) : undefined }
    })
  }

  async newOrder(signer: AccountSigner, input: NewOrder): Promise<OrderView> {
    const { identifiers } = input
    if (identifiers.length === 0) throw malformed('"identifiers" must not be empty.')
    if (identifiers.length > maxIdentifiers)
      throw malformed(`"identifiers" must not contain more than ${maxIdentifiers} identifiers.`)
    const distinct = distinctIdentifiers(identifiers)
    const view = await this.asAccount(signer, async (snapshot, repositories, account) => {
      const requested = { ...input, identifiers: distinct }
      this.rejectUnissuableOrder(snapshot, requested)
      const now = this.access.context.runtime.clock.now()
      const { replaces } = input
      if (replaces !== null) await this.#rejectReplacement(snapshot, repositories, account, distinct, replaces, now)
      const limits = this.limitsOf(snapshot)
      const proved = distinct.map(provedBy)
      // A renewal that follows renewal information is exempt from rate limits, once for each certificate.
      if (replaces === null || (await repositories.acmeOrders.wasToBeReplaced(snapshot.mount.id, replaces)))
        await rejectOrdersBeyond(limits, repositories, {
          mountId: account.mountId,
          accountId: account.id,
          identifiers: proved,
          now,
        })
      const authorizations: Authorization[] = []
      for (const identifier of proved)
        authorizations.push(
          (await this.#authorizationFor(snapshot, repositories, account, identifier, now)).authorization,
        )
      const order: AcmeOrder = {
        id: newOrderedId("order", this.access.context.runtime.random, now),
        mountId: snapshot.mount.id,
        accountId: account.id,
        state: "open",
        createdAt: now,
        expiresAt: Math.min(now + orderLifetimeMs, ...authorizations.map(({ expiresAt }) => expiresAt)),
        ...requested,
        csr: null,
        serialNumber: null,
        error: null,
      }
      await repositories.acmeOrders.insert(
        order,
        authorizations.map(({ id }) => id),
      )
      return orderView(order, authorizations, now)
    })
    this.tools.metrics.orders.add(1, { status: "made" })
    return view
  }

  async order(signer: AccountSigner, id: AcmeOrderId): Promise<OrderView> {
    return await this.asAccount(signer, async (_snapshot, repositories, account) => {
      const order = await orderOf(repositories, account, id)
      const authorizations = await repositories.acmeAuthorizations.ofOrder(id)
      return orderView(order, authorizations, this.access.context.runtime.clock.now())
    })
  }

  /** The order stays `processing` if the signature takes long, or if all places of the queue are in use. */
  async finalize(signer: AccountSigner, id: AcmeOrderId, csr: Uint8Array): Promise<OrderView> {
    const request = readOrRefusal(csr)
    const queue = this.tools.queues()?.finalizations
    using place = queue?.reserve()
    const { view, begun } = await this.asAccount(signer, async (snapshot, repositories, account) => {
      const order = await orderOf(repositories, account, id)
      const authorizations = await repositories.acmeAuthorizations.ofOrder(id)
      const now = this.access.context.runtime.clock.now()
      const shown = orderView(order, authorizations, now)
      // A client repeats the request if it lost the response.
      if (order.csr !== null && Buffer.compare(order.csr, csr) === 0) return { view: shown }
      if (shown.status !== "ready")
        throw new AcmeProblem("orderNotReady", `The order is ${shown.status}; only a ready order can be finalized.`)
      if (request instanceof AcmeProblem) throw request
      await assertKeyAllowed(this.access.context, repositories, { key: request.key, refuse: badCsrKey })
      const { jwk } = await this.accountIn(snapshot, repositories, account.id)
      if (isKeyOfJwk(jwk, request.key))
        throw new AcmeProblem("badCSR", "The CSR contains the account's key; use another key.")
      const asking =
        requiresCaaCheck(snapshot) && authorizations.some((one) => isCaaOld(one, now, snapshot.settings.caaHistory))
          ? caaLeaseMs
          : 0
      const { leaseMs, approval } = this.#finalizable(snapshot, order, request)
      const turn = turnOf(place, now, leaseMs + asking)
      if (!(await repositories.acmeOrders.beginFinalizing(id, csr, turn)))
        throw new AcmeProblem("orderNotReady", "The order has been finalized by another request.")
      const { directory } = account
      return {
        view: { ...shown, status: "processing" as const },
        begun: { ...order, state: "processing" as const, csr, attempts: turn.attempts, directory, request, approval },
      }
    })
    if (begun === undefined) return view
    if (place === undefined) queue?.kick()
    const outcome = place && (await queue?.within(finalizeTimeoutMs, place.start(begun)))
    return outcome === undefined ? view : { ...view, ...outcome }
  }

  /**
   * Returns the lease time of the signing attempt, and the approval if a role decides. Throws `badCSR` for a CSR that can never be
   * signed.
   */
  #finalizable(
    snapshot: MountSnapshot,
    order: AcmeOrder,
    { parsed, key }: ReadCsr,
  ): { readonly leaseMs: number; readonly approval?: Approval } {
    const { decider, terms } = this.issuing(snapshot, order.profile)
    if (decider.kind === "role") {
      const approved = approveCsr(order, { parsed, key }, terms(decider))
      return { leaseMs: roleLeaseMs, approval: { under: snapshot, approved } }
    }
    rejectOtherCsr(order.identifiers, parsed)
    assertRsaExponent({ key, refuse: badCsrKey })
    return { leaseMs: policyLeaseMs }
  }

  async chains(signer: AccountSigner, id: AcmeOrderId): Promise<CertificateChains> {
    return await this.asAccount(signer, async (snapshot, repositories, account) => {
      const { serialNumber } = await orderOf(repositories, account, id)
      const { mount, issuers } = snapshot
      const found = serialNumber === null ? undefined : await repositories.certificates.issued(mount.id, serialNumber)
      if (found === undefined) throw nothingThere("certificate")
      const issuer = issuers.find((one) => one.id === found.issuerId)
      return chainsFrom(issuer, issuers).map((chain) => [found.certificate, ...chain])
    })
  }

  async newAuthorization(signer: AccountSigner, identifier: Identifier) {
    if (isWildcard(identifier)) throw malformed("A wildcard cannot be authorized without an order; create an order.")
    return await this.asAccount(signer, async (snapshot, repositories, account) => {
      this.rejectUnissuableOrder(snapshot, {
        identifiers: [identifier],
        notBefore: null,
        notAfter: null,
        profile: null,
      })
      const now = this.access.context.runtime.clock.now()
      const { authorization, created } = await this.#authorizationFor(
        snapshot,
        repositories,
        account,
        provedBy(identifier),
        now,
        { isAhead: true },
      )
      return { authorization: await this.#authorizationView(repositories, authorization), created }
    })
  }

  async authorization(signer: AccountSigner, id: AuthorizationId): Promise<AuthorizationView> {
    return await this.asAccount(signer, async (_snapshot, repositories, account) =>
      this.#authorizationView(repositories, await authorizationOf(repositories, account, id)),
    )
  }

  async deactivateAuthorization(signer: AccountSigner, id: AuthorizationId): Promise<AuthorizationView> {
    const { view, endedCount } = await this.asAccount(signer, async (_snapshot, repositories, account) => {
      const authorization = await authorizationOf(repositories, account, id)
      const now = this.access.context.runtime.clock.now()
      const status = authorizationStatusOf(authorization, now)
      const isDeactivated = await repositories.acmeAuthorizations.deactivate(id)
      if (!isDeactivated && status !== "deactivated")
        throw malformed(`The authorization is ${status} and cannot be deactivated.`)
      return {
        view: await this.#authorizationView(repositories, { ...authorization, state: "deactivated" }),
        endedCount: isDeactivated ? await repositories.acmeOrders.endedWith(id, now) : 0,
      }
    })
    this.tools.metrics.orders.add(endedCount, { status: "invalid" })
    return view
  }

  async challenge(signer: AccountSigner, id: AuthorizationId, type: ChallengeType): Promise<ChallengeView> {
    return await this.asAccount(signer, async (_snapshot, repositories, account) => {
      const { challenge } = await challengeOf(repositories, account, id, type)
      return challengeView(challenge)
    })
  }

  async beginChallenge(signer: AccountSigner, id: AuthorizationId, type: ChallengeType): Promise<ChallengeView> {
    const now = this.access.context.runtime.clock.now()
    const queue = this.tools.queues()?.validations
    using place = queue?.reserve()
    const { view, begun } = await this.asAccount(signer, async (_snapshot, repositories, account) => {
      const { authorization, challenge } = await challengeOf(repositories, account, id, type)
      const status = authorizationStatusOf(authorization, now)
      // A challenge that is processing or done is returned unchanged (RFC 8555, section 7.5.1).
      if (challenge.status !== "pending") return { view: challengeView(challenge) }
      if (status !== "pending")
        throw malformed(`The authorization is ${status}; only a pending authorization can be validated.`)
      const turn = turnOf(place, now, validationLeaseMs)
      const processing = { ...challenge, status: "processing" as const, attempts: turn.attempts }
      const isBegun = await repositories.acmeAuthorizations.beginChallenge(id, type, turn)
      const { mountId, id: accountId, thumbprint, directory } = account
      const { identifier } = authorization
      return {
        view: challengeView(processing),
        begun: isBegun ? { ...processing, mountId, accountId, identifier, thumbprint, directory } : undefined,
      }
    })
    if (begun === undefined) return view
    if (place === undefined) queue?.kick()
    // Most challenges are validated within milliseconds, which saves the client a poll.
    const settled = place && (await queue?.within(validateTimeoutMs, place.start(begun)))
    return settled === undefined ? view : { ...view, ...settled }
  }

  async revoke(signer: AccountSigner | KeySigner, { certificate: der, reason }: Revocation): Promise<void> {
    const { parsed, serialNumber } = readGiven(der)
    const { autoRebuild, wasRevoked } = await this.once(signer.nonce, async (snapshot, repositories) => {
      const { mount, settings } = snapshot
      const record = await repositories.certificates.find(mount.id, serialNumber)
      const account = "accountId" in signer ? await this.signedFor(snapshot, repositories, signer) : undefined
      // The answer is the same for a missing certificate, so that it does not reveal which certificates exist.
      const refusal = unauthorized("The signer of the request may not revoke this certificate.")
      if (record === undefined || Buffer.compare(record.certificate, der) !== 0) throw refusal
      const now = this.access.context.runtime.clock.now()
      const may =
        account !== undefined
          ? await this.#mayRevoke(repositories, account, { certificate: parsed, serialNumber }, now)
          : "key" in signer && Buffer.compare(parsed.subjectPublicKeyInfo, signer.key.spki) === 0
      if (!may) throw refusal
      const known = await repositories.revocations.find(mount.id, serialNumber)
      try {
        // An expired certificate stays unrevoked, and the client gets no error. A certificate that is revoked already still blocks its
        // key if the reason is `keyCompromise` now.
        await recordRevocation(snapshot, repositories, { record, certificate: parsed, reason, now, isNew: false })
      } catch (error) {
        if (isEngineError(error, "unprocessable")) throw malformed(error.message)
        throw error
      }
      return { autoRebuild: settings.crl.autoRebuild, wasRevoked: known !== undefined }
    })
    if (wasRevoked) throw new AcmeProblem("alreadyRevoked", "The certificate is already revoked.")
    const { crlPublisher, wakeJob } = this.access.context
    if (!autoRebuild && crlPublisher.isRefreshDue()) wakeJob(refreshCrlsJob.name)
  }

  async renewalInfo(certificateId: string): Promise<RenewalInfo> {
    const { keyIdentifier, serialNumber } = readCertificateId(certificateId)
    const snapshot = await this.served()
    return readMount(this.access, async (_current, { certificates, revocations, acmeOrders, renewalSignals }) => {
      const record = await certificates.find(snapshot.mount.id, serialNumber)
      if (record === undefined || !isIssuedByKey(record.certificate, keyIdentifier)) throw nothingThere("certificate")
      const issuer = snapshot.issuers.find(({ id }) => id === record.issuerId)
      const revocation = await revocations.find(snapshot.mount.id, serialNumber)
      const order = await acmeOrders.ofCertificate(snapshot.mount.id, serialNumber)
      // A certificate that was ordered after the signal is a renewal already, even if its validity begins earlier.
      const signal = await renewalSignals.concerning(snapshot.mount.id, {
        serialNumber,
        issuerId: record.issuerId,
        orderedAt: order?.createdAt ?? record.notBefore,
      })
      const now = this.access.context.runtime.clock.now()
      const isDue = revocation !== undefined || (issuer !== undefined && issuer.revokedAt !== null)
      return renewalWindow(record, { serialNumber, now, isDue, signal })
    })
  }

  /**
   * Returns a valid authorization of the account, or creates one. An authorization is not reused if it expires too soon for an order. It
   * is not reused either if its CAA check is too old or precedes a change of `caa_identities`.
   */
  async #authorizationFor(
    snapshot: MountSnapshot,
    repositories: AcmeRepositories,
    account: AccountSummary,
    identifier: ProvedIdentifier,
    now: Instant,
    { isAhead = false }: { readonly isAhead?: boolean } = {},
  ) {
    const looksAtCaa = identifier.type === "dns" && requiresCaaCheck(snapshot)
    const beyond = looksAtCaa ? caaHorizon(now, snapshot.settings.caaHistory) + validityMs : now + orderLifetimeMs
    const known = await repositories.acmeAuthorizations.validFor(account.id, identifier, beyond)
    if (known !== undefined) return { authorization: known, created: false }
    const { random } = this.access.context.runtime
    const [id, mountId, accountId] = [newOrderedId("authz", random, now), account.mountId, account.id]
    const limits = this.limitsOf(snapshot)
    await rejectFailuresBeyond(limits, repositories, { accountId, identifier, now })
    if (isAhead) await registerAuthorizationWithin(limits, repositories, { id, mountId, accountId, now })
    const authorization: Authorization = {
      id,
      mountId,
      accountId,
      identifier,
      state: "pending",
      createdAt: now,
      expiresAt: now + pendingLifetimeMs,
    }
    const challenges = challengesFor(identifier).map((type): Challenge => ({
      authorizationId: authorization.id,
      type,
      token: Buffer.from(random.bytes(tokenOctets)).toString("base64url"),
      status: "pending",
      validatedAt: null,
      error: null,
      attempts: 0,
    }))
    await repositories.acmeAuthorizations.insert(authorization, challenges)
    return { authorization, created: true }
  }

  async #authorizationView(
    { acmeAuthorizations }: AcmeRepositories,
    authorization: Authorization,
  ): Promise<AuthorizationView> {
    const { id, identifier, expiresAt } = authorization
    const challenges = await acmeAuthorizations.challenges(id)
    const status = authorizationStatusOf(authorization, this.access.context.runtime.clock.now())
    return { id, status, expiresAt, identifier, challenges: challengesShown(challenges, status).map(challengeView) }
  }

  /** Checks the `replaces` member of a new order (RFC 9773, section 5). */
  async #rejectReplacement(
    { mount }: MountSnapshot,
    repositories: AcmeRepositories,
    account: AccountSummary,
    identifiers: readonly Identifier[],
    replaces: string,
    now: Instant,
  ): Promise<void> {
    const { keyIdentifier, serialNumber } = readCertificateId(replaces)
    const record = await repositories.certificates.find(mount.id, serialNumber)
    const isNamed = record !== undefined && isIssuedByKey(record.certificate, keyIdentifier)
    if (!isNamed || (await repositories.acmeOrders.accountOfCertificate(mount.id, serialNumber)) !== account.id)
      throw unauthorized(`"replaces" must name a certificate that this account ordered.`)
    if (!identifiers.some(({ value }) => record.names.includes(value)))
      throw malformed(`"replaces" must name a certificate with at least one identifier of the order.`)
    if ((await repositories.acmeOrders.replacementOf(mount.id, replaces, now)) !== undefined)
      throw new AcmeProblem("alreadyReplaced", '"replaces" names a certificate that another order already replaces.')
  }

  /**
   * RFC 8555, section 7.6: the account that ordered a certificate may revoke it, and so may every account that holds authorizations for
   * all of its identifiers, regardless of who ordered or issued it.
   */
  async #mayRevoke(
    { acmeOrders, acmeAuthorizations }: AcmeRepositories,
    account: AccountSummary,
    { certificate, serialNumber }: { readonly certificate: Certificate; readonly serialNumber: SerialNumber },
    now: Instant,
  ): Promise<boolean> {
    if ((await acmeOrders.accountOfCertificate(account.mountId, serialNumber)) === account.id) return true
    const identifiers = identifiersOf(certificate)
    if (identifiers === undefined) return false
    for (const identifier of identifiers)
      if ((await acmeAuthorizations.validFor(account.id, provedBy(identifier), now)) === undefined) return false
    return true
  }
}

function assertStrongAccountKey(key: PublicKey): void {
  const problem = weakKeyProblem(key)
  if (problem !== undefined) throw badAccountKey(problem)
}

const badAccountKey = (problem: string) => new AcmeProblem("badPublicKey", `The account key is rejected: ${problem}.`)

function rejectOtherAccount(account: AccountSummary, id: AcmeAccountId): void {
  if (account.id !== id) throw unauthorized("The request is signed by another account.")
}

/** Returns the problem instead of throwing it, because it matters only if the order can be finalized. */
function readOrRefusal(csr: Uint8Array): ReadCsr | AcmeProblem {
  try {
    return readCsr(csr)
  } catch (error) {
    if (error instanceof AcmeProblem) return error
    throw error
  }
}

async function orderOf({ acmeOrders }: AcmeRepositories, account: AccountSummary, id: AcmeOrderId): Promise<AcmeOrder> {
  const order = await acmeOrders.find(account.mountId, account.id, id)
  if (order === undefined) throw nothingThere("order")
  return order
}

async function authorizationOf(
  { acmeAuthorizations }: AcmeRepositories,
  account: AccountSummary,
  id: AuthorizationId,
): Promise<Authorization> {
  const authorization = await acmeAuthorizations.find(account.mountId, account.id, id)
  if (authorization === undefined) throw nothingThere("authorization")
  return authorization
}

async function challengeOf(
  repositories: AcmeRepositories,
  account: AccountSummary,
  id: AuthorizationId,
  type: ChallengeType,
) {
  const authorization = await authorizationOf(repositories, account, id)
  const challenge = (await repositories.acmeAuthorizations.challenges(id)).find((one) => one.type === type)
  if (challenge === undefined) throw nothingThere("challenge")
  return { authorization, challenge }
}
