import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { capabilities, type PathRule } from "../../core/access.ts"
import { isEngineError } from "../../core/errors.ts"
import { parsePolicy } from "./policy-text.ts"

const readRoles: readonly PathRule[] = [{ path: "pki/roles/*", capabilities: ["read", "list"] }]

describe("parsePolicy accepts", () => {
  test.each<{ what: string; text: string; rules: readonly PathRule[] }>([
    { what: "one block", text: 'path "pki/roles/*" {\n  capabilities = ["read", "list"]\n}\n', rules: readRoles },
    { what: "on one line", text: 'path "pki/roles/*" { capabilities = ["read","list"] }', rules: readRoles },
    { what: "a trailing comma", text: 'path "pki/roles/*" { capabilities = ["read", "list",], }', rules: readRoles },
    {
      what: "a quoted member name",
      text: 'path "pki/roles/*" { "capabilities" = ["read", "list"] }',
      rules: readRoles,
    },
    {
      what: "CRLF",
      text: 'path "pki/roles/*" {\r\n capabilities = [\r\n"read",\r\n"list"\r\n]\r\n}',
      rules: readRoles,
    },
    {
      what: "a leading slash in the path",
      text: 'path "/pki/roles/*" { capabilities = ["read", "list"] }',
      rules: readRoles,
    },
    {
      what: "all kinds of comments",
      text: '# who reads\n// roles {\n/* and\n"lists" them */ path /*x*/ "pki/roles/*" { # here\n capabilities = ["read", /**/ "list"] } // end',
      rules: readRoles,
    },
    {
      what: "two paths",
      text: 'path "a" { capabilities = ["read"] } path "b/+/c" { capabilities = ["deny"] }',
      rules: [
        { path: "a", capabilities: ["read"] },
        { path: "b/+/c", capabilities: ["deny"] },
      ],
    },
    {
      what: "the same path twice, merged",
      text: 'path "pki/roles/*" { capabilities = ["read"] }\npath "/pki/roles/*" { capabilities = ["list", "read"] }',
      rules: readRoles,
    },
    {
      what: "an empty list of capabilities",
      text: 'path "a" { capabilities = [] }',
      rules: [{ path: "a", capabilities: [] }],
    },
    { what: "comments only", text: "# nothing yet", rules: [] },
    {
      what: "escapes",
      text: '"path"'.slice(1, -1) + ' "a\\u002fb" { capabilities = ["re\\u0061d"] }',
      rules: [{ path: "a/b", capabilities: ["read"] }],
    },
    { what: "JSON", text: '{"path": {"pki/roles/*": {"capabilities": ["read", "list"]}}}', rules: readRoles },
    {
      what: "JSON in lists",
      text: ' {"path": [{"pki/roles/*": [{"capabilities": ["read", "list"]}]}]}',
      rules: readRoles,
    },
    {
      what: "JSON with a path twice, merged",
      text: '{"path": {"pki/roles/*": {"capabilities": ["read"]}, "pki/roles/*": {"capabilities": ["list"]}}}',
      rules: readRoles,
    },
    { what: "an empty JSON object", text: "{}", rules: [] },
  ])("$what", ({ text, rules }) => {
    expect(parsePolicy(text)).toEqual(rules)
  })
})

