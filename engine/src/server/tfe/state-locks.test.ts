// Intermediate states at the end of a lock.
import { describe, expect, test } from "vitest"
import { stateFile } from "../../../testing/state-file.ts"
import { detailOf, faultsOf, stateEngine } from "../../../testing/state-engine.ts"

describe("releasing a lock", () => {
  test("[W-3-r3] unlocking makes the latest finalized intermediate state version current", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    await testEngine.put({ serial: 1, instances: 1 })
    const first = (await testEngine.current()).body.data.id
    await testEngine.put({ serial: 2, instances: 2 }, { intermediate: true })
    const latest = await testEngine.put({ serial: 3, instances: 3 }, { intermediate: true })
    expect((await testEngine.current()).body.data.id).toBe(first)
    const { status, body } = await testEngine.unlock()
    expect([status, body.data.attributes.locked, body.data.attributes["resource-count"]]).toEqual([200, false, 3])
    expect(body.data.relationships["current-state-version"].data).toEqual({ type: "state-versions", id: latest })
    expect((await testEngine.current()).body.data.id).toBe(latest)
  })

  test("[W-3-r4] [W-7-r5] unlocking answers 503 while the latest state version is pending, and keeps the lock", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    await testEngine.put({ serial: 1 }, { intermediate: true })
    const { attributes } = (await testEngine.announce({ serial: 2 }, { intermediate: true })).body.data
    const refused = await testEngine.unlock()
    expect(detailOf(refused)).toEqual([503, expect.stringContaining("latest state version is still pending")])
    expect(refused.headers.get("retry-after")).toBe("1")
    expect((await testEngine.show()).attributes.locked).toBe(true)
    await testEngine.upload(attributes["hosted-state-upload-url"], stateFile({ serial: 2 }).text)
    expect((await testEngine.unlock()).status).toBe(200)
    expect((await testEngine.current()).body.data.attributes.serial).toBe(2)
  })

  test("[W-3-r5] unlocking by another caller answers 409 and names the holder", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const token = await testEngine.token({ on: { [testEngine.id]: "admin" } })
    expect(detailOf(await testEngine.unlock({ token }))).toEqual([
      409,
      expect.stringMatching(/is locked by User user-\w{16} \(\w+\) and may not be unlocked except by them\.$/),
    ])
    expect((await testEngine.show()).attributes.locked).toBe(true)
  })

  test("[W-3-r6] [W-3-r8] unlocking an unlocked workspace answers 409, also by force", async () => {
    await using testEngine = await stateEngine()
    const text = "Unable to unlock workspace. The workspace is already unlocked."
    expect(detailOf(await testEngine.unlock())).toEqual([409, text])
    expect(detailOf(await testEngine.forceUnlock())).toEqual([409, text])
  })

  test("[W-3-r7] only admin access unlocks by force", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    expect(
      (await testEngine.forceUnlock({ token: await testEngine.token({ on: { [testEngine.id]: "write" } }) })).status,
    ).toBe(404)
    const { status, body } = await testEngine.forceUnlock({
      token: await testEngine.token({ on: { [testEngine.id]: "admin" } }),
    })
    expect([status, body.data.type, body.data.attributes.locked]).toEqual([200, "workspaces", false])
  })

  test("[W-3-p2] after unlocking by force the list shows which state was saved and which was discarded", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const saved = await testEngine.put({ serial: 1, instances: 1 }, { intermediate: true })
    const lost = (await testEngine.announce({ serial: 2 }, { intermediate: true })).body.data.attributes
    expect((await testEngine.forceUnlock()).body.data.attributes["resource-count"]).toBe(1)
    const list = await testEngine.request(
      "GET",
      "/state-versions?filter%5Borganization%5D%5Bname%5D=acme&filter%5Bworkspace%5D%5Bname%5D=web",
    )
    expect(
      list.body.data.map(({ attributes }: { readonly attributes: Record<string, unknown> }) => [
        attributes["serial"],
        attributes["status"],
      ]),
    ).toEqual([
      [2, "discarded"],
      [1, "finalized"],
    ])
    expect((await testEngine.current()).body.data.id).toBe(saved)
    expect((await testEngine.upload(lost["hosted-state-upload-url"], stateFile({ serial: 2 }).text)).status).toBe(409)
  })

  test("a version of an earlier lock is not promoted later", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    await testEngine.put({ serial: 9 })
    await testEngine.unlock()
    await testEngine.lock()
    await testEngine.unlock()
    expect((await testEngine.current()).body.data.attributes.serial).toBe(9)
  })

  test("a lock reason has at most 10000 characters", async () => {
    await using testEngine = await stateEngine()
    const refused = await testEngine.lock({ body: { data: { attributes: { reason: "r".repeat(10_001) } } } })
    expect([refused.status, faultsOf(refused)]).toEqual([
      422,
      [["/data/attributes/reason", "reason is too long (maximum is 10000 characters)"]],
    ])
    const locked = await testEngine.lock({ body: { reason: "r".repeat(10_000) } })
    expect([locked.status, locked.body.data.attributes["locked-reason"].length]).toEqual([200, 10_000])
  })

  test("32 concurrent locks give exactly one lock", async () => {
    await using testEngine = await stateEngine()
    const answers = await Promise.all(Array.from({ length: 32 }, () => testEngine.lock()))
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([200, ...Array.from({ length: 31 }, () => 409)])
  })
})
