import { describe, expect, test } from "vitest"
import { document, made, newUser } from "../../../testing/users.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import type { TestEngine } from "../../../testing/test-engine.ts"

const path = "/admin/terraform-versions"
const url = "https://releases.example.com/terraform_linux_amd64.zip"
const sha = "84ccfb8e13b5fce63051294f787885b76a1fedef6bdbecf51c5e586c9e20c9b7"
const amd64 = { url, sha, os: "linux", arch: "amd64" }
const arm64 = { url: "https://releases.example.com/terraform_linux_arm64.zip", sha, os: "linux", arch: "arm64" }
const versionDocument = (attributes: object) => document("terraform-versions", attributes)

const create = async (testEngine: TestEngine, attributes: object) =>
  made(testEngine, "POST", path, versionDocument(attributes))
const update = async (testEngine: TestEngine, id: string, attributes: object) =>
  made(testEngine, "PATCH", `${path}/${id}`, versionDocument(attributes))
const versionsOf = (body: { data: { attributes: { version: string } }[] }) =>
  body.data.map(({ attributes }) => attributes.version)

/** Returns the error texts of a refused request by member. */
async function faults(testEngine: TestEngine, method: string, address: string, attributes: object) {
  const { status, body } = await testEngine.request(method, address, { body: versionDocument(attributes) })
  expect(status).toBe(422)
  return Object.fromEntries(
    body.errors.map((error: { detail: string; source?: { pointer: string } }) => [
      error.source?.pointer.replace("/data/attributes/", ""),
      error.detail,
    ]),
  )
}

