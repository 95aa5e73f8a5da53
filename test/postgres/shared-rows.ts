// Writes that share a row, or a count, with writes of other objects by design, with the reason. For every other endpoint,
// `independent-writes.test.ts` expects that requests about different objects cause no retries.

const identity =
  "Servers cache callers under one version, which each change of tokens, memberships, teams or policies writes in its own " +
  "transaction, so that a revoked right counts on every server from the next request on."
const mounts =
  "Servers cache the table of mounts under one version: no mount may lie inside another, and each request must find the " +
  "mount that is there now."
const descriptions =
  "A description is unique among the tokens of its owner, which the transaction reads before it inserts one."
const counted =
  "The webhooks of an organization, and the renewal signals of a mount, are counted before one more is made."
const accounts =
  "An ACME account is changed together with its authorizations, which requests of its holder may read and add at the " +
  "same time."
const prefixes = "Leases below a prefix are found and revoked in the transaction that reads the prefix."
const poolUse = "No foreign key holds an agent pool that is a default, so its uses are counted before it is deleted."
const siteReason = "All requests of the test are about the one site."
const oneOrganization = "All requests of the test are about the one organization, or its default project."
const oneAccount = "All requests of the test are about the account of the caller."

const withReason = (reason: string, endpoints: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(endpoints.map((endpoint) => [endpoint, reason]))

/** Keyed by endpoint, as `METHOD path`; those of the certificate API begin with `/v1`. */
export const sharedRows: Readonly<Record<string, string>> = {
  ...withReason(identity, [
    "POST /organizations",
    "DELETE /organizations/:organization_name",
    "POST /organizations/:organization_name/organization-memberships",
    "DELETE /organization-memberships/:membership_id",
    "DELETE /admin/users/:user_id",
    "POST /admin/users/:user_id/actions/grant_admin",
    "POST /admin/users/:user_id/actions/revoke_admin",
    "POST /organizations/:organization_name/teams",
    "PATCH /teams/:team_id",
    "DELETE /teams/:team_id",
    "POST /teams/:team_id/relationships/users",
    "DELETE /teams/:team_id/relationships/users",
    "POST /teams/:team_id/relationships/organization-memberships",
    "DELETE /teams/:team_id/relationships/organization-memberships",
    "POST /organizations/:organization_name/authentication-token",
    "DELETE /organizations/:organization_name/authentication-token",
    "POST /teams/:team_id/authentication-token",
    "DELETE /teams/:team_id/authentication-token",
    "DELETE /authentication-tokens/:token_id",
    "/v1 POST /sys/policies/acl/:name",
    "/v1 DELETE /sys/policies/acl/:name",
    "/v1 POST /sys/policy/:name",
    "/v1 DELETE /sys/policy/:name",
    "/v1 POST /sys/policies/attachments/user/:username/:policy",
    "/v1 DELETE /sys/policies/attachments/user/:username/:policy",
    "/v1 POST /sys/policies/attachments/team/:organization/:team/:policy",
    "/v1 DELETE /sys/policies/attachments/team/:organization/:team/:policy",
    "/v1 POST /sys/policies/attachments/token/:id/:policy",
    "/v1 DELETE /sys/policies/attachments/token/:id/:policy",
    "/v1 POST /auth/token/revoke",
    "/v1 POST /auth/token/revoke-accessor",
    "/v1 POST /auth/token/revoke-self",
    "/v1 POST /auth/token/revoke-orphan",
    // Only a renewal that makes the expiry of a token earlier.
    "/v1 POST /auth/token/renew-self",
  ]),
  ...withReason(mounts, [
    "/v1 POST /sys/mounts/*path",
    "/v1 DELETE /sys/mounts/*path",
    "/v1 POST /sys/mounts/*path/tune",
    "/v1 POST /sys/remount",
    "/v1 POST /sys/auth/*path",
    "/v1 DELETE /sys/auth/*path",
    "/v1 POST /sys/auth/*path/tune",
    "/v1 POST /sys/mounts/auth/*path/tune",
  ]),
  ...withReason(descriptions, [
    "POST /teams/:team_id/authentication-tokens",
    "POST /agent-pools/:agent_pool_id/authentication-tokens",
  ]),
  ...withReason(counted, ["POST /organizations/:organization_name/webhooks", "/v1 POST /:mount/acme/mgmt/renewal"]),
  ...withReason(accounts, [
    "/v1 POST /:mount/acme/mgmt/account/keyid/:key_id",
    "/v1 DELETE /:mount/acme/mgmt/account/keyid/:key_id",
  ]),
  ...withReason(poolUse, ["DELETE /agent-pools/:agent_pool_id"]),
  ...withReason(prefixes, [
    "/v1 POST /sys/leases/revoke-prefix/*prefix",
    "/v1 POST /sys/revoke-prefix/*prefix",
    "/v1 POST /sys/leases/revoke-force/*prefix",
    "/v1 POST /sys/revoke-force/*prefix",
  ]),
  ...withReason(siteReason, [
    "PATCH /admin/general-settings",
    "POST /admin/data-retention-policy-settings",
    "PATCH /admin/data-retention-policy-settings",
    "DELETE /admin/data-retention-policy-settings",
  ]),
  ...withReason(oneOrganization, [
    "PATCH /organizations/:organization_name",
    "POST /organizations/:organization_name/relationships/data-retention-policy",
    "PATCH /organizations/:organization_name/relationships/data-retention-policy",
    "DELETE /organizations/:organization_name/relationships/data-retention-policy",
    "PATCH /projects/:project_id/tag-bindings",
    // Only when the time at which an executor was last seen there is older than half a minute.
    "POST /organizations/:organization_name/run-claims",
    "POST /workspaces/:workspace_id/run-claims",
  ]),
  ...withReason(oneAccount, ["PATCH /account/details", "PATCH /account/update"]),
}
