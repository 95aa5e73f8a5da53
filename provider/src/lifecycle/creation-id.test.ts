import { assert, constantFrom, option, property, stringMatching } from "fast-check"
import { describe, expect, test } from "vitest"
import { ownerOf, completeCreationId, formatCreationId } from "./creation-id.ts"

const here = { organization: "organization", stack: "prod" }

describe("the creation id of a resource", () => {
  test.each<{ what: string; written: string; as: string }>([
    { what: "one that has its name", written: formatCreationId(here, "api", { name: "api" }), as: "prod" },
    { what: "one of another name", written: formatCreationId(here, "api", { name: "payments" }), as: "prod:api" },
    { what: "one without a name", written: formatCreationId(here, "flat", { workspaceId: "ws-1" }), as: "prod:flat" },
    {
      what: "one of an organization",
      written: formatCreationId({ ...here, organization: "acme" }, "pki", { path: "pki" }),
      as: "acme/prod",
    },
  ])("is written as $as for $what", ({ written, as }) => expect(written).toBe(as))

  test("is parsed for any names", () => {
    const word = stringMatching(/^[\w.-]{1,20}$/)
    const name = stringMatching(/^[^]{1,30}$/)
    assert(
      property(word, word, word, name, option(name), constantFrom("name", "path", "other"), (...given) => {
        const [organization, project, stack, logicalName, argument, member] = given
        const inputs = { [member]: argument ?? logicalName }
        const written = formatCreationId({ organization, stack }, logicalName, inputs)
        const whole = `pulumi:${organization}/${project}/${stack}/${logicalName}`
        expect(completeCreationId(written, project, inputs)).toBe(whole)
      }),
    )
  })

  test("is truncated to the maximum of a workspace", () => {
    expect(completeCreationId("prod", "site", { name: "n".repeat(300) })).toHaveLength(255)
  })
})

describe("the owner of a stack's tags", () => {
  test.each<{ written: unknown; project: string; owner: string | undefined }>([
    { written: "prod", project: "site", owner: "pulumi:site/prod" },
    { written: "prod:api", project: "site", owner: "pulumi:site/prod" },
    { written: "acme/prod:api", project: "site", owner: "pulumi:site/prod" },
    { written: "prod", project: "", owner: undefined },
    { written: undefined, project: "site", owner: undefined },
  ])("is $owner for $written in the project $project", ({ written, project, owner }) =>
    expect(ownerOf(written, project)).toBe(owner),
  )

  test("differs between stacks with names of any length", () => {
    const owner = ownerOf("s".repeat(100), `${"p".repeat(60)}${"q".repeat(40)}`)
    expect(owner).toBe(`pulumi:${"q".repeat(20)}/${"s".repeat(100)}`)
    expect(owner).toHaveLength(128)
  })
})
