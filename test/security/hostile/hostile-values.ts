// Values that no client sends on purpose.

/** Replacements for any member. */
export const wrongValues: readonly unknown[] = [null, 0, -1, 1.5, 1e308, 2 ** 53, true, [], {}, [null], { id: {} }, ""]

const metacharacters = `'; drop table workspaces; --"\`$1 ? :a @b %_\\`
/** Replacements for any string. */
export const wrongTexts: readonly string[] = [
  "\0",
  "a\0b",
  "\ud800",
  "b\udfffa",
  metacharacters,
  "x".repeat(300_000),
  "💥\u202e\u0300",
  " ",
  "..",
  "__proto__",
  "constructor",
  "ws-0000000000000000",
  "99999-01-01T00:00:00Z",
  "[".repeat(5_000),
  "(a+)+$",
]

/** Whole bodies that are JSON but not valid documents. */
export const wrongDocuments: readonly unknown[] = [
  null,
  [],
  "x",
  5,
  true,
  {},
  { data: null },
  { data: "x" },
  { data: [] },
  { data: {} },
  { data: [null] },
  { data: [[]] },
  { data: [{}] },
  { data: { type: null } },
  { data: { type: "nonsense", attributes: [], relationships: [] } },
  { data: [{ type: "nonsense", id: 5 }] },
  { reason: 5 },
  { status: [] },
]

/** Replacements for a path parameter, encoded as on the wire. */
export const wrongPathSegments: readonly string[] = [
  "%00",
  "a%00b",
  "%ZZ",
  "%",
  "%E0%A4",
  "%FF",
  "%ED%A0%80",
  "%27%20or%201%3D1%20--",
  "%2F",
  "..%2F..",
  "%252e",
  "__proto__",
  "constructor",
  "%F0%9F%92%A5",
  "x".repeat(5_000),
  "ws-0000000000000000",
  "*",
  ":workspace_id",
]

/** Replacements for a query value, encoded as on the wire. */
export const wrongQueryValues: readonly string[] = [
  "%00",
  "%ZZ",
  "%",
  "%FF",
  "%ED%A0%80",
  "%27%3B--",
  "%25_%5C",
  "*",
  "**",
  "%2A%2A%2A",
  ",,,",
  "%F0%9F%92%A5",
  "x".repeat(5_000),
  "-",
  "%22",
  "%22%22%20OR%20NEAR(",
]

export const wrongPageNumbers: readonly string[] = [
  "0",
  "-1",
  "1.5",
  "1e3",
  "abc",
  "%00",
  "99999999999999999999",
  "+1",
  "0x10",
  "%D9%A1",
  "NaN",
  "Infinity",
  "1%20",
]

export const deeplyNested = `${"[".repeat(200_000)}${"]".repeat(200_000)}`
