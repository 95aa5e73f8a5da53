/**
 * Returns the cases of a suite. A short run takes only one of them, so that it stays below an hour; the seed, which is that of the commit,
 * chooses it, so that all of them take turns from commit to commit.
 */
export function sampleOf<Case>(cases: readonly Case[], suite: number): readonly Case[] {
  if (process.env["CHANCERY_SHORT"] !== "1") return cases
  const seed = Number(process.env["CHANCERY_SEED"] ?? 0)
  const index = (seed + suite) % Math.max(cases.length, 1)
  return cases.slice(index, index + 1)
}
