/** Where unpredictable bytes come from; seeded in tests. */
export interface RandomSource {
  bytes(count: number): Uint8Array
}
