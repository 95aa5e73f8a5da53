import { describe, expect, test } from "vitest"
import { redactPlan } from "./redacted-plan.ts"

const provider = "registry.terraform.io/acme/box"

const block = {
  attributes: {
    name: { type: "string", optional: true },
    password: { type: "string", optional: true, sensitive: true },
    labels: { type: ["map", "string"], optional: true },
    sizes: { type: ["list", "number"], optional: true },
    owner: { type: ["object", { name: "string", tags: ["set", "string"] }], optional: true },
    anything: { type: "dynamic", optional: true },
    logins: {
      nested_type: {
        nesting_mode: "list",
        attributes: { user: { type: "string" }, key: { type: "string", sensitive: true } },
      },
    },
  },
  block_types: {
    disk: {
      nesting_mode: "list",
      block: { attributes: { path: { type: "string" }, secret: { type: "string", sensitive: true } } },
    },
  },
}
const schemas = {
  format_version: "1.0",
  provider_schemas: {
    [provider]: {
      provider: { version: 0, block: { attributes: { token: { type: "string" } } } },
      resource_schemas: { box: { version: 1, block }, crate: { version: 0, block: {} } },
      data_source_schemas: { box: { version: 2, block } },
    },
    "registry.terraform.io/acme/unused": { resource_schemas: { unused: { version: 0, block: {} } } },
  },
}

const resource = (change: object, more: object = {}) => ({
  address: "box.main",
  mode: "managed",
  type: "box",
  name: "main",
  provider_name: provider,
  change: { actions: ["update"], after_unknown: {}, before_sensitive: {}, after_sensitive: {}, ...change },
  ...more,
})
const planWith = (...changes: readonly object[]) => ({
  format_version: "1.2",
  terraform_version: "1.11.4",
  resource_changes: changes,
})

/** Redacts one change of a resource, and returns the members of the change that differ between cases. */
function redacted(change: object): Readonly<Record<string, unknown>> {
  const { resource_changes: changes = [] } = redactPlan(planWith(resource(change)), schemas)
  return (changes[0] as unknown as { change: Record<string, unknown> }).change
}

const [first, second] = ["(sensitive value 1)", "(sensitive value 2)"]

