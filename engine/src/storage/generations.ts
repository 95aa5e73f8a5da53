// One number per family of facts that replicas cache (architecture 0.23): whoever changes such a fact bumps it in the
// same transaction, and whoever cached it compares.
import { type Expression, sql } from "kysely"
import type { MountId } from "../pki/mount.ts"
import { statement, type Session } from "./session.ts"

export const identityFamily = "identity"
export const mountsFamily = "mounts"
export const authorityFamily = (mountId: string): string => `authority/${mountId}`
export const revocationsFamily = (mountId: string): string => `revocations/${mountId}`

/** 0 for a family that nobody has bumped yet. */
export async function readGeneration(session: Session, family: string): Promise<number> {
  return (await session.first(read, { family }))?.number ?? 0
}

export interface FrontGenerations {
  readonly identity: number
  readonly mounts: number
  /** Of the family that was asked for as well. */
  readonly also: { readonly family: string; readonly number: number }
}

/** Those that nearly every request asks for, and one more, in one query. */
export async function readFrontGenerations(session: Session, family: string): Promise<FrontGenerations> {
  const row = await session.first(readFront, { family })
  return { identity: row?.identity ?? 0, mounts: row?.mounts ?? 0, also: { family, number: row?.also ?? 0 } }
}

/** Of all mounts and of one of them, in one query. */
export async function readMountGenerations(
  session: Session,
  mountId: MountId,
): Promise<{ readonly mounts: number; readonly authority: number }> {
  const row = await session.first(readPair, { family: authorityFamily(mountId) })
  return { mounts: row?.mounts ?? 0, authority: row?.also ?? 0 }
}

export async function bumpGeneration(session: Session, family: string): Promise<void> {
  await session.run(bump, { family })
}

/** Bumps it, and says to which number. */
export async function nextGeneration(session: Session, family: string): Promise<number> {
  const row = await session.first(bumpReturning, { family })
  if (row === undefined) throw new Error(`the generation of ${family} was not written`)
  return row.number
}

const numberOf = (db: Session["db"], family: string | Expression<string>) =>
  db.selectFrom("generations").select("number").where("family", "=", family)

const read = statement<{ family: string }, { number: number }>((db, { family }) => numberOf(db, family))

// One row of several questions: for a list of families SQLite makes a table of that list with each query.
const readFront = statement<{ family: string }, Record<"identity" | "mounts" | "also", number | null>>(
  (db, { family }) =>
    db.selectNoFrom([
      numberOf(db, sql.lit(identityFamily)).as("identity"),
      numberOf(db, sql.lit(mountsFamily)).as("mounts"),
      numberOf(db, family).as("also"),
    ]),
)

const readPair = statement<{ family: string }, Record<"mounts" | "also", number | null>>((db, { family }) =>
  db.selectNoFrom([numberOf(db, sql.lit(mountsFamily)).as("mounts"), numberOf(db, family).as("also")]),
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
