// All resources of `/v1`, from which OpenAPI and the reference are made. ACME is below the mounts.
import {
  appRoleLogins,
  appRolePartContracts,
  appRoles,
  roleIds,
  secretIds,
  secretIdsByAccessor,
  secretIdsBySecret,
} from "./app-role.ts"
import { authMethods } from "./auth-method.ts"
import { accountBindings, newAccountBindings } from "./account-binding.ts"
import { acmeAccounts, acmeOrders, renewalSignals } from "./acme-management.ts"
import { certificates } from "./certificate.ts"
import { crlFileEndpoints, crls } from "./crl.ts"
import { enrolments } from "./enrolment.ts"
import { est, estConfig } from "./est.ts"
import { externalPolicy, policyIssue, policySign, policySignIntermediate } from "./external-policy.ts"
import { blockedKeys } from "./blocked-key.ts"
import { health } from "./health.ts"
import { issuers } from "./issuer.ts"
import { certificateLogins } from "./certificate-login.ts"
import { kubernetesLogins } from "./kubernetes-login.ts"
import { lockedUsers } from "./locked-user.ts"
import { leasePrefixRevocations, leaseRenewals, leaseRevocations, leases } from "./lease.ts"
import { mounts } from "./mount.ts"
import { mountSettings } from "./mount-settings.ts"
import { olderPolicies, policies, teamPolicies, tokenPolicies, userPolicies } from "./policy.ts"
import { ownToken, serviceTokens, tokensByAccessor, tokensBySecret } from "./service-token.ts"
import { keys } from "./key.ts"
import { ocsp } from "./ocsp.ts"
import { revocations } from "./revocation.ts"
import { tokenRoles } from "./token-role.ts"
import { role, roles } from "./role.ts"
import { userpassLogins, userpassUsers } from "./userpass.ts"
import { certificateInventory, storedCertificates } from "./stored-certificate.ts"
import { tidy } from "./tidy.ts"
import { camelCased } from "./format/dialect.ts"
import type { AnswerRecord, Contract } from "./endpoint.ts"

/** Base of the paths of a contract: `/v1`, a mount, or an auth method of a type. */
export type Above = "root" | "mount" | "approle" | "cert" | "kubernetes" | "userpass"

/** Page of docs/reference. Keys of `contracts` are tags and prefixes of operation ids in OpenAPI. */
export interface Resource {
  readonly title: string
  readonly below: Above
  /** Markdown. */
  readonly introduction: string
  readonly contracts: Readonly<Record<string, Contract>>
  /** Parameters of requests that are members of answers as well. */
  readonly record?: AnswerRecord
}

/** Members of AppRole roles with paths of their own. */
const appRoleParts = Object.fromEntries(
  Object.entries(appRolePartContracts).map(([part, contract]) => [
    camelCased(`app_role_${part.replaceAll("-", "_")}`),
    contract,
  ]),
)

const leaseContracts = {
  leases,
  leaseRenewals: leaseRenewals("sys/leases/renew"),
  olderLeaseRenewals: leaseRenewals("sys/renew"),
  leaseRevocations: leaseRevocations("sys/leases/revoke"),
  olderLeaseRevocations: leaseRevocations("sys/revoke"),
  leasePrefixRevocations: leasePrefixRevocations("sys/leases/revoke-prefix"),
  olderLeasePrefixRevocations: leasePrefixRevocations("sys/revoke-prefix"),
  forcedLeaseRevocations: leasePrefixRevocations("sys/leases/revoke-force"),
  olderForcedLeaseRevocations: leasePrefixRevocations("sys/revoke-force"),
}