describe("[F-W15] admin/terraform-versions", () => {
  test("is created with defaults, read, updated and deleted by a site administrator", async () => {
    await using testEngine = await populatedEngine()
    const created = await testEngine.request("POST", path, { body: versionDocument({ version: "1.5.7", url, sha }) })
    const { id } = created.body.data
    expect(id).toMatch(/^tool-[a-zA-Z0-9]{16}$/)
    expect(created).toMatchObject({ status: 201 })
    expect(created.body.data).toEqual({
      id,
      type: "terraform-versions",
      attributes: {
        version: "1.5.7",
        url,
        sha,
        official: false,
        deprecated: false,
        "deprecated-reason": null,
        enabled: true,
        beta: false,
        usage: 0,
        "created-at": expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        archs: [amd64],
      },
      links: { self: `/api/v2/admin/terraform-versions/${id}` },
    })
    expect(await made(testEngine, "GET", `${path}/${id}`)).toEqual(created.body.data)
    const changes = {
      version: "1.5.8-custom",
      deprecated: true,
      "deprecated-reason": "old",
      enabled: false,
      beta: true,
    }
    const updated = await update(testEngine, id, changes)
    expect(updated.attributes).toEqual({ ...created.body.data.attributes, ...changes })
    expect(await made(testEngine, "GET", `${path}/${id}`)).toEqual(updated)
    expect((await testEngine.request("DELETE", `${path}/${id}`)).status).toBe(204)
    for (const method of ["GET", "DELETE"]) expect((await testEngine.request(method, `${path}/${id}`)).status).toBe(404)
    const missing = await testEngine.request("PATCH", `${path}/${id}`, { body: versionDocument({ beta: true }) })
    expect(missing.status).toBe(404)
  })

  test("takes url and sha from the entry for amd64, and an update replaces all entries", async () => {
    await using testEngine = await populatedEngine()
    // The TFE provider sends an empty sha and an empty deprecated-reason when the configuration has neither.
    const { id, attributes } = await create(testEngine, {
      version: "1.6.0",
      sha: "",
      "deprecated-reason": "",
      archs: [amd64, arm64],
    })
    expect(attributes).toMatchObject({ url, sha, "deprecated-reason": null, archs: [amd64, arm64] })
    const other = "ab".repeat(32)
    const replaced = await update(testEngine, id, { url: "https://example.com/other.zip", sha: other })
    expect(replaced.attributes).toMatchObject({
      url: "https://example.com/other.zip",
      sha: other,
      archs: [{ url: "https://example.com/other.zip", sha: other, os: "linux", arch: "amd64" }],
    })
    expect((await update(testEngine, id, { archs: [arm64] })).attributes).toMatchObject({
      url: null,
      sha: null,
      archs: [arm64],
    })
    expect(await faults(testEngine, "PATCH", `${path}/${id}`, { url })).toEqual({
      sha: "sha can't be blank; set url and sha, or archs",
    })
    expect((await update(testEngine, id, { official: true })).attributes).toMatchObject({
      archs: [arm64],
      official: true,
    })
  })

  test("drops the reason when the version is no longer deprecated", async () => {
    await using testEngine = await populatedEngine()
    const { id } = await create(testEngine, {
      version: "1.6.0",
      url,
      sha,
      deprecated: true,
      "deprecated-reason": "old",
    })
    expect((await update(testEngine, id, { deprecated: false })).attributes).toMatchObject({
      deprecated: false,
      "deprecated-reason": null,
    })
    expect(await faults(testEngine, "PATCH", `${path}/${id}`, { "deprecated-reason": "old" })).toEqual({
      "deprecated-reason": "deprecated-reason must be blank unless deprecated is true",
    })
  })

  test("lists the newest version first, in pages, by filter[version] and search[version]", async () => {
    await using testEngine = await populatedEngine()
    for (const version of ["1.9.8", "1.10.0", "1.10.0-rc1", "0.15.5", "1.10.1-custom"])
      await create(testEngine, { version, url, sha })
    const list = async (query: string) => {
      const { status, body } = await testEngine.request("GET", `${path}${query}`)
      expect(status).toBe(200)
      return { versions: versionsOf(body), pagination: body.meta.pagination }
    }
    expect((await list("")).versions).toEqual(["1.10.1-custom", "1.10.0", "1.10.0-rc1", "1.9.8", "0.15.5"])
    expect(await list("?page[size]=2&page[number]=2")).toMatchObject({
      versions: ["1.10.0-rc1", "1.9.8"],
      pagination: { "current-page": 2, "total-pages": 3, "total-count": 5 },
    })
    expect(await list("?page[number]=999")).toMatchObject({ versions: [], pagination: { "current-page": 999 } })
    expect((await list("?filter[version]=1.10.0")).versions).toEqual(["1.10.0"])
    expect((await list("?filter[version]=1.10")).versions).toEqual([])
    expect((await list("?search[version]=1.10")).versions).toEqual(["1.10.1-custom", "1.10.0", "1.10.0-rc1"])
    expect((await list("?search[version]=0.1&page[size]=1")).pagination).toMatchObject({ "total-count": 2 })
    expect((await list("?filter[version]=0.15.5&search[version]=1.10")).versions).toEqual(["0.15.5"])
    expect((await list("?filter[version]=&search[version]=")).versions).toHaveLength(5)
  })

  test("rejects a duplicate, reports all faults at once, and changes nothing", async () => {
    await using testEngine = await populatedEngine()
    await create(testEngine, { version: "1.5.7", url, sha })
    const { id } = await create(testEngine, { version: "1.5.6", url, sha })
    const taken = { version: "version has already been taken" }
    expect(await faults(testEngine, "POST", path, { version: "1.5.7", url, sha })).toEqual(taken)
    expect(await faults(testEngine, "PATCH", `${path}/${id}`, { version: "1.5.7" })).toEqual(taken)
    expect(await faults(testEngine, "POST", path, { version: "latest", url: "ftp://x", sha: "no hex" })).toEqual({
      version: "version must be a semantic version, such as 1.5.7 or 1.5.7-custom",
      url: "url must be an http or https URL",
      sha: "sha must be a checksum of 40 to 128 hexadecimal digits",
    })
    expect(await faults(testEngine, "POST", path, { version: "1.5.8" })).toEqual({
      url: "url can't be blank; set url and sha, or archs",
      sha: "sha can't be blank; set url and sha, or archs",
    })
    expect((await testEngine.request("GET", path)).body.data).toHaveLength(2)
    expect((await made(testEngine, "GET", `${path}/${id}`)).attributes.version).toBe("1.5.6")
  })

  test("counts the workspaces whose terraform-version is the version, and cannot be deleted while there are any", async () => {
    await using testEngine = await populatedEngine()
    const { id } = await create(testEngine, { version: "1.5.7", url, sha })
    const other = await create(testEngine, { version: "1.5.6", url, sha })
    for (const [name, engineVersion] of [
      ["one", "1.5.7"],
      ["two", "1.5.7"],
      ["constrained", "~> 1.5.0"],
      ["unlisted", "1.4.6"],
    ] as const)
      await testEngine.workspace(name, { engineVersion })
    expect((await made(testEngine, "GET", `${path}/${id}`)).attributes.usage).toBe(2)
    const { body } = await testEngine.request("GET", path)
    expect(body.data.map(({ attributes }: { attributes: { usage: number } }) => attributes.usage)).toEqual([2, 0])
    const refused = await testEngine.request("DELETE", `${path}/${id}`)
    expect(refused).toMatchObject({
      status: 422,
      body: { errors: [{ detail: "Terraform version 1.5.7 is used by 2 workspaces and cannot be deleted" }] },
    })
    expect((await testEngine.request("GET", `${path}/${id}`)).status).toBe(200)
    expect((await testEngine.request("DELETE", `${path}/${other.id}`)).status).toBe(204)
    for (const name of ["one", "two"])
      await made(
        testEngine,
        "PATCH",
        `/organizations/acme/workspaces/${name}`,
        document("workspaces", { "terraform-version": "1.4.6" }),
      )
    expect((await testEngine.request("DELETE", `${path}/${id}`)).status).toBe(204)
  })

  test("cannot be deleted while it is official", async () => {
    await using testEngine = await populatedEngine()
    const { id } = await create(testEngine, { version: "1.5.7", url, sha, official: true })
    expect(await testEngine.request("DELETE", `${path}/${id}`)).toMatchObject({
      status: 422,
      body: {
        errors: [{ detail: "Terraform version 1.5.7 is official and cannot be deleted; set enabled to false instead" }],
      },
    })
    expect((await testEngine.request("GET", `${path}/${id}`)).status).toBe(200)
  })

  test("is not found by callers who are not site administrators", async () => {
    await using testEngine = await populatedEngine()
    const { id } = await create(testEngine, { version: "1.5.7", url, sha })
    const { id: userId, token: stranger } = await newUser(testEngine, "ada")
    const team = await testEngine.token({ organization: { manageWorkspaces: true } })
    const attempts = async (token: string) => {
      const answers = [
        await testEngine.request("GET", path, { token }),
        await testEngine.request("GET", `${path}/${id}`, { token }),
        await testEngine.request("PATCH", `${path}/${id}`, { token, body: versionDocument({ beta: true }) }),
        await testEngine.request("POST", path, { token, body: versionDocument({ version: "1.5.9", url, sha }) }),
        await testEngine.request("DELETE", `${path}/${id}`, { token }),
      ]
      return answers.map(({ status }) => status)
    }
    expect(await attempts(stranger)).toEqual([404, 404, 404, 404, 404])
    expect(await attempts(team)).toEqual([404, 404, 404, 404, 404])
    await made(testEngine, "POST", `/admin/users/${userId}/actions/grant_admin`)
    expect(await attempts(stranger)).toEqual([200, 200, 200, 201, 204])
  })
})
