import { describe, expect, test } from "vitest"
import { isEngineError } from "../../core/errors.ts"
import { outputType, parseStateFile } from "./state-file.ts"

const bytes = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value))
const nullProvider = 'provider["registry.terraform.io/hashicorp/null"]'
const stateFile = (members: Record<string, unknown> = {}) => ({
  version: 4,
  terraform_version: "1.11.4",
  serial: 7,
  lineage: "b2a3c0f2-1b1c-4b5a-9a37-0a8f1b0c3d4e",
  outputs: {},
  resources: [],
  ...members,
})
const resource = (members: Record<string, unknown> = {}) => ({
  mode: "managed",
  type: "null_resource",
  name: "web",
  provider: nullProvider,
  instances: [{}],
  ...members,
})

const faultsOf = (value: unknown): string[] => {
  try {
    parseStateFile(value instanceof Uint8Array ? value : bytes(value))
  } catch (error) {
    if (isEngineError(error, "invalid")) return error.faults.map(({ detail }) => detail)
    throw error
  }
  return []
}

describe("a state file", () => {
  test("has serial, lineage, format version and tool version", () => {
    expect(parseStateFile(bytes(stateFile()))).toEqual({
      formatVersion: 4,
      terraformVersion: "1.11.4",
      serial: 7,
      lineage: "b2a3c0f2-1b1c-4b5a-9a37-0a8f1b0c3d4e",
      resourceCount: 0,
      resources: [],
      modules: {},
      providers: {},
      outputs: [],
    })
  })

  test("is summarized by resource, module and provider", () => {
    const parsed = parseStateFile(
      bytes(
        stateFile({
          resources: [
            resource({ instances: [{}, {}, {}] }),
            resource({ name: "other" }),
            resource({ module: "module.network", type: "aws_vpc", name: "main", provider: "aws" }),
            resource({ mode: "data", type: "aws_ami", name: "base", provider: "aws" }),
          ],
        }),
      ),
    )
    expect(parsed.resources).toEqual([
      { name: "web", type: "null_resource", count: 3, module: "root", provider: nullProvider },
      { name: "other", type: "null_resource", count: 1, module: "root", provider: nullProvider },
      { name: "main", type: "aws_vpc", count: 1, module: "module.network", provider: "aws" },
      { name: "base", type: "data.aws_ami", count: 1, module: "root", provider: "aws" },
    ])
    expect(parsed.modules).toEqual({
      root: { "null-resource": 4, "data.aws-ami": 1 },
      "module.network": { "aws-vpc": 1 },
    })
    expect(parsed.providers).toEqual({
      [nullProvider]: { "null-resource": 4 },
      aws: { "aws-vpc": 1, "data.aws-ami": 1 },
    })
  })

  test.each([
    { what: "no resources", resources: [], count: 0 },
    { what: "a null list", resources: null, count: 0 },
    { what: "one instance", resources: [resource()], count: 1 },
    { what: "several instances of one resource", resources: [resource({ instances: [{}, {}] })], count: 2 },
    { what: "a resource without instances", resources: [resource({ instances: [] })], count: 0 },
    { what: "data sources, which are not counted", resources: [resource({ mode: "data" })], count: 0 },
    {
      what: "managed resources and data sources together",
      resources: [resource(), resource({ mode: "data", instances: [{}, {}] }), resource({ name: "b" })],
      count: 2,
    },
  ])("counts managed instances: $what", ({ resources, count }) => {
    expect(parseStateFile(bytes(stateFile({ resources }))).resourceCount).toBe(count)
  })

  test("has outputs with type, value and sensitivity", () => {
    const outputs = {
      address: { value: "10.0.0.1", type: "string" },
      password: { value: "hunter2", type: "string", sensitive: true },
      zones: { value: ["a", "b"], type: ["list", "string"] },
      nothing: { value: null, type: "string" },
    }
    expect(parseStateFile(bytes(stateFile({ outputs }))).outputs).toEqual([
      { name: "address", sensitive: false, type: "string", value: "10.0.0.1", detailedType: "string" },
      { name: "password", sensitive: true, type: "string", value: "hunter2", detailedType: "string" },
      { name: "zones", sensitive: false, type: "array", value: ["a", "b"], detailedType: ["list", "string"] },
      { name: "nothing", sensitive: false, type: "string", value: null, detailedType: "string" },
    ])
  })

  test.each<[unknown, unknown, string]>([
    ["string", "a", "string"],
    ["number", 1, "number"],
    ["bool", true, "boolean"],
    [["list", "string"], [], "array"],
    [["set", "string"], [], "array"],
    [["tuple", ["string"]], ["a"], "array"],
    [["map", "string"], {}, "map"],
    [["object", {}], {}, "map"],
    ["dynamic", "a", "string"],
    ["dynamic", 1, "number"],
    ["dynamic", false, "boolean"],
    ["dynamic", [], "array"],
    ["dynamic", {}, "map"],
    ["dynamic", null, "string"],
  ])("an output of type %j with the value %j is shown as %s", (detailedType, value, expected) => {
    expect(outputType(detailedType, value)).toBe(expected)
  })

  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`
  test.each([
    { what: "text that is not JSON", value: "{", fault: "state must be a JSON object" },
    { what: "bytes that are not UTF-8", value: Uint8Array.of(0xff, 0xfe), fault: "state must be a JSON object" },
    { what: "an array instead of an object", value: [], fault: "state must be a JSON object" },
    { what: "no version", value: {}, fault: "state version must be an integer" },
    {
      what: "format version 3",
      value: { version: 3, serial: 1 },
      fault: "state has format version 3; only version 4 is supported; upgrade it with a newer release of the tool",
    },
    {
      what: "a later format version",
      value: { version: 5 },
      fault: "state has format version 5; only version 4 is supported",
    },
    {
      what: "a negative serial",
      value: stateFile({ serial: -1 }),
      fault: "state serial must be a non-negative integer",
    },
    {
      what: "a fractional serial",
      value: stateFile({ serial: 1.5 }),
      fault: "state serial must be a non-negative integer",
    },
    {
      what: "a serial above the safe integers",
      value: stateFile({ serial: 2 ** 60 }),
      fault: "state serial must be a non-negative integer",
    },
    {
      what: "a lineage that is not a string",
      value: stateFile({ lineage: 3 }),
      fault: "state lineage must be a string",
    },
    {
      what: "resources that are not an array",
      value: stateFile({ resources: {} }),
      fault: "state resources must be an array",
    },
    {
      what: "a resource of unknown mode",
      value: stateFile({ resources: [resource({ mode: "magic" })] }),
      fault: "state resource 0 is malformed",
    },
    { what: "outputs that are an array", value: stateFile({ outputs: [] }), fault: "state outputs must be an object" },
    {
      what: "an output without type",
      value: stateFile({ outputs: { a: { value: 1 } } }),
      fault: 'state output "a" is malformed',
    },
    {
      what: "an output name with a lone surrogate",
      value: stateFile({ outputs: { "\ud800": { value: 1, type: "number" } } }),
      fault: 'state output "\\ud800" is malformed',
    },
    {
      what: "an output name with U+0000",
      value: stateFile({ outputs: { "\0": { value: 1, type: "number" } } }),
      fault: 'state output "\\u0000" is malformed',
    },
    {
      what: "an output nested too deep",
      value: `{"version":4,"serial":1,"outputs":{"a":{"type":"dynamic","value":${nested(900)}}}}`,
      fault: 'state output "a" is malformed',
    },
    {
      what: "values nested deeper than the parser accepts",
      value: `{"version":4,"serial":1,"outputs":{"a":{"type":"dynamic","value":${nested(100_000)}}}}`,
      fault: "state nests values deeper than 1000 levels (at byte 1062)",
    },
  ])("is rejected when it has $what", ({ value, fault }) => {
    expect(faultsOf(value)).toEqual([fault])
  })

  test("reports all faults at once, up to the maximum", () => {
    expect(faultsOf(stateFile({ serial: "1", lineage: 3, resources: [resource(), {}] }))).toEqual([
      "state serial must be a non-negative integer",
      "state lineage must be a string",
      "state resource 1 is malformed",
    ])
    expect(faultsOf(stateFile({ resources: Array.from({ length: 1_000 }, () => ({})) }))).toHaveLength(20)
  })
})
