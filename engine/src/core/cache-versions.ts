/** Current version numbers of cached facts (docs/decisions/cache-versions.md). */
export interface CacheVersions extends RequestSnapshot {
  /** For a request that has just come: what it asks of these two is read in one query, after it came, however often it asks. */
  requestSnapshot(): RequestSnapshot
  /** Of a mount's keys, issuers, roles and settings. */
  authority(mountId: string): Promise<number>
  /** Of a mount's revocations. */
  revocations(mountId: string): Promise<number>
}

/** What is asked on the way to whoever deals with a request. */
export interface RequestSnapshot {
  /** Of tokens, users, teams, policies: all that makes a caller. */
  identity(): Promise<number>
  mounts(): Promise<number>
}
