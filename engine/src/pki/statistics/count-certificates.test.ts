import { expect, test } from "vitest"
import { manualClock } from "../../../testing/manual-clock.ts"
import { countCertificates } from "./count-certificates.ts"

type Context = Parameters<typeof countCertificates>[0]

test("a mount that is deleted while it is counted is dropped, and others are stored", async () => {
  const saved: unknown[] = []
  const mounts = ["gone", "here"].map((id) => ({ id, path: id }))
  const repositories = {
    statistics: {
      countPart: async ({ revoked }: { readonly revoked: boolean }) => ({ count: revoked ? 1 : 3, next: undefined }),
      nextRole: async () => undefined,
      save: async (id: unknown, { valid }: { readonly valid: number }) => void saved.push([id, valid]),
    },
  }
  const context = {
    runtime: { clock: manualClock() },
    mountDirectory: {
      current: async () => ({ mounts }),
      within: async () => ({ mounts: mounts.slice(1) }),
    },
    storage: {
      readReplica: (work: (of: typeof repositories) => unknown) => work(repositories),
      transact: (work: (of: typeof repositories) => unknown) => work(repositories),
    },
  } as unknown as Context
  await countCertificates(context, { signal: new AbortController().signal })
  // Certificates are counted in four ranges of expiry, each with three certificates of which one is revoked.
  expect(saved).toEqual([["here", 8]])
})
