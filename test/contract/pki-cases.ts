import { describe, expect, test } from "vitest"
import type { Engine } from "../../engine/src/engine.ts"
import { mountMoveId } from "../../engine/src/pki/mounts/mount.ts"
import { hourMs } from "../../engine/src/core/time.ts"
import type { OpenedEngine } from "./engines.ts"
import { notFound, refused } from "./refusals.ts"

let count = 0
const newPath = (): string => `contract/pki-${(count += 1)}`

async function newMount({ mounts, pki }: Engine) {
  const path = newPath()
  await mounts.create({ path })
  return { path, pki: pki(path) }
}

export function pkiCases(engine: () => OpenedEngine): void {
  describe("a mount", () => {
    test("is created with its tuning, and found with or without a trailing slash", async () => {
      const { mounts } = engine().root
      const path = newPath()
      const made = await mounts.create({
        path: `${path}/`,
        description: "Certificates for all",
        config: { maxLeaseTtlMs: 24 * hourMs, allowedResponseHeaders: ["Link"], listingVisibility: "unauth" },
        traits: { sealWrap: true },
        options: { team: "web" },
      })
      expect(made).toMatchObject({
        path,
        traits: { local: false, sealWrap: true, externalEntropyAccess: false },
        options: { team: "web" },
        type: "pki",
        description: "Certificates for all",
        config: {
          defaultLeaseTtlMs: null,
          maxLeaseTtlMs: 24 * hourMs,
          forceNoCache: false,
          allowedResponseHeaders: ["Link"],
          listingVisibility: "unauth",
        },
      })
      expect(await mounts.get(path)).toEqual(made)
      expect(await mounts.get(`${path}/`)).toEqual(made)
      expect(await mounts.list()).toContainEqual(made)
    })

    test("is tuned, moved and deleted", async () => {
      const { mounts } = engine().root
      const { path } = await newMount(engine().root)
      const tuned = await mounts.tune(path, { description: "tuned", config: { defaultLeaseTtlMs: hourMs } })
      expect(tuned).toMatchObject({ path, description: "tuned", config: { defaultLeaseTtlMs: hourMs } })
      const labelled = await mounts.tune(path, { options: { team: "web", tier: "1" } })
      expect(labelled).toEqual({ ...tuned, options: { team: "web", tier: "1" } })
      expect(await mounts.tune(path, { options: { team: "", tier: "" } })).toEqual(tuned)
      const reset = await mounts.tune(path, { config: { defaultLeaseTtlMs: null } })
      expect(reset).toMatchObject({ description: "tuned", config: { defaultLeaseTtlMs: null } })
      const elsewhere = newPath()
      expect(await mounts.move(path, elsewhere)).toEqual({ ...reset, path: elsewhere })
      await expect(mounts.get(path)).rejects.toMatchObject(notFound)
      const move = { uuid: reset.uuid, from: path, to: elsewhere }
      expect(await mounts.moved(mountMoveId(move))).toEqual(move)
      for (const id of ["any", mountMoveId({ ...move, uuid: `${move.uuid}x` })])
        await expect(mounts.moved(id)).rejects.toMatchObject(notFound)
      await mounts.delete(elsewhere)
      await expect(mounts.moved(mountMoveId(move))).rejects.toMatchObject(notFound)
      await expect(mounts.delete(elsewhere)).rejects.toMatchObject(notFound)
    })

    test("is rejected with every fault named, and cannot overlap another mount", async () => {
      const { mounts } = engine().root
      const { path } = await newMount(engine().root)
      const config = { maxLeaseTtlMs: hourMs, defaultLeaseTtlMs: 2 * hourMs, allowedResponseHeaders: ["no header"] }
      await expect(mounts.create({ path: "sys/x", description: "a\nb", config })).rejects.toMatchObject(
        refused("invalid", ["path"], ["description"], ["defaultLeaseTtlMs"], ["allowedResponseHeaders"]),
      )
      for (const wrong of ["", "a//b", "a/../b", "a b"])
        await expect(mounts.create({ path: wrong })).rejects.toMatchObject(refused("invalid", ["path"]))
      await expect(mounts.tune(path, { config })).rejects.toMatchObject(
        refused("invalid", ["defaultLeaseTtlMs"], ["allowedResponseHeaders"]),
      )
      await expect(mounts.create({ path })).rejects.toMatchObject(refused("conflict"))
      await expect(mounts.create({ path: `${path}/below` })).rejects.toMatchObject(refused("conflict"))
      await expect(mounts.move(path, "auth/x")).rejects.toMatchObject(refused("invalid", ["path"]))
      await expect(mounts.move("contract/absent", newPath())).rejects.toMatchObject(notFound)
      await expect(mounts.tune("contract/absent", {})).rejects.toMatchObject(notFound)
    })
  })

  describe("a role", () => {
    test("is written, listed, changed and deleted", async () => {
      const { pki } = await newMount(engine().root)
      expect(await pki.roles.list()).toEqual([])
      const saved = await pki.roles.save("web", {
        allowedDomains: ["example.com", "with, comma"],
        allowBareDomains: true,
        ttlMs: 72 * hourMs,
        notAfter: Date.UTC(2040, 0, 1),
        policyIdentifiers: [{ oid: "1.3.6.1.4.1.1.1", notice: "for all" }],
      })
      expect(saved.warnings).toEqual([])
      expect(saved.role).toMatchObject({
        allowedDomains: ["example.com", "with, comma"],
        ttlMs: 72 * hourMs,
        keyBits: 2048,
        policyIdentifiers: [{ oid: "1.3.6.1.4.1.1.1", notice: "for all" }],
      })
      expect(await pki.roles.get("web")).toEqual(saved.role)
      expect(await pki.roles.list()).toEqual(["web"])
      const changed = await pki.roles.update("web", { keyType: "ec", noStore: true, generateLease: true })
      expect(changed.role).toEqual({
        ...saved.role,
        keyType: "ec",
        keyBits: 256,
        signatureBits: changed.role.signatureBits,
        noStore: true,
      })
      expect(changed.warnings).toHaveLength(2)
      await pki.roles.delete("web")
      await pki.roles.delete("web")
      await expect(pki.roles.get("web")).rejects.toMatchObject(notFound)
    })

    test("is rejected with every fault named, and not stored", async () => {
      const { pki } = await newMount(engine().root)
      await expect(
        pki.roles.save("web", { ttlMs: 2 * hourMs, maxTtlMs: hourMs, keyType: "dsa", country: ["Utopia"] }),
      ).rejects.toMatchObject(refused("invalid", ["ttlMs"], ["country"], ["keyType"]))
      await expect(pki.roles.save("-", {})).rejects.toMatchObject(refused("invalid", ["name"]))
      await expect(pki.roles.update("web", {})).rejects.toMatchObject(refused("unprocessable"))
      await expect(pki.roles.get("web")).rejects.toMatchObject(notFound)
    })
  })

  test("a missing mount contains nothing", async () => {
    const { roles, issuers } = engine().root.pki("contract/absent")
    await expect(issuers.list()).rejects.toMatchObject(notFound)
    await expect(roles.list()).rejects.toMatchObject(notFound)
    await expect(roles.get("web")).rejects.toMatchObject(notFound)
    await expect(roles.save("web", {})).rejects.toMatchObject(notFound)
    await expect(roles.update("web", {})).rejects.toMatchObject(notFound)
    await expect(roles.delete("web")).rejects.toMatchObject(notFound)
  })
}
