/** Source of unpredictable bytes; seeded in tests. */
export interface RandomSource {
  bytes(count: number): Uint8Array
}
