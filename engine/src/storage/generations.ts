// One number per family of facts that replicas cache (architecture 0.23): whoever changes such a fact bumps it in the
// same transaction, and whoever cached it compares.
import { sql } from "kysely"
import type { MountId } from "../pki/mount.ts"
import { statement, type Session } from "./session.ts"

export const identityFamily = "identity"
export const mountsFamily = "mounts"
export const authorityFamily = (mountId: string): string => `authority/${mountId}`
export const revocationsFamily = (mountId: string): string => `revocations/${mountId}`

/** 0 for a family that nobody has bumped yet. */
export async function readGeneration(session: Session, family: string): Promise<number> {
  const seen = session.generationsSeen?.get(family)
  if (seen !== undefined) return seen
  const number = (await session.first(read, { family }))?.number ?? 0
  session.generationsSeen?.set(family, number)
  return number
}

/** Those that nearly every request asks for, in one query. */
export async function readFrontGenerations(
  session: Session,
): Promise<{ readonly identity: number; readonly mounts: number }> {
  const rows = await session.all(readFront, {})
  const numberOf = (wanted: string) => rows.find(({ family }) => family === wanted)?.number ?? 0
  return { identity: numberOf(identityFamily), mounts: numberOf(mountsFamily) }
}

/** Of all mounts and of one of them, in one query. */
export async function readMountGenerations(
  session: Session,
  mountId: MountId,
): Promise<{ readonly mounts: number; readonly authority: number }> {
  const authority = authorityFamily(mountId)
  const { generationsSeen } = session
  const seen = { mounts: generationsSeen?.get(mountsFamily), authority: generationsSeen?.get(authority) }
  if (seen.mounts !== undefined && seen.authority !== undefined)
    return { mounts: seen.mounts, authority: seen.authority }
  const rows = await session.all(readPair, { mounts: mountsFamily, authority })
  const numberOf = (wanted: string) => {
    const number = rows.find(({ family }) => family === wanted)?.number ?? 0
    generationsSeen?.set(wanted, number)
    return number
  }
  return { mounts: numberOf(mountsFamily), authority: numberOf(authority) }
}

export async function bumpGeneration(session: Session, family: string): Promise<void> {
  session.generationsSeen?.clear()
  await session.run(bump, { family })
}

/** Bumps it, and says to which number. */
export async function nextGeneration(session: Session, family: string): Promise<number> {
  session.generationsSeen?.clear()
  const row = await session.first(bumpReturning, { family })
  if (row === undefined) throw new Error(`the generation of ${family} was not written`)
  return row.number
}

const read = statement<{ family: string }, { number: number }>((db, { family }) =>
  db.selectFrom("generations").select("number").where("family", "=", family),
)

const readFront = statement<Record<string, never>, { family: string; number: number }>((db) =>
  db
    .selectFrom("generations")
    .select(["family", "number"])
    .where("family", "in", [sql.lit(identityFamily), sql.lit(mountsFamily)]),
)

const readPair = statement<{ mounts: string; authority: string }, { family: string; number: number }>(
  (db, { mounts, authority }) =>
    db.selectFrom("generations").select(["family", "number"]).where("family", "in", [mounts, authority]),
)

const bump = statement<{ family: string }, unknown>((db, { family }) =>
  db
    .insertInto("generations")
    .values({ family, number: 1 })
    .onConflict((known) => known.column("family").doUpdateSet({ number: sql<number>`generations.number + 1` })),
)

const bumpReturning = statement<{ family: string }, { number: number }>((db, { family }) =>
  db
    .insertInto("generations")
    .values({ family, number: 1 })
    .onConflict((known) => known.column("family").doUpdateSet({ number: sql<number>`generations.number + 1` }))
    .returning("number"),
)
