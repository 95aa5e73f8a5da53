import { expect, test } from "vitest"
import { parseRsaKeyStock } from "./rsa-key-stock.ts"

test.each<[string, ReadonlyMap<number, number> | undefined]>([
  ["none", new Map()],
  ["2048:200", new Map([[2048, 200]])],
  [
    "2048:200, 4096:1",
    new Map([
      [2048, 200],
      [4096, 1],
    ]),
  ],
  ["2048:10000", new Map([[2048, 10_000]])],
  ["2048:10001", undefined],
  ["2048:0", undefined],
  ["2048:-1", undefined],
  ["2048", undefined],
  ["1024:5", undefined],
  ["8192:1", undefined],
  ["2048:1,2048:2", undefined],
  ["2048:1,", undefined],
  ["", undefined],
])("a stock of %j", (text, stock) => expect(parseRsaKeyStock(text)).toEqual(stock))