describe("a redacted change", () => {
  test.each<{ of: string; change: object; becomes: object }>([
    {
      of: "values without marks is unchanged",
      change: { before: { name: "a", sizes: [1, 2] }, after: { name: "b", sizes: [] } },
      becomes: { before: { name: "a", sizes: [1, 2] }, after: { name: "b", sizes: [] } },
    },
    {
      of: "a marked value hides it, and shows that it changes",
      change: {
        before: { name: "old" },
        after: { name: "new" },
        before_sensitive: { name: true },
        after_sensitive: { name: true },
      },
      becomes: {
        before: { name: first },
        after: { name: second },
        before_sensitive: { name: true },
        after_sensitive: { name: true },
      },
    },
    {
      of: "a marked value shows that it stays",
      change: {
        before: { name: "same" },
        after: { name: "same" },
        before_sensitive: { name: true },
        after_sensitive: { name: true },
      },
      becomes: { before: { name: first }, after: { name: first } },
    },
    {
      of: "a value that is marked on one side hides both sides and keeps the marks",
      change: { before: { name: "same" }, after: { name: "same" }, before_sensitive: { name: true } },
      becomes: {
        before: { name: first },
        after: { name: first },
        before_sensitive: { name: true },
        after_sensitive: {},
      },
    },
    {
      of: "null shows that there is no value",
      change: { before: { name: null }, after: { name: "x" }, after_sensitive: { name: true } },
      becomes: { before: { name: null }, after: { name: first } },
    },
    {
      of: "a created resource that is marked as a whole hides every attribute",
      change: {
        before: null,
        after: { name: "x", labels: { a: "x" } },
        after_sensitive: true,
        before_sensitive: false,
      },
      becomes: {
        before: null,
        after: {
          name: first,
          password: first,
          labels: { [first]: first },
          sizes: [first],
          owner: { name: first, tags: [first] },
          anything: first,
          logins: [{ user: first, key: first }],
        },
        before_sensitive: false,
        after_sensitive: true,
      },
    },
    {
      of: "a collection hides its keys and its length",
      change: {
        before: { labels: { "s3cret-key": "s3cret" }, sizes: [1, 2, 3], anything: ["s3cret"] },
        after: null,
        before_sensitive: { labels: true, sizes: true, anything: true },
      },
      becomes: {
        before: {
          labels: { [first]: first },
          sizes: [second],
          anything: ["(sensitive value 3)"],
        },
        before_sensitive: { labels: true, sizes: true, anything: true },
      },
    },
    {
      of: "an object hides all members of its type",
      change: { before: null, after: { owner: { name: "x" } }, after_sensitive: { owner: true } },
      becomes: { after: { owner: { name: first, tags: [first] } } },
    },
    {
      of: "nested values hides the marked ones",
      change: {
        before: null,
        after: { labels: { open: "x", closed: "s3cret" }, sizes: [1, 2] },
        after_sensitive: { labels: { closed: true }, sizes: [false, true] },
      },
      becomes: {
        after: { labels: { open: "x", closed: first }, sizes: [1, second] },
        after_sensitive: { labels: { closed: true }, sizes: [false, true] },
      },
    },
    {
      of: "attributes that the schema marks hides and marks them",
      change: {
        before: null,
        after: {
          name: "x",
          password: "s3cret",
          logins: [{ user: "ada", key: "k1" }],
          disk: [{ path: "/", secret: "k2" }],
        },
        before_sensitive: false,
      },
      becomes: {
        after: {
          name: "x",
          password: first,
          logins: [{ user: "ada", key: second }],
          disk: [{ path: "/", secret: "(sensitive value 3)" }],
        },
        before_sensitive: false,
        after_sensitive: { password: true, logins: [{ key: true }], disk: [{ secret: true }] },
      },
    },
    {
      of: "unknown values tells only whole sensitive values that are unknown",
      change: {
        before: null,
        after: { labels: { a: "s3cret" } },
        after_unknown: { name: true, password: true, labels: { "s3cret-key": true }, sizes: [false, true] },
        after_sensitive: { labels: true, password: true },
      },
      becomes: {
        after: { labels: { [first]: first } },
        after_unknown: { name: true, password: true, sizes: [false, true] },
        after_sensitive: { labels: true, password: true },
      },
    },
    {
      of: "paths of replaced values ends them where a sensitive value begins",
      change: {
        before: { labels: { a: "1" }, name: "x" },
        after: { labels: { b: "1" }, name: "y" },
        before_sensitive: { labels: true },
        after_sensitive: { labels: true },
        replace_paths: [["labels", "s3cret-key"], ["name"], ["sizes", 0]],
      },
      becomes: { replace_paths: [["labels"], ["name"], ["sizes", 0]] },
    },
    {
      of: "an import keeps its id and the generated configuration, and no unknown members",
      change: {
        before: {},
        after: {},
        importing: { id: "i-1" },
        generated_config: "resource {}",
        later_member: "s3cret",
      },
      becomes: { importing: { id: "i-1" }, generated_config: "resource {}" },
    },
    {
      of: "a member named as one of all objects treats it as any other",
      change: {
        before: null,
        after: { labels: JSON.parse('{"__proto__": "s3cret", "constructor": "x"}') },
        after_sensitive: { labels: JSON.parse('{"__proto__": true}') },
      },
      becomes: { after: { labels: JSON.parse(`{"__proto__": "${first}", "constructor": "x"}`) } },
    },
  ])("of $of", ({ change, becomes }) => {
    const result = redacted(change)
    expect(result).toMatchObject(becomes)
    expect(Object.keys(result)).not.toContain("later_member")
    expect(JSON.stringify(result)).not.toContain("s3cret")
  })
})

