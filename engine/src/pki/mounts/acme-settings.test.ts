import { describe, expect, test } from "vitest"
import { initialMountConfig } from "./mount.ts"
import { roleDefaults } from "../roles/role.ts"
import {
  acmeMaxTtlMs,
  acmeObstacle,
  acmeSettingsFaults,
  type AcmeSettings,
  asksOwnersAnew,
  defaultAcmeSettings,
  parseDirectoryPolicy,
  parseResolver,
  rateLimitsFor,
} from "./acme-settings.ts"
import { dayMs, hourMs } from "../../core/time.ts"

const headers = ["Location", "Replay-Nonce", "Link"]
const mount = { path: "pki", config: { ...initialMountConfig, allowedResponseHeaders: headers } }
const context = {
  mount,
  clusterPath: "https://ca.example/v1/pki",
  roles: new Map([
    ["web", roleDefaults],
    ["unstored", { ...roleDefaults, noStore: true }],
  ]),
  hasIssuer: (reference: string) => reference === "root",
}

describe("authorizations are discarded when the CAA identities", () => {
  test.each<readonly [string, readonly string[], readonly string[], boolean]>([
    ["are set", [], ["a.example"], true],
    ["change", ["a.example"], ["b.example"], true],
    ["lose an entry", ["a.example", "b.example"], ["b.example"], true],
    ["gain an entry", ["a.example"], ["b.example", "a.example"], false],
    ["stay", ["a.example", "b.example"], ["b.example", "a.example"], false],
    ["are removed", ["a.example"], [], false],
    ["stay empty", [], [], false],
  ])("%s", (_how, before, after, isAnew) => {
    expect(asksOwnersAnew(before, after)).toBe(isAnew)
  })
})