/** Resources by the name of their page. */
export const vaultResources: Readonly<Record<string, Resource>> = {
  "acme-management": {
    title: "ACME management",
    below: "mount",
    introduction: `External account bindings, accounts, orders and renewal signals of ACME, for administrators. ACME itself is explained in
[acme.md](../acme.md).`,
    contracts: { accountBindings, newAccountBindings, acmeAccounts, acmeOrders, renewalSignals },
  },
  approle: {
    title: "AppRole",
    below: "approle",
    introduction: `Programs log in with a role id and a secret id. See [logins.md](../logins.md). Members with an address of their own can be allowed alone
by policies.`,
    contracts: {
      appRoles,
      roleIds,
      secretIds,
      secretIdsBySecret,
      secretIdsByAccessor,
      appRole: appRoleLogins,
      ...appRoleParts,
    },
  },
  "auth-methods": {
    title: "Auth methods",
    below: "root",
    introduction: `An auth method is one way to log in, at a path below \`auth/\`. See [logins.md](../logins.md).`,
    contracts: { authMethods },
  },
  "blocked-keys": {
    title: "Blocked keys",
    below: "root",
    introduction: `No mount certifies, imports, or accepts for an ACME account a key that is blocked. A revocation with reason keyCompromise blocks
the key of its certificate.`,
    contracts: { blockedKeys },
  },
  "certificate-inventory": {
    title: "Certificate inventory",
    below: "root",
    introduction: `A search across mounts. With \`format=csv\` the answer is CSV (RFC 4180).`,
    contracts: { certificateInventory },
  },
  "certificate-logins": {
    title: "Certificate logins",
    below: "cert",
    introduction: `Clients log in with a TLS certificate. See [logins.md](../logins.md).`,
    contracts: { certificateLogins },
  },
  certificates: {
    title: "Certificates",
    below: "mount",
    introduction: `Endpoints that issue and sign. \`name\` is a role, \`issuer_ref\` an id, a name, or \`default\`: the issuer that signs in
place of the one of the role or the mount. Policies, periods of validity and dialects are explained in
[authorities.md](../authorities.md) and [dialects.md](../dialects.md).`,
    contracts: { certificates },
  },
  crls: {
    title: "CRLs",
    below: "mount",
    introduction: `Certificate revocation lists (RFC 5280) are public. Addresses of issuers answer DER, and JSON to Vault's clients. They have an
ETag, and 304 for a client that has the list.`,
    contracts: { crls, crlFiles: crlFileEndpoints },
  },
  enrolments: {
    title: "Enrolments",
    below: "mount",
    introduction: `Enrolment requests that wait for a decision. See [enrolments.md](../enrolments.md).`,
    contracts: { enrolments },
  },
  "external-policy": {
    title: "External policy",
    below: "mount",
    introduction: `A service outside decides what is issued. Parameters that are not listed here go on to it as they are.
What it is sent and how it answers is explained in [authorities.md](../authorities.md).`,
    contracts: { externalPolicy, policyIssue, policySign, policySignIntermediate },
  },
  est: {
    title: "EST",
    below: "mount",
    introduction: `Enrollment over Secure Transport (RFC 7030), for devices. Clients reach the operations below \`/.well-known/est\` too. They
authenticate by a password or by a client certificate instead of a token. See [est.md](../est.md).`,
    contracts: {
      estConfig,
      est: est.default,
      roleEst: est.role,
      policyServiceEst: est.policyService,
      policyEst: est.policy,
    },
  },
  health: {
    title: "Health",
    below: "root",
    introduction: `Answers are documents without an envelope, as Vault clients and load balancers expect.`,
    contracts: { server: health },
  },
  issuers: {
    title: "Issuers",
    below: "mount",
    introduction: `Issuers are the authorities of a mount. How to make them and rotate them is explained in [authorities.md](../authorities.md).
\`issuer_ref\` is an id, a name, or \`default\`. \`POST /issuer/:issuer_ref\` replaces the settings: parameters that it leaves out get their
defaults. \`PATCH\` keeps them.`,
    contracts: { issuers },
  },
  keys: {
    title: "Keys",
    below: "mount",
    introduction: `Keys sign for the issuers of a mount. \`key_ref\` is an id, a name, or \`default\`, the key of the default issuer.`,
    contracts: { keys },
  },
  "kubernetes-logins": {
    title: "Kubernetes logins",
    below: "kubernetes",
    introduction: `Pods log in with the token of their service account. See [logins.md](../logins.md).`,
    contracts: { kubernetes: kubernetesLogins },
  },
  leases: {
    title: "Leases",
    below: "root",
    introduction: `A lease ends with its certificate, or with the token that requested it, which revokes the certificate.`,
    contracts: { ...leaseContracts },
  },
  "locked-users": {
    title: "Locked users",
    below: "root",
    introduction: `Users of userpass methods who are locked after failed logins. See [logins.md](../logins.md#lockout-of-users).`,
    contracts: { lockedUsers },
  },
  "mount-settings": {
    title: "Settings of a mount",
    below: "mount",
    introduction: `Settings are of one mount. Those of ACME are explained in [acme.md](../acme.md), the others in [authorities.md](../authorities.md).`,
    contracts: { mountSettings },
  },
  mounts: {
    title: "Mounts",
    below: "root",
    introduction: `A mount is one certificate authority at a path of its own, which may have several segments. Its settings below the mount are on a
page of their own.`,
    contracts: { mounts },
  },
  ocsp: {
    title: "OCSP",
    below: "mount",
    introduction: `The OCSP responder of a mount (RFC 6960). The status is 200 whatever the response says. Answers to GET have an ETag and
\`Cache-Control\` (RFC 5019, section 6.2).`,
    contracts: { ocsp },
  },
  policies: {
    title: "Policies",
    below: "root",
    introduction: `Policies say what their holders may do below \`/v1\`. How they are written is explained in [permissions.md](../permissions.md).`,
    contracts: { policies, olderPolicies, userPolicies, teamPolicies, tokenPolicies },
  },
  revocation: {
    title: "Revocation",
    below: "mount",
    introduction: `Revocation is final. How it becomes known is explained in [authorities.md](../authorities.md).`,
    contracts: { revocations },
  },
  roles: {
    title: "Roles",
    below: "mount",
    introduction: `\`POST /v1/<mount>/roles/<name>\` replaces a role: parameters that it leaves out get their defaults. \`PATCH\` keeps them. \`GET\` with
\`?help=1\` (\`vault path-help <mount>/roles/<name>\`) lists the same parameters. Names, periods of validity and dialects are explained
in [authorities.md](../authorities.md) and [dialects.md](../dialects.md).`,
    contracts: { roles },
    record: role,
  },
  "service-tokens": {
    title: "Service tokens",
    below: "root",
    introduction: `Service tokens are for machines. Answers that create or renew one have it in \`auth\`, as Vault clients expect; in the native dialect
\`data\` has its record besides.`,
    contracts: { serviceTokens, tokensBySecret, tokensByAccessor, ownToken },
  },
  "stored-certificates": {
    title: "Stored certificates",
    below: "mount",
    introduction: `Certificates are public; lists of them and their metadata are not. \`serial\` is a serial number in hexadecimal, with colons or
hyphens. Answers about the default issuer have an ETag, and 304 for a client that has them.`,
    contracts: { storedCertificates },
  },
  tidy: {
    title: "Tidy",
    below: "mount",
    introduction: `Tidying deletes what has expired, in pages, beside the work of the server. [operations.md](../operations.md) explains it.`,
    contracts: { tidy },
  },
  "token-roles": {
    title: "Token roles",
    below: "root",
    introduction: `A token role creates service tokens with policies that its users need not hold. Answers have the members that have an older name
under that name as well.`,
    contracts: { tokenRoles },
  },
  "userpass-logins": {
    title: "Userpass logins",
    below: "userpass",
    introduction: `People and devices log in with a name and a password. See [logins.md](../logins.md#userpass).`,
    contracts: { userpassUsers, userpass: userpassLogins },
  },
}
