// Tests one member of a kind through the process that Pulumi starts: declared, read, compared, and removed.
import { expect } from "vitest"
import type { Edition } from "../../../engine/src/core/edition.ts"
import type { DynamicServer, Existing, Values } from "./dynamic-server.ts"
import type { Samples } from "./every-member.ts"

interface MemberCase {
  readonly kind: Samples
  readonly member: string
  readonly edition: Edition
  readonly inputs: (values: Values) => Values
}

export async function checkMemberLifecycle(
  server: DynamicServer,
  { kind, member, edition, inputs }: MemberCase,
): Promise<void> {
  const {
    value,
    beside = {},
    stays = false,
    edition: ofMember = edition,
    refused,
    notStored = false,
  } = kind.members[member] ?? { value: undefined }
  const isUnseen = notStored && Object.keys(beside).length === 0
  const without = inputs(kind.whole)
  const declared = inputs({ ...kind.whole, ...beside, [member]: value })
  expect(await server.check(declared)).toEqual({ inputs: declared, failures: [] })
  if ((kind.edition ?? edition) !== edition) {
    await expect(server.create(declared)).rejects.toThrow(/404 not-found/)
    return
  }

  const before = await server.create(without)
  expect(await server.diff(before.id, before.outs, without)).toEqual({ isSame: true, replaces: [] })
  const { isSame, replaces } = await server.diff(before.id, before.outs, declared)
  expect(isSame).toBe(isUnseen)
  if (ofMember !== edition) {
    await expect(server.update(before.id, before.outs, declared)).rejects.toThrow(`${member}: `)
    await server.delete(before.id, before.outs)
    return
  }

  if (refused !== undefined) {
    await expect(server.update(before.id, before.outs, declared)).rejects.toThrow(refused)
    return
  }

  let there: Existing
  if (replaces.length === 0) there = { id: before.id, outs: await server.update(before.id, before.outs, declared) }
  else {
    expect([member, ...Object.keys(beside)].filter((name) => replaces.includes(name))).not.toEqual([])
    await server.delete(before.id, before.outs)
    there = await server.create(declared)
  }
  const { [member]: _secret, ...open } = declared
  const shown = notStored ? open : declared
  expect(there.outs).toMatchObject(shown)
  const found = await server.read(there.id, there.outs)
  expect(found?.outs).toEqual(there.outs)
  expect(found?.inputs).toBeUndefined()
  expect((await server.read(there.id, { ...there.outs, __unfinished: true }))?.inputs).toEqual(shown)
  expect(await server.diff(there.id, there.outs, declared)).toEqual({ isSame: true, replaces: [] })

  let left = there.outs
  const undone = await server.diff(there.id, left, without)
  expect(undone.isSame).toBe(stays || isUnseen)
  if (undone.replaces.length === 0) {
    left = await server.update(there.id, left, without)
    // An absent value is the same before and after, whether or not it was declared.
    expect(left[member] ?? {}).toEqual((stays ? value : before.outs[member]) ?? {})
    expect((await server.read(there.id, left))?.outs).toEqual(left)
  }
  await server.delete(there.id, left)
  const rest = await server.read(there.id, left)
  if (kind.lasts === true)
    for (const part of ["mount", "serialNumber", "keyId"]) expect(rest?.outs[part]).toBe(left[part])
  else if (kind.emptied === undefined) expect(rest).toBeUndefined()
  else expect(Object.keys(rest?.outs[kind.emptied] ?? { not: "there" })).toEqual([])
}