describe("a redacted plan", () => {
  test("has the members that the renderer reads, and no others", () => {
    const plan = {
      ...planWith(resource({ before: null, after: { name: "x" } }, { unknown_member: "s3cret" })),
      variables: { password: { value: "s3cret" } },
      planned_values: { root_module: { resources: [{ values: { password: "s3cret" } }] } },
      prior_state: { values: { outputs: { password: { value: "s3cret" } } } },
      configuration: { root_module: { variables: { password: { default: "s3cret" } } } },
      resource_drift: [resource({ before: { password: "s3cret" }, after: null })],
      deferred_changes: [{ reason: "resource_config_unknown", resource_change: resource({ before: null, after: {} }) }],
      relevant_attributes: [{ resource: "box.main", attribute: ["name"] }],
      output_changes: {
        open: {
          actions: ["create"],
          before: null,
          after: "x",
          after_unknown: false,
          before_sensitive: false,
          after_sensitive: false,
        },
        secret: {
          actions: ["update"],
          before: ["s3cret"],
          after: { s3cret: 1 },
          after_unknown: false,
          before_sensitive: true,
          after_sensitive: true,
        },
      },
      checks: [{ address: { name: "s3cret" } }],
    }
    const document = redactPlan(plan, schemas)
    expect(JSON.stringify(document)).not.toContain("s3cret")
    expect(Object.keys(document).toSorted()).toEqual([
      "deferred_changes",
      "output_changes",
      "plan_format_version",
      "provider_format_version",
      "provider_schemas",
      "relevant_attributes",
      "resource_changes",
      "resource_drift",
    ])
    expect(document).toMatchObject({
      plan_format_version: "1.2",
      provider_format_version: "1.0",
      relevant_attributes: [{ resource: "box.main", attribute: ["name"] }],
      output_changes: {
        open: { before: null, after: "x", after_sensitive: false },
        secret: { before: [first], after: { [second]: second }, before_sensitive: true, after_sensitive: true },
      },
    })
    expect(document.resource_changes).toEqual([resource({ before: null, after: { name: "x" } })])
    expect(document.deferred_changes).toMatchObject([{ reason: "resource_config_unknown" }])
    expect(document.provider_schemas).toEqual({ [provider]: { resource_schemas: { box: { version: 1, block } } } })
  })

  test("has the schema of a data source beside that of the resource of the same name", () => {
    const read = resource({ before: null, after: { password: "s3cret" } }, { mode: "data" })
    const { provider_schemas: kept } = redactPlan(planWith(read, resource({ before: null, after: {} })), schemas)
    expect(kept).toEqual({
      [provider]: {
        resource_schemas: { box: { version: 1, block } },
        data_source_schemas: { box: { version: 2, block } },
      },
    })
  })

  test("of no changes is complete", () => {
    expect(redactPlan({ format_version: "1.2" }, { format_version: "1.0" })).toEqual({
      plan_format_version: "1.2",
      provider_format_version: "1.0",
      provider_schemas: {},
    })
  })

  test.each([
    { why: "the plan is no object", plan: [], message: "plan must be an object" },
    { why: "the format is missing", plan: {}, message: "plan.format_version must be a string" },
    {
      why: "a change is no object",
      plan: planWith(7 as unknown as object),
      message: "plan.resource_changes[0] must be an object",
    },
    {
      why: "the changes are no list",
      plan: { ...planWith(), resource_changes: {} },
      message: "plan.resource_changes must be an array",
    },
    {
      why: "a provider is unknown",
      plan: planWith(resource({}, { provider_name: "other" })),
      message: 'provider_schemas has no resource type "box" of the provider "other"',
    },
    {
      why: "a type is unknown",
      plan: planWith(resource({}, { type: "toString" })),
      message: `provider_schemas has no resource type "toString" of the provider "${provider}"`,
    },
    {
      why: "the mode is unknown",
      plan: planWith(resource({}, { mode: "list" })),
      message: 'plan.resource_changes[0].mode must be "managed" or "data"',
    },
  ])("fails when $why", ({ plan, message }) => {
    expect(() => redactPlan(plan, schemas)).toThrow(message)
  })
})
