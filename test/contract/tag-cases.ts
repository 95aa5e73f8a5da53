import { beforeAll, describe, expect, test } from "vitest"
import { firstPage } from "../../engine/src/core/page.ts"
import { type Users, newUsers } from "./users.ts"
import type { OpenedEngine } from "./engines.ts"
import { notFound, refused } from "./refusals.ts"

export function tagCases(engine: () => OpenedEngine): void {
  let testUsers: Users
  beforeAll(async () => {
    testUsers = await newUsers(engine())
  })
  const namesOf = (tags: readonly { readonly name: string }[]) => tags.map(({ name }) => name).toSorted()

  describe("the tag pool", () => {
    test("stores each tag once, regardless of case, and is searched and paged", async () => {
      const { tags } = testUsers.owner.engine
      const [first, second] = await tags.create(testUsers.organization, ["Blue", "bluish"])
      expect(first).toMatchObject({ name: "Blue", instanceCount: 0, organizationName: testUsers.organization })
      expect(await tags.create(testUsers.organization, ["blue"])).toEqual([first])
      expect((await tags.list(testUsers.organization, { search: "BLU" }, firstPage)).items).toEqual([first, second])
      expect(await tags.list(testUsers.organization, { search: "blu" }, { number: 2, size: 1 })).toEqual({
        items: [second],
        number: 2,
        size: 1,
        totalCount: 2,
      })
      expect(await tags.create(testUsers.organization, [])).toEqual([])
      await tags.delete(testUsers.organization, [])
      await expect(tags.create(testUsers.organization, ["fine", "not fine"])).rejects.toMatchObject(
        refused("invalid", ["data", 1, "name"]),
      )
    })

    test("adds one tag to many workspaces, except those that have it, and removes it from all", async () => {
      const { tags, workspaces } = testUsers.owner.engine
      const [one, two] = [await testUsers.newWorkspace(), await testUsers.newWorkspace()]
      const [tag] = await tags.create(testUsers.organization, ["shared"])
      const id = tag?.id ?? ""
      await expect(tags.apply(id, [one.id, "ws-none"])).rejects.toMatchObject({ name: "EngineError" })
      await tags.apply(id, [one.id, two.id])
      expect((await workspaces.get(one)).tagNames).toEqual(["shared"])
      const left = await tags.list(testUsers.organization, { exceptOf: [one.id] }, firstPage)
      expect(namesOf(left.items)).not.toContain("shared")
      const [counted] = (await tags.list(testUsers.organization, { search: "shared" }, firstPage)).items
      expect(counted).toMatchObject({ id, instanceCount: 2 })
      await tags.delete(testUsers.organization, [id])
      expect((await workspaces.get(two)).tagNames).toEqual([])
      await expect(tags.delete(testUsers.organization, [id])).rejects.toMatchObject(notFound)
    })

    test("creates one tag for concurrent requests", async () => {
      const { tags } = testUsers.owner.engine
      const workspaces = await Promise.all(Array.from({ length: 6 }, () => testUsers.newWorkspace()))
      await Promise.all(workspaces.map(({ id }) => tags.add(id, [{ name: "race" }])))
      expect((await tags.list(testUsers.organization, { search: "race" }, firstPage)).items).toMatchObject([
        { name: "race", instanceCount: 6 },
      ])
    })
  })

  describe("flat tags", () => {
    test("are added by name and by id, listed, and deleted with their last workspace", async () => {
      const { tags } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      await tags.add(id, [{ name: "left" }, { name: "right" }])
      const { items } = await tags.ofWorkspace(id, firstPage)
      expect(namesOf(items)).toEqual(["left", "right"])
      const left = items.find(({ name }) => name === "left")?.id ?? ""
      await tags.add(id, [])
      await tags.remove(id, [{ id: left }, { name: "unknown" }])
      expect(namesOf((await tags.ofWorkspace(id, firstPage)).items)).toEqual(["right"])
      expect((await tags.list(testUsers.organization, { search: "left" }, firstPage)).items).toEqual([])
      await expect(tags.add(id, [{ name: "fine" }, { id: "tag-none" }])).rejects.toMatchObject(notFound)
      await expect(tags.add(id, [{ name: "-" }])).rejects.toMatchObject(refused("invalid", ["data", 0, "name"]))
    })

    test("cannot be changed by readers", async () => {
      const { id } = await testUsers.newWorkspace({ tags: [{ name: "seen" }] })
      const { engine: reader } = await testUsers.newMemberOn(id, { access: "read" })
      expect(namesOf((await reader.tags.ofWorkspace(id, firstPage)).items)).toEqual(["seen"])
      await expect(reader.tags.add(id, [{ name: "more" }])).rejects.toMatchObject(notFound)
    })
  })

  describe("tag owners", () => {
    const [pulumi, cluster] = [{ owner: "pulumi:site/prod" }, { owner: "kubernetes:acme/default/api" }]
    const format = (
      bindings: readonly { readonly key: string; readonly value: string; readonly owners?: readonly string[] }[],
    ) => bindings.map(({ key, value, owners = ["?"] }) => `${key}=${value}@${owners.join(",")}`).toSorted()

    test("release their tags, and a tag is deleted with its last owner", async () => {
      const { tags } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace({ tags: [{ name: "nobodys" }] })
      await tags.add(id, [{ name: "one" }, { name: "both" }], pulumi)
      await tags.add(id, [{ name: "both" }, { name: "other" }], cluster)
      const all = async () => format(await tags.bindings(id, { owners: true, tags: true }))
      expect(await all()).toEqual([
        `both=@${cluster.owner},${pulumi.owner}`,
        "nobodys=@",
        `one=@${pulumi.owner}`,
        `other=@${cluster.owner}`,
      ])
      await tags.remove(id, [{ name: "one" }, { name: "both" }, { name: "other" }], pulumi)
      expect(await all()).toEqual([`both=@${cluster.owner}`, "nobodys=@", `other=@${cluster.owner}`])
      await tags.remove(id, [{ name: "both" }])
      expect(await all()).toEqual(["nobodys=@", `other=@${cluster.owner}`])
    })

    test("are shown only when requested", async () => {
      const { tags, projects } = testUsers.owner.engine
      const project = await projects.create(
        testUsers.organization,
        { name: testUsers.newName("project"), tagBindings: [{ key: "cost", value: "42" }] },
        cluster,
      )
      const { id } = await testUsers.newWorkspace({ projectId: project.id })
      expect(format(await tags.bind(id, [{ key: "env", value: "prod" }], pulumi))).toEqual(["env=prod@?"])
      expect(format(await tags.bindings(id, { tags: true }))).toEqual(["env=prod@?"])
      expect(format(await tags.effectiveBindings(id))).toEqual(["cost=42@?", "env=prod@?"])
      expect(format(await tags.projectBindings(project.id))).toEqual(["cost=42@?"])
      expect(format(await tags.bindings(id, { owners: true, tags: true }))).toEqual([`env=prod@${pulumi.owner}`])
      expect(format(await tags.effectiveBindings(id, { owners: true }))).toEqual([
        `cost=42@${cluster.owner}`,
        `env=prod@${pulumi.owner}`,
      ])
      expect(format(await tags.projectBindings(project.id, { owners: true }))).toEqual([`cost=42@${cluster.owner}`])
    })

    test("are shown with the bindings of a workspace, when requested", async () => {
      const { tags, workspaces } = testUsers.owner.engine
      const made = await testUsers.newWorkspace({ tags: [{ name: "flat" }] })
      const { id, name } = made
      await tags.bind(id, [{ key: "env", value: "prod" }], pulumi)
      const alone = await workspaces.get({ id })
      expect(alone).not.toHaveProperty("bindings")
      for (const ref of [{ id }, { organization: testUsers.organization, name }])
        for (const bindings of [{}, { owners: true }])
          expect(await workspaces.get(ref, { bindings })).toEqual({
            ...alone,
            bindings: await tags.bindings(id, bindings),
          })
      const consumer = await testUsers.newWorkspace()
      const { engine: executor } = await testUsers.newMemberOn(consumer.id, { access: "plan" })
      await testUsers.owner.engine.remoteStateConsumers.add(id, [consumer.id])
      const looked = await executor.workspaces.get({ id }, { bindings: {} })
      expect(looked).toMatchObject({ id, permissions: { canReadStateOutputs: true } })
      expect(looked).not.toHaveProperty("bindings")
      await expect(workspaces.get({ id: "ws-none" }, { bindings: {} })).rejects.toMatchObject(notFound)
      await expect(
        workspaces.get({ organization: testUsers.organization, name: "none" }, { bindings: {} }),
      ).rejects.toMatchObject(notFound)
    })

    test("replace their own bindings, of workspaces and of projects", async () => {
      const { tags, workspaces, projects } = testUsers.owner.engine
      const [a, b, c] = ["a", "b", "c"].map((key) => ({ key, value: "1" })) as [
        { key: string; value: string },
        { key: string; value: string },
        { key: string; value: string },
      ]
      const { id } = await workspaces.create(
        testUsers.organization,
        { name: testUsers.newName("held"), tagBindings: [a], tags: [{ name: "flat" }] },
        pulumi,
      )
      await workspaces.update({ id }, { tagBindings: [b] }, cluster)
      await workspaces.update({ id }, { tagBindings: [c] }, pulumi)
      expect(format(await tags.bindings(id, { owners: true, tags: true }))).toEqual([
        `b=1@${cluster.owner}`,
        `c=1@${pulumi.owner}`,
        `flat=@${pulumi.owner}`,
      ])
      await workspaces.update({ id }, { tagBindings: [a] })
      expect(format(await tags.bindings(id, { owners: true, tags: true }))).toEqual(["a=1@", `flat=@${pulumi.owner}`])

      const project = await projects.create(
        testUsers.organization,
        { name: testUsers.newName("project"), tagBindings: [a] },
        pulumi,
      )
      await projects.update(project.id, { tagBindings: [b] }, cluster)
      await projects.update(project.id, { tagBindings: [c] }, pulumi)
      await tags.bindProject(project.id, [b], pulumi)
      expect(format(await tags.projectBindings(project.id, { owners: true }))).toEqual([
        `b=1@${cluster.owner},${pulumi.owner}`,
        `c=1@${pulumi.owner}`,
      ])
    })

    test("cannot change a value that another owner set", async () => {
      const { tags, workspaces, projects } = testUsers.owner.engine
      const [prod, dev] = [[{ key: "env", value: "prod" }], [{ key: "env", value: "dev" }]]
      const { id } = await testUsers.newWorkspace()
      const project = await projects.create(testUsers.organization, { name: testUsers.newName("project") })
      await tags.bind(id, prod, pulumi)
      await tags.bindProject(project.id, prod, pulumi)
      const message = `Tag env=prod is owned by ${pulumi.owner}; ${cluster.owner} cannot change it to env=dev`
      const inList = { ...refused("conflict", ["data", 0, "value"]), message }
      const inDocument = { ...refused("conflict", ["tagBindings", 0, "value"]), message }
      await expect(tags.bind(id, dev, cluster)).rejects.toMatchObject(inList)
      await expect(tags.bindProject(project.id, dev, cluster)).rejects.toMatchObject(inList)
      await expect(workspaces.update({ id }, { name: "other", tagBindings: dev }, cluster)).rejects.toMatchObject(
        inDocument,
      )
      await expect(projects.update(project.id, { tagBindings: dev }, cluster)).rejects.toMatchObject(inDocument)
      expect(await tags.bindings(id, { tags: true })).toMatchObject(prod)
      await tags.bind(id, dev, pulumi)
      expect(await tags.bindings(id, { tags: true })).toMatchObject(dev)
    })

    test("cannot delete a tag that another owner holds", async () => {
      const { tags } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      const name = testUsers.newName("held")
      const [tag] = await tags.create(testUsers.organization, [name])
      const tagId = tag?.id ?? ""
      await tags.apply(tagId, [id], pulumi)
      await expect(tags.delete(testUsers.organization, [tagId], cluster)).rejects.toMatchObject({
        ...refused("conflict"),
        message: `Tag ${name} of ${id} is owned by ${pulumi.owner}; ${cluster.owner} cannot delete it`,
      })
      await tags.delete(testUsers.organization, [tagId], pulumi)
      expect(await tags.bindings(id, { tags: true })).toEqual([])
    })

    test("must have printable names, or nothing is written", async () => {
      const { tags, workspaces, projects } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      const project = await projects.create(testUsers.organization, { name: testUsers.newName("project") })
      const [tag] = await tags.create(testUsers.organization, [testUsers.newName("tag")])
      for (const owner of ["", " ", "x".repeat(129), " a", "a\nb", "é"]) {
        const writes = [
          tags.add(id, [{ name: "t" }], { owner }),
          tags.remove(id, [{ name: "t" }], { owner }),
          tags.bind(id, [{ key: "k", value: "v" }], { owner }),
          tags.bindProject(project.id, [{ key: "k", value: "v" }], { owner }),
          tags.apply(tag?.id ?? "", [id], { owner }),
          tags.delete(testUsers.organization, [tag?.id ?? ""], { owner }),
          workspaces.create(testUsers.organization, { name: testUsers.newName("refused") }, { owner }),
          workspaces.update({ id }, { tagBindings: [{ key: "k", value: "v" }] }, { owner }),
          projects.create(testUsers.organization, { name: testUsers.newName("refused") }, { owner }),
          projects.update(project.id, { tagBindings: [{ key: "k", value: "v" }] }, { owner }),
        ]
        for (const answer of await Promise.allSettled(writes))
          expect(answer).toMatchObject({ status: "rejected", reason: refused("invalid", ["owner"]) })
      }
      expect(await tags.bindings(id, { tags: true })).toEqual([])
      expect(await tags.projectBindings(project.id)).toEqual([])
    })
  })

  describe("bindings", () => {
    test("are added and changed, and flat tags are listed when requested", async () => {
      const { tags } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace({ tags: [{ name: "flat" }] })
      const bound = await tags.bind(id, [
        { key: "env", value: "prod" },
        { key: "team", value: "net" },
      ])
      const pairs = (bindings: readonly { readonly key: string; readonly value: string }[]) =>
        bindings.map(({ key, value }) => `${key}=${value}`).toSorted()
      expect(pairs(bound)).toEqual(["env=prod", "team=net"])
      expect(pairs(await tags.bind(id, [{ key: "env", value: "test" }]))).toEqual(["env=test", "team=net"])
      expect(pairs(await tags.bindings(id, { tags: true }))).toEqual(["env=test", "flat=", "team=net"])
      await expect(
        tags.bind(id, [
          { key: "fine", value: "" },
          { key: "not fine", value: "x" },
        ]),
      ).rejects.toMatchObject(refused("invalid", ["data", 1, "key"]))
    })

    test("of a project are set on creation and changed by an update", async () => {
      const { tags, projects } = testUsers.owner.engine
      const bound = [{ key: "env", value: "prod" }]
      const { id } = await projects.create(testUsers.organization, {
        name: testUsers.newName("project"),
        tagBindings: bound,
      })
      expect(await tags.projectBindings(id)).toMatchObject(bound)
      await projects.update(id, { description: "x" })
      expect(await tags.projectBindings(id)).toMatchObject(bound)
      await projects.update(id, { tagBindings: [] })
      expect(await tags.projectBindings(id)).toEqual([])
    })

    test("of a project apply to its workspaces, whose own bindings take precedence", async () => {
      const { tags, projects } = testUsers.owner.engine
      const project = await projects.create(testUsers.organization, { name: testUsers.newName("project") })
      const bound = await tags.bindProject(project.id, [
        { key: "env", value: "prod" },
        { key: "cost", value: "42" },
      ])
      expect(await tags.projectBindings(project.id)).toEqual(bound)
      const { id } = await testUsers.newWorkspace({
        projectId: project.id,
        tagBindings: [{ key: "env", value: "own" }],
      })
      const effective = await tags.effectiveBindings(id)
      expect(effective).toHaveLength(2)
      expect(effective).toEqual(
        expect.arrayContaining([
          { key: "cost", value: "42", inheritedFrom: project.id },
          { key: "env", value: "own", inheritedFrom: null },
        ]),
      )
      const many = Array.from({ length: 11 }, (_, index) => ({ key: `k${index}`, value: "v" }))
      await expect(tags.bindProject(project.id, many)).rejects.toMatchObject({
        code: "invalid",
        message: expect.stringContaining("cannot exceed 10 bindings per resource"),
      })
    })
  })
}