describe("parsePolicy rejects a policy", () => {
  test.each<{ text: string; faults: readonly string[] }>([
    { text: " \n", faults: ["policy can't be blank"] },
    { text: "#".repeat(65_537), faults: ["policy is too long (maximum is 65536 bytes)"] },
    { text: "# \0", faults: ["policy must not contain the character U+0000"] },
    {
      text: 'path "a" {\n  capabilities = ["read"]\n  allowed_parameters = { "ttl" = [1, "2", true] }\n}',
      faults: ['policy line 3: "allowed_parameters" of the path "a" is not supported; only "capabilities" is'],
    },
    {
      text: 'path "a" {\n policy = "write"\n}',
      faults: [
        'policy line 2: "policy" of the path "a" is not supported; only "capabilities" is',
        'policy line 1: the path "a" has no "capabilities"',
      ],
    },
    {
      text: 'path "a" { capabilities = ["read", "scan",\n 7] }\npath "" { capabilities = [] }',
      faults: [
        'policy line 1: "scan" is not a capability (create, read, update, patch, delete, list, sudo, deny)',
        "policy line 2: a value that is not a string is not a capability (create, read, update, patch, delete, list, sudo, deny)",
        'policy line 3: the path "" is empty',
      ],
    },
    {
      text: 'path "a" { capabilities = "read" }',
      faults: ['policy line 1: the "capabilities" of the path "a" must be a list'],
    },
    {
      text: 'path "a" {\n capabilities = ["read"]\n capabilities = ["deny"] }',
      faults: ['policy line 3: the path "a" has "capabilities" twice'],
    },
    {
      text: 'path "a*b" { capabilities = [] }',
      faults: ['policy line 1: the path "a*b" has a * that is not its last character'],
    },
    {
      text: 'path "//a" { capabilities = [] }',
      faults: ['policy line 1: the path "//a" has an empty segment'],
    },
    {
      text: 'path "a//b" { capabilities = [] }',
      faults: ['policy line 1: the path "a//b" has an empty segment'],
    },
    {
      text: 'path "a/b+" { capabilities = [] }',
      faults: ['policy line 1: the path "a/b+" has a + that is not a whole segment'],
    },
    {
      text: 'path "a/+*" { capabilities = [] }',
      faults: ['policy line 1: the path "a/+*" has a + that is not a whole segment'],
    },
    {
      text: 'path "a/{{identity.entity.id}}" { capabilities = [] }',
      faults: ['policy line 1: the path "a/{{identity.entity.id}}" contains a template, which is not supported'],
    },
    {
      text: `path "${"a".repeat(1_025)}" { capabilities = [] }`,
      faults: [expect.stringContaining("is too long (maximum is 1024 characters)")],
    },
    {
      text: 'path "a\\u0007" { capabilities = [] }',
      faults: ['policy line 1: the path "a\\u0007" contains control characters'],
    },
    { text: 'name = "x"', faults: ['policy line 1: "name" is not supported; only path "…" blocks are'] },
    { text: "\npath a { }", faults: ['policy line 2: expected a quoted path, found "a"'] },
    { text: 'path "a" [ ]', faults: ['policy line 1: expected "{", found "["'] },
    { text: 'path "a" { capabilities: [] }', faults: ['policy line 1: expected "=", found ":"'] },
    { text: 'path "a" { capabilities = }', faults: ['policy line 1: expected a value, found "}"'] },
    {
      text: 'path "a" { capabilities = ["read" "list"] }',
      faults: ['policy line 1: expected "," or "]", found "list"'],
    },
    { text: 'path "a" {\n\n', faults: ["policy line 3: expected a name, found the end of the text"] },
    { text: 'path "a', faults: ["policy line 1: a quoted string does not end on its line"] },
    { text: 'path "a\n" {}', faults: ["policy line 1: a quoted string does not end on its line"] },
    { text: 'path "a\\x" {}', faults: ['policy line 1: "a\\x" is not a valid JSON string'] },
    { text: "# a\n/* b", faults: ["policy line 2: a comment that begins with /* does not end"] },
    { text: "/*/", faults: ["policy line 1: a comment that begins with /* does not end"] },
    { text: "path <<EOT", faults: ['policy line 1: unexpected character "<"'] },
    { text: "}", faults: ['policy line 1: expected path "…" { … }, found "}"'] },
    { text: `path "a" { x = ${"[".repeat(20)}`, faults: ["policy line 1: the policy nests deeper than 8 levels"] },
    { text: '{"name": "x"}', faults: ['policy line 1: "name" is not supported; only "path" is'] },
    { text: '{"path": "a"}', faults: ["policy line 1: expected an object"] },
    { text: '{"path": []}', faults: ["policy line 1: expected an object"] },
    { text: '{"path": {"a": {}}}', faults: ['policy line 1: the path "a" has no "capabilities"'] },
    {
      text: '{"path": {"a": {"capabilities": ["read"],}}}',
      faults: ['policy line 1: expected a name, found "}"'],
    },
    {
      text: '{"path": {"a": {capabilities: ["read"]}}}',
      faults: ['policy line 1: expected a name, found "capabilities"'],
    },
    {
      text: "{\n}\n{}",
      faults: ['policy line 3: expected the end of the policy, found "{"'],
    },
    { text: '{ # no comments\n"path": {}}', faults: ['policy line 1: unexpected character "#"'] },
    {
      text: Array.from({ length: 1_001 }, (_, index) => `path "${index}" { capabilities = ["read"] }`).join("\n"),
      faults: ["policy has too many paths (maximum is 1000)"],
    },
  ])("with the faults $faults", ({ text, faults }) => {
    expect(faultsOf(text)).toEqual(faults)
  })

  test("with a bounded number of faults", () => {
    expect(faultsOf(`path "a" { capabilities = [${'"x",'.repeat(100)}] }`)).toHaveLength(20)
  })
})

describe("parsePolicy of any text", () => {
  const path = fc
    .array(fc.oneof(fc.constant("+"), fc.stringMatching(/^[a-z0-9. "\\é-]{1,8}$/)), { minLength: 1, maxLength: 5 })
    .map((segments) => segments.join("/"))
  const granted = fc.uniqueArray(fc.constantFrom(...capabilities))
  const rules = fc.uniqueArray(fc.record({ path, capabilities: granted }), {
    selector: (rule) => rule.path,
    maxLength: 8,
  })

  test("returns the same rules for HCL and JSON", () => {
    fc.assert(
      fc.property(rules, fc.constantFrom("\n", " ", "\r\n", " # x\n", '/* " */'), (written, blank) => {
        const hcl = written.map((rule) =>
          ["path", JSON.stringify(rule.path), "{", "capabilities", "=", JSON.stringify(rule.capabilities), "}"].join(
            blank,
          ),
        )
        const json = {
          path: Object.fromEntries(written.map((rule) => [rule.path, { capabilities: rule.capabilities }])),
        }
        expect(parsePolicy(`#\n${hcl.join(blank)}`)).toEqual(written)
        const read = parsePolicy(JSON.stringify(json))
        // JavaScript puts members with integer names first, so the order differs.
        expect(new Set(read)).toEqual(new Set(written))
      }),
    )
  })

  test("returns rules or throws faults, and no other error", () => {
    const piece = fc.constantFrom(
      ...[
        "path",
        "capabilities",
        '"pki/*"',
        '"read"',
        "{",
        "}",
        "[",
        "]",
        "=",
        ":",
        ",",
        "\n",
        " ",
        "#",
        "/*",
        "*/",
        '"',
      ],
      ...["\\", "<<", "true", "7", "é", "\u{1F600}", "\0", "\uD800"],
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(["rules", "faults"]).toContain(outcomeOf(pieces.join("")))
      }),
      { numRuns: 5_000 },
    )
  })
})

function faultsOf(text: string): readonly string[] {
  try {
    parsePolicy(text)
    return []
  } catch (error) {
    if (!isEngineError(error, "invalid")) throw error
    return error.faults.map(({ detail }) => detail)
  }
}

function outcomeOf(text: string): string {
  try {
    parsePolicy(text)
    return "rules"
  } catch (error) {
    return isEngineError(error, "invalid") && error.faults.length > 0 ? "faults" : String(error)
  }
}
