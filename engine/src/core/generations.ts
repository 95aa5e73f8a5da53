/**
 * The numbers under which facts are cached (architecture 0.23), as they stand when asked. What they show may be a commit that
 * is not on disk yet: it decides what is done, and nobody is told of it.
 */
export interface Generations {
  /** Of tokens, users, teams, policies: all that makes a caller. */
  identity(): Promise<number>
  mounts(): Promise<number>
  /** Of a mount's keys, issuers, roles and settings. */
  authority(mountId: string): Promise<number>
  /** Of a mount's revocations. */
  revocations(mountId: string): Promise<number>
}
