// Health and seal status, in the forms that Vault clients decode (docs/compatibility.md, "Answers of the certificate API").
import { secondMs } from "../../core/time.ts"
import type { Document } from "./format/parameters.ts"
import { contract, response } from "./endpoint.ts"

/** Vault release that this API is compatible with. Clients use a feature only from its release on. */
const compatibleVersion = "1.18.0"

interface Identity {
  readonly clusterId: string
}

/** Returns the cluster's name and id, which are unknown while the server is sealed. */
const clusterMembers = (identity: Identity | undefined) =>
  identity && {
    cluster_name: `chancery-cluster-${identity.clusterId.slice(0, 8)}`,
    cluster_id: identity.clusterId,
  }

/**
 * Encodes the health of a server, which is sealed if it has no identity. `release` is the version of Chancery; `now` is in milliseconds.
 */
export const encodeHealth = (identity: Identity | undefined, release: string, now: number): Document => ({
  initialized: true,
  sealed: identity === undefined,
  standby: false,
  performance_standby: false,
  replication_performance_mode: "disabled",
  replication_dr_mode: "disabled",
  server_time_utc: Math.floor(now / secondMs),
  version: compatibleVersion,
  chancery_version: release,
  enterprise: false,
  ...clusterMembers(identity),
  echo_duration_ms: 0,
  clock_skew_ms: 0,
  replication_primary_canary_age_ms: 0,
})

/** Encodes the seal status, with the same parameters. */
export const encodeSealStatus = (identity: Identity | undefined, release: string): Document => ({
  type: "shamir",
  initialized: true,
  sealed: identity === undefined,
  t: 1,
  n: 1,
  progress: 0,
  nonce: "",
  version: compatibleVersion,
  chancery_version: release,
  build_date: "",
  migration: false,
  ...clusterMembers(identity),
  recovery_seal: false,
  storage_type: "database",
})

/** Encodes the initialization status. The first start initializes the database, so clients never need to. */
export const encodeInitialization = (): Document => ({ initialized: true })

/** Encodes the leader status. Every replica serves all requests, so each is its own leader. */
export const encodeLeader = (): Document => ({
  ha_enabled: false,
  is_self: true,
  active_time: "0001-01-01T00:00:00Z",
  leader_address: "",
  leader_cluster_address: "",
  performance_standby: false,
  performance_standby_last_remote_wal: 0,
})

const json = response("application/json")
const open = { operation: "read", rights: "none", open: true, answers: json } as const

export const health = contract({
  health: {
    ...open,
    path: "/sys/health",
    summary:
      "Returns the state of the server: 200, or 503 if it is sealed. activecode and sealedcode in the query are other statuses.",
  },
  sealStatus: { ...open, path: "/sys/seal-status", summary: "Returns the state of the seal." },
  initialization: { ...open, path: "/sys/init", summary: "Returns that the server is initialized, as it always is." },
  leader: {
    ...open,
    path: "/sys/leader",
    summary: "Returns that the server is its own leader: every replica answers everything.",
  },
  openApi: {
    ...open,
    path: "/sys/internal/specs/openapi",
    summary: "Returns this API as an OpenAPI 3.1 document, with mounts and auth methods as parameters of the path.",
  },
})
