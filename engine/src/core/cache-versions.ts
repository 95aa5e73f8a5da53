/** Current version numbers of cached facts (docs/decisions/cache-versions.md). */
export interface CacheVersions extends RequestSnapshot {
  /** Returns a view for one new request. Both its versions are read in one query, which is sent after this call, and are read only once. */
  requestSnapshot(): RequestSnapshot
  /** Returns the version of a mount's keys, issuers, roles and settings. */
  authority(mountId: string): Promise<number>
  /** Returns the version of a mount's revocations. */
  revocations(mountId: string): Promise<number>
}

/** Versions that every request needs to find its caller and its mount. */
export interface RequestSnapshot {
  /** Returns the version of tokens, users, teams and policies. */
  identity(): Promise<number>
  mounts(): Promise<number>
}
