import { expect, test } from "vitest"
import { InternedRows } from "./interned-rows.ts"

const columns = ["id", "name"]

test.each([
  { change: "nothing", text: "select a", values: ["1"], cells: [["ws-1", "web"]], same: true },
  { change: "a cell", text: "select a", values: ["1"], cells: [["ws-1", "api"]], same: false },
  { change: "the number of rows", text: "select a", values: ["1"], cells: [], same: false },
  { change: "the parameters", text: "select a", values: ["2"], cells: [["ws-1", "web"]], same: false },
  { change: "the statement", text: "select b", values: ["1"], cells: [["ws-1", "web"]], same: false },
])("when $change changed, the rows of before are handed out again: $same", ({ text, values, cells, same }) => {
  const interned = new InternedRows()
  const before = interned.rowsOf("select a", ["1"], columns, [["ws-1", "web"]])
  const now = interned.rowsOf(text, values, columns, cells)
  expect(now === before).toBe(same)
  expect(now).toEqual(cells.map(([id, name]) => ({ id, name })))
})

test("a row that changed back is made anew from what was read last", () => {
  const interned = new InternedRows()
  const rows = (name: string) => interned.rowsOf("select a", [], columns, [["ws-1", name]])
  rows("web")
  rows("api")
  expect(rows("web")).toEqual([{ id: "ws-1", name: "web" }])
})

test("rows that hold bytes are never handed out again", () => {
  const interned = new InternedRows()
  const rows = () => interned.rowsOf("select a", [], ["value"], [[new Uint8Array([1])]])
  expect(rows()).not.toBe(rows())
})

test("what is handed out cannot be changed by one who holds it", () => {
  const [row] = new InternedRows().rowsOf("select a", [], columns, [["ws-1", "web"]])
  expect(Object.isFrozen(row)).toBe(true)
})

test("of many answers the oldest is forgotten, and the newest kept", () => {
  const interned = new InternedRows()
  const rows = (id: number) => interned.rowsOf("select a", [id], ["id"], [[id]])
  const oldest = rows(0)
  for (let id = 1; id < 1_000; id += 1) rows(id)
  const newest = rows(999)
  expect(rows(999)).toBe(newest)
  expect(rows(0)).not.toBe(oldest)
})
