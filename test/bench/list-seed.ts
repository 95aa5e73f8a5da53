// Fills a data folder with one organization of many workspaces: 5 of 200 tags and 3 bindings over 20 keys each. The narrow filters of the
// list bench match the same 60 workspaces at any size.
import { openEmbedded } from "../../engine/src/embedded.ts"
import { seededRandom } from "../../engine/testing/seeded-random.ts"

export const plantedCount = 60
const tagCount = 200
const keyCount = 20
const valueCount = 150
const concurrency = 200

export async function seedWorkspaces(file: string, organization: string, count: number): Promise<void> {
  await using engine = await openEmbedded(`sqlite:${file}`)
  await engine.organizations.create({ name: organization, email: "bench@example.com" })
  const source = seededRandom(count)
  const random = (limit: number) => new DataView(source.bytes(4).buffer).getUint32(0) % limit
  const distinct = (wanted: number, limit: number, from = 0) => {
    const chosen = new Set<number>()
    while (chosen.size < wanted) chosen.add(from + random(limit - from))
    return [...chosen]
  }
  const every = Math.floor(count / plantedCount)
  /**
   * Draws again if both 0 and 1 were drawn. The filters search for tags 0 and 1, or keys 0 and 1, which only the planted workspaces have
   * together.
   */
  const notBoth = (draw: () => number[]): number[] => {
    const drawn = draw()
    return drawn.includes(0) && drawn.includes(1) ? notBoth(draw) : drawn
  }
  let next = 0
  const worker = async () => {
    while (next < count) {
      const index = next
      next += 1
      const planted = index % every === 0 && index / every < plantedCount
      const tags = planted ? [0, 1, ...distinct(3, tagCount, 2)] : notBoth(() => distinct(5, tagCount))
      const keys = planted ? [0, 1, ...distinct(1, keyCount, 2)] : notBoth(() => distinct(3, keyCount))
      const values = keys.map((key) => `value-${planted && key < 2 ? 0 : random(valueCount)}`)
      await engine.workspaces.create(organization, {
        name: `app-${String(index).padStart(6, "0")}-${planted ? "needle" : "plain"}-${index % 7}`,
        tags: tags.map((tag) => ({ name: `tag-${tag}` })),
        tagBindings: keys.map((key, position) => ({ key: `key-${key}`, value: values[position] ?? "" })),
      })
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}