describe("settings of ACME", () => {
  test.each<readonly [string, Partial<AcmeSettings>, readonly string[]]>([
    ["with the defaults", {}, []],
    ["[P-3-r1] enabled on a mount that is ready", { enabled: true }, []],
    ["[P-2.4-r2] with existing issuers", { allowedIssuers: ["root"] }, []],
    ["[P-2.4-r2] with unknown issuers", { allowedIssuers: ["root", "absent"] }, ["allowedIssuers"]],
    ["without any issuer", { allowedIssuers: [] }, ["allowedIssuers"]],
    ["with all issuers and one", { allowedIssuers: ["*", "root"] }, ["allowedIssuers"]],
    ["[P-2.4-r3] with existing roles", { allowedRoles: ["web"] }, []],
    ["[P-2.4-r3] with unknown roles", { allowedRoles: ["absent"] }, ["allowedRoles"]],
    [
      "[P-2.4-r3] with a default policy whose role is allowed",
      { allowedRoles: ["web"], defaultDirectoryPolicy: "role:web" },
      [],
    ],
    [
      "[P-2.4-r3] with a default policy whose role is not allowed",
      { allowedRoles: ["unstored"], defaultDirectoryPolicy: "role:web" },
      ["defaultDirectoryPolicy"],
    ],
    [
      "[P-4.1-n1] with a default policy whose role has no_store",
      { defaultDirectoryPolicy: "role:unstored" },
      ["defaultDirectoryPolicy"],
    ],
    [
      "with a default policy with an unknown role",
      { defaultDirectoryPolicy: "role:absent" },
      ["defaultDirectoryPolicy"],
    ],
    ["with an unknown default policy", { defaultDirectoryPolicy: "anything" }, ["defaultDirectoryPolicy"]],
    ["[P-2.4-r6] with a resolver", { dnsResolver: "10.0.0.53:5353" }, []],
    ["[P-2.4-r6] with a resolver that is not an address", { dnsResolver: "dns.example" }, ["dnsResolver"]],
    ["with a negative max_ttl", { maxTtlMs: -1 }, ["maxTtlMs"]],
    ["with ranges", { challengePermittedIpRanges: ["10.0.0.0/8", "fd00::/8"] }, []],
    ["with an invalid range", { challengePermittedIpRanges: ["10.0.0.0/33"] }, ["challengePermittedIpRanges"]],
    ["[F-W8] with excluded ranges", { challengeExcludedIpRanges: ["192.0.2.0/24"] }, []],
    ["[F-W8] with no excluded range", { challengeExcludedIpRanges: ["192.0.2.0"] }, ["challengeExcludedIpRanges"]],
    ["with limits", { ordersPerAccount: 1, ordersPerName: 0, accountsPerAddress: 1_000_000 }, []],
    [
      "with an invalid limit",
      { ordersPerAccount: -1, ordersPerName: 1_000_001, failedValidations: -1 },
      ["ordersPerAccount", "ordersPerName", "failedValidations"],
    ],
    [
      "with limits of directories",
      {
        directoryLimits: [
          "acme failed_validations=0",
          "issuer/*/roles/web/acme orders_per_account=1 orders_per_name=1000000",
        ],
      },
      [],
    ],
    ...[
      "roles/web/acme",
      "roles/web orders_per_account=1",
      "/roles/web/acme orders_per_account=1",
      "roles//acme orders_per_account=1",
      "roles/web/acme orders=1",
      "roles/web/acme orders_per_account=-1",
      "roles/web/acme orders_per_account=1000001",
      "roles/web/acme orders_per_account=1 orders_per_account=2",
      "roles/web/acme orders_per_account=1 and more",
      "",
    ].map((text): [string, Partial<AcmeSettings>, string[]] => [
      `with ${JSON.stringify(text)} as limits of a directory`,
      { directoryLimits: [text] },
      ["directoryLimits"],
    ]),
    [
      "with two entries for one directory",
      { directoryLimits: ["acme orders_per_name=1", "acme  failed_validations=1"] },
      ["directoryLimits"],
    ],
    [
      "with limits of too many directories",
      { directoryLimits: Array.from({ length: 101 }, (_, at) => `roles/${at}/acme orders_per_name=1`) },
      ["directoryLimits"],
    ],
    ["with identities", { caaIdentities: ["ca.example"] }, []],
    ["with an invalid identity", { caaIdentities: ["ca example"] }, ["caaIdentities"]],
    [
      "with terms that are not a URL",
      { termsOfService: "read them", website: "ftp://x" },
      ["termsOfService", "website"],
    ],
  ])("%s", (_how, changes, fields) => {
    const faults = acmeSettingsFaults({ ...defaultAcmeSettings, ...changes }, context)
    expect(faults.map(({ field }) => field?.[0])).toEqual(fields)
  })

  test.each([
    ["acme", {}],
    ["roles/web/acme", { ordersPerName: 1 }],
    ["roles/mail/acme", { ordersPerName: 2, failedValidations: 0 }],
    ["issuer/int/acme", {}],
    ["issuer/int/roles/web/acme", { accountsPerAddress: 3 }],
    ["issuer/int/roles/mail/acme", { accountsPerAddress: 4 }],
    ["issuer/root/roles/web/acme", { accountsPerAddress: 5 }],
    ["issuer/root/roles/mail/acme", {}],
  ])("the limits of %s are those of the mount except %j", (path, changes) => {
    const directoryLimits = [
      "roles/*/acme orders_per_name=2 failed_validations=0",
      "roles/web/acme orders_per_name=1",
      "issuer/int/roles/*/acme accounts_per_address=4",
      "issuer/*/roles/web/acme accounts_per_address=5",
      "issuer/int/roles/web/acme accounts_per_address=3",
    ]
    const settings = { ...defaultAcmeSettings, directoryLimits }
    expect(rateLimitsFor(settings, path)).toEqual({ ...settings, ...changes })
  })

  test("[P-2.4-r5] a directory policy is one of four", () => {
    expect(parseDirectoryPolicy("forbid")).toEqual({ kind: "forbid" })
    expect(parseDirectoryPolicy("sign-verbatim")).toEqual({ kind: "sign-verbatim" })
    expect(parseDirectoryPolicy("role:web")).toEqual({ kind: "role", role: "web" })
    expect(parseDirectoryPolicy("external-policy")).toEqual({ kind: "external-policy", policy: undefined })
    expect(parseDirectoryPolicy("external-policy:web")).toEqual({ kind: "external-policy", policy: "web" })
    for (const text of ["", "role", "role:", "external-policy:", "Forbid", "role :web"])
      expect(parseDirectoryPolicy(text)).toBeUndefined()
  })

  test("[P-8-r1] the maximum is 90 days without max_ttl", () => {
    expect(acmeMaxTtlMs({ maxTtlMs: 0 })).toBe(90 * dayMs)
    expect(acmeMaxTtlMs({ maxTtlMs: hourMs })).toBe(hourMs)
  })

  test.each([
    ["10.0.0.53", { address: "10.0.0.53", port: 53 }],
    ["10.0.0.53:5353", { address: "10.0.0.53", port: 5_353 }],
    ["fd00::53", { address: "fd00::53", port: 53 }],
    ["[fd00::53]:5353", { address: "fd00::53", port: 5_353 }],
    ["dns.example:53", undefined],
    ["10.0.0.53:0", undefined],
    ["10.0.0.53:70000", undefined],
    ["", undefined],
  ])("the resolver %j is %j", (text, resolver) => {
    expect(parseResolver(text)).toEqual(resolver)
  })

  test("[P-4.1-n4] a mount cannot enable ACME without an address or the required response headers", () => {
    expect(acmeObstacle(context)).toBeUndefined()
    expect(acmeObstacle({ ...context, clusterPath: "" })).toContain("config/cluster")
    const config = { ...mount.config, allowedResponseHeaders: ["link", "location"] }
    expect(acmeObstacle({ ...context, mount: { ...mount, config } })).toContain("Replay-Nonce")
    expect(
      acmeObstacle({ ...context, mount: { ...mount, config: { ...config, allowedResponseHeaders: ["*"] } } }),
    ).toBeUndefined()
  })
})
