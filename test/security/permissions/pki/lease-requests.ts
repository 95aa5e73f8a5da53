import type { PkiSubject } from "./users.ts"
import type { PreparePki } from "./prepared-request.ts"

/** Returns the lease id of a certificate in the subject's mount. */
async function newLease({ root, testEngine, mount }: PkiSubject): Promise<string> {
  const { issuers, roles } = testEngine.engine.pki(mount)
  await issuers.generateRoot({ commonName: "Root", keyType: "ec" })
  await roles.save("leased", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000, generateLease: true })
  return (await root("POST", `/${mount}/issue/leased`, { common_name: "a.test" })).body.lease_id
}

const inBody: PreparePki = async (subject) => ({ body: { lease_id: await newLease(subject) } })
const inPath: PreparePki = async (subject) => ({ params: { lease_id: await newLease(subject) }, body: {} })
const below: PreparePki = async (subject) => {
  await newLease(subject)
  return { params: { prefix: subject.mount } }
}
const allBelow: PreparePki = async (subject, caller) => ({ ...(await below(subject, caller)), body: { sync: true } })

const both = (endpoint: string): readonly [string, PreparePki][] => [
  [`POST /${endpoint}`, inBody],
  [`POST /${endpoint}/*lease_id`, inPath],
]

export const leaseRequests: Readonly<Record<string, PreparePki>> = Object.fromEntries([
  ["POST /sys/leases/lookup", inBody],
  ["LIST /sys/leases/lookup", below],
  ["LIST /sys/leases/lookup/*prefix", below],
  ...both("sys/leases/revoke"),
  ...both("sys/revoke"),
  ...both("sys/leases/renew"),
  ...both("sys/renew"),
  ["POST /sys/leases/revoke-prefix/*prefix", allBelow],
  ["POST /sys/revoke-prefix/*prefix", allBelow],
  ["POST /sys/leases/revoke-force/*prefix", allBelow],
  ["POST /sys/revoke-force/*prefix", allBelow],
])

/** Certificate leases cannot be renewed, so permitted callers get an error too. */
export const refusedToAll: ReadonlySet<string> = new Set(
  [...both("sys/leases/renew"), ...both("sys/renew")].map(([endpoint]) => endpoint),
)
