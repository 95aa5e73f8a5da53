import { describe, expect, test } from "vitest"
import { UnderWay } from "./under-way.ts"

describe("UnderWay", () => {
  test("has what was added and not taken out, in whatever order they go", () => {
    const underWay = new UnderWay<string>()
    const [first, second, third] = ["a", "b", "c"].map((value) => underWay.add(value))
    expect([...underWay].toSorted()).toEqual(["a", "b", "c"])
    first?.()
    expect([...underWay].toSorted()).toEqual(["b", "c"])
    third?.()
    const fourth = underWay.add("d")
    second?.()
    expect([...underWay]).toEqual(["d"])
    fourth()
    expect([...underWay]).toEqual([])
    expect(underWay.size).toBe(0)
  })

  test("takes out one of two that are alike", () => {
    const underWay = new UnderWay<string>()
    const out = underWay.add("a")
    underWay.add("a")
    out()
    expect([...underWay]).toEqual(["a"])
  })

  test("takes nothing else out when it is asked again", () => {
    const underWay = new UnderWay<string>()
    const out = underWay.add("a")
    out()
    underWay.add("b")
    out()
    expect([...underWay]).toEqual(["b"])
    expect(underWay.size).toBe(1)
  })

  test("can be gone through while those in it end", () => {
    const underWay = new UnderWay<() => void>()
    const ended: number[] = []
    for (const number of [1, 2, 3]) {
      const out = underWay.add(() => {
        ended.push(number)
        out()
      })
    }
    for (const end of underWay) end()
    expect(ended).toEqual([1, 2, 3])
    expect(underWay.size).toBe(0)
  })
})
