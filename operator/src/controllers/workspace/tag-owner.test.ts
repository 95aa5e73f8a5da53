import { maxOwner } from "@chancery/engine/declared"
import { describe, expect, test } from "vitest"
import { openWorkspaces, type WorkspacesFixture } from "../../../testing/workspaces-fixture.ts"
import { isClusterName, tagOwnerOf } from "./tag-owner.ts"

describe("the owner of an object's tags", () => {
  test("names the cluster and the object", () => {
    expect(tagOwnerOf({ metadata: { namespace: "team", name: "api", uid: "u" } }, "eu-1")).toBe(
      "kubernetes:eu-1/team/api",
    )
  })

  test("contains the uid if the names are too long", () => {
    const uid = "2b0a7d3e-1c9f-4a53-9d1e-0c2f8b7e6a54"
    const cluster = "c".repeat(63)
    const owner = tagOwnerOf({ metadata: { namespace: "n".repeat(63), name: "w".repeat(253), uid } }, cluster)
    expect(owner).toBe(`kubernetes:${cluster}/${uid}`)
    expect(owner.length).toBeLessThanOrEqual(maxOwner)
  })

  test.each(["default", "eu-1", "prod.example.com", "a", "c".repeat(63)])("isClusterName accepts %s", (name) =>
    expect(isClusterName(name)).toBe(true),
  )
  test.each(["", "EU", "a/b", "-a", "a-", "a b", "é", "c".repeat(64)])("isClusterName rejects %j", (name) =>
    expect(isClusterName(name)).toBe(false),
  )
})

const [ours, theirs] = ["kubernetes:test/team/web", "pulumi:site/prod"]
const signs: Readonly<Record<string, string>> = { [ours]: "ours", [theirs]: "theirs" }

async function held({ engine }: WorkspacesFixture, id: string): Promise<string> {
  const bindings = await engine.tags.bindings(id, { owners: true, tags: true })
  return bindings
    .map(({ key, value, owners = [] }) => {
      const binding = value === "" ? key : `${key}=${value}`
      return owners.length === 0 ? binding : `${binding}@${owners.map((owner) => signs[owner]).join(",")}`
    })
    .toSorted()
    .join(" ")
}

const spec = (members: Record<string, unknown> = {}) => ({ adoptionPolicy: "IfExists", ...members })
const bindings = (given: Readonly<Record<string, string>>) => ({
  tagBindings: Object.entries(given).map(([key, value]) => ({ key, value })),
})

describe("a Workspace object and another owner of tags", () => {
  test("own their tags each, and a shared tag stays until both have released it", async () => {
    await using stage = await openWorkspaces()
    const { id } = await stage.engine.workspaces.create("acme", { name: "web" })
    await stage.engine.tags.add(id, [{ name: "both" }, { name: "theirs" }], { owner: theirs })
    await stage.engine.tags.bind(id, [{ key: "env", value: "prod" }], { owner: theirs })
    const object = stage.open("web", spec({ tags: ["both", "mine"], ...bindings({ env: "prod", cost: "1" }) }))
    expect(await object.look()).toBe("Available")
    expect(await held(stage, id)).toBe("both@ours,theirs cost=1@ours env=prod@ours,theirs mine@ours theirs@theirs")
    await stage.engine.tags.remove(id, [{ name: "both" }], { owner: theirs })
    await stage.engine.workspaces.update({ id }, { tagBindings: [] }, { owner: theirs })
    expect(await held(stage, id)).toBe("both@ours cost=1@ours env=prod@ours mine@ours theirs@theirs")
    object.edit(spec())
    expect(await object.look()).toBe("Available")
    expect(await held(stage, id)).toBe("theirs@theirs")
  })

  test("keep each other's tags with tagsPolicy Exclusive", async () => {
    await using stage = await openWorkspaces()
    const { id } = await stage.engine.workspaces.create("acme", { name: "web", tags: [{ name: "nobodys" }] })
    await stage.engine.tags.add(id, [{ name: "theirs" }], { owner: theirs })
    await stage.engine.tags.bind(id, [{ key: "env", value: "prod" }], { owner: theirs })
    await stage.engine.tags.bind(id, [{ key: "nobodys-key", value: "1" }])
    const only = { tagsPolicy: "Exclusive", tags: ["mine"], ...bindings({ cost: "1" }) }
    const object = stage.open("web", spec(only))
    expect(await object.look()).toBe("Available")
    expect(await held(stage, id)).toBe("cost=1@ours env=prod@theirs mine@ours theirs@theirs")
    for (let poll = 0; poll < 4; poll += 1) expect(await object.poll()).toBe("Available")
    expect(object.happened).toEqual(["Adopted"])
    expect(await held(stage, id)).toBe("cost=1@ours env=prod@theirs mine@ours theirs@theirs")
  })

  test("conflict on one key with different values, which the object reports", async () => {
    await using stage = await openWorkspaces()
    const { id } = await stage.engine.workspaces.create("acme", { name: "web" })
    await stage.engine.tags.bind(id, [{ key: "env", value: "prod" }], { owner: theirs })
    const object = stage.open("web", spec({ tags: ["mine"], ...bindings({ env: "dev" }) }))
    await object.look()
    expect(object.told).toContain(`Tag env=prod is owned by ${theirs}; ${ours} cannot change it to env=dev`)
    expect(await held(stage, id)).toBe("env=prod@theirs mine@ours")
  })

  test("share tags that the object added before owners existed, after its next complete reconciliation", async () => {
    await using stage = await openWorkspaces()
    const object = stage.open("web", spec({ tags: ["mine"], ...bindings({ cost: "1" }) }))
    expect(await object.look()).toBe("Available")
    const id = String(object.status["id"])
    await stage.engine.tags.remove(id, [{ name: "mine" }])
    await stage.engine.workspaces.update({ id }, { tagBindings: [] })
    await stage.engine.tags.add(id, [{ name: "mine" }])
    await stage.engine.tags.bind(id, [{ key: "cost", value: "1" }])
    expect(await held(stage, id)).toBe("cost=1 mine")
    expect(await object.look()).toBe("Available")
    expect(await held(stage, id)).toBe("cost=1@ours mine@ours")
    expect(object.happened).toEqual(["Created"])
  })

  test("stay unchanged if the object only reports drift", async () => {
    await using stage = await openWorkspaces()
    const { id } = await stage.engine.workspaces.create("acme", { name: "web" })
    await stage.engine.tags.add(id, [{ name: "both" }], { owner: theirs })
    const object = stage.open(
      "web",
      spec({ driftPolicy: "Report", tags: ["both", "mine"], ...bindings({ cost: "1" }) }),
    )
    await object.look()
    expect(object.condition("Synced")).toBe("False DriftDetected")
    expect(await held(stage, id)).toBe("both@theirs")
  })
})
