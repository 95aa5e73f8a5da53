import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { hourMs } from "../../engine/src/core/time.ts"
import type { Engine } from "../../engine/src/engine.ts"
import type { KubernetesLogins } from "../../engine/src/access/kubernetes/kubernetes-login-api.ts"
import { initialTokenTerms } from "../../engine/src/access/logins/token-terms.ts"
import {
  type ApiServer,
  projectedToken,
  reviewed,
  startApiServer,
  webAccount,
  webReviewed,
} from "../../engine/testing/api-server.ts"
import type { OpenedEngine } from "./engines.ts"
import { notFound, refused } from "./refusals.ts"

let count = 0
const bound = { boundServiceAccountNames: ["web"], boundServiceAccountNamespaces: ["shop"] }

export function kubernetesLoginCases(engine: () => OpenedEngine): void {
  let cluster: ApiServer
  beforeAll(async () => {
    cluster = await startApiServer()
  })
  afterAll(() => cluster[Symbol.asyncDispose]())

  async function newMethod(root: Engine = engine().root): Promise<KubernetesLogins> {
    const path = `contract/kubernetes-${(count += 1)}`
    await root.authMethods.enable({ path, type: "kubernetes" })
    return root.kubernetesLogins(`${path}/`)
  }
  const clusterConfig = () => ({ kubernetesHost: cluster.url, kubernetesCaCert: cluster.authorities })

  describe("the configuration of a Kubernetes auth method", () => {
    test("is written, read without its secrets, and replaced", async () => {
      const logins = await newMethod()
      await expect(logins.getConfig()).rejects.toMatchObject(notFound)
      const tokenReviewerJwt = await projectedToken()
      const configured = await logins.configure({
        ...clusterConfig(),
        tokenReviewerJwt,
        issuer: "https://i",
        disableLocalCaJwt: true,
      })
      expect(configured).toEqual({ warnings: [] })
      const config = {
        ...clusterConfig(),
        pemKeys: [],
        issuer: "https://i",
        disableIssValidation: true,
        disableLocalCaJwt: true,
        tokenReviewerJwtSet: true,
      }
      expect(await logins.getConfig()).toEqual(config)
      await logins.configure(clusterConfig())
      const bare = { issuer: "", disableLocalCaJwt: false, tokenReviewerJwtSet: false }
      expect(await logins.getConfig()).toEqual({ ...config, ...bare })
    })

    test("is rejected with each fault by name, and stays unchanged", async () => {
      const logins = await newMethod()
      await expect(
        logins.configure({ kubernetesHost: "http://h", kubernetesCaCert: "x", tokenReviewerJwt: "y", pemKeys: ["z"] }),
      ).rejects.toMatchObject(
        refused("invalid", ["kubernetesHost"], ["kubernetesCaCert"], ["pemKeys"], ["tokenReviewerJwt"]),
      )
      await expect(logins.configure({})).rejects.toMatchObject(refused("invalid", ["kubernetesHost"]))
      await expect(logins.getConfig()).rejects.toMatchObject(notFound)
    })

    test("is not found at a path without a method or with a method of another type", async () => {
      const { root } = engine()
      await root.authMethods.enable({ path: "contract/no-kubernetes", type: "approle" })
      for (const path of ["contract/none", "contract/no-kubernetes"])
        await expect(root.kubernetesLogins(path).getConfig()).rejects.toMatchObject({ code: "not-found" })
    })
  })

  describe("a role of a Kubernetes auth method", () => {
    test("is written, changed in part, found in any case, listed and deleted", async () => {
      const logins = await newMethod()
      const { role, warnings } = await logins.saveRole("Web", { ...bound, policies: ["issue"], ttlMs: hourMs })
      expect(role).toEqual({
        ...initialTokenTerms,
        ...bound,
        audience: "",
        aliasNameSource: "serviceaccount_uid",
        policies: ["issue"],
        ttlMs: hourMs,
      })
      expect(warnings).toEqual([expect.stringContaining("audience")])
      const changed = await logins.saveRole("web", { audience: "vault", ttlMs: null, numUses: 3 })
      expect(changed).toEqual({ role: { ...role, audience: "vault", ttlMs: null, numUses: 3 }, warnings: [] })
      expect(await logins.getRole("WEB")).toEqual(changed.role)
      await logins.saveRole("api", bound)
      expect(await logins.listRoles()).toEqual(["api", "web"])
      expect(await logins.listRoles({ after: "api", limit: 5 })).toEqual(["web"])
      await logins.deleteRole("web")
      await logins.deleteRole("web")
      await expect(logins.getRole("web")).rejects.toMatchObject(notFound)
      expect(await logins.listRoles()).toEqual(["api"])
    })

    test("is rejected with each fault by name, and not stored", async () => {
      const logins = await newMethod()
      const wrong = { boundServiceAccountNames: ["*", "web"], policies: ["root"], numUses: -1 }
      await expect(logins.saveRole("web", wrong)).rejects.toMatchObject(
        refused("invalid", ["boundServiceAccountNames"], ["boundServiceAccountNamespaces"], ["policies"], ["numUses"]),
      )
      await expect(logins.saveRole("-", bound)).rejects.toMatchObject(refused("invalid", ["name"]))
      expect(await logins.listRoles()).toEqual([])
    })
  })

  describe("a service account", () => {
    test("logs in, and its token has the settings of the role", async () => {
      const { root } = engine()
      const logins = await newMethod()
      await logins.configure(clusterConfig())
      await logins.saveRole("web", { ...bound, ttlMs: hourMs })
      cluster.answerWith(webReviewed)
      const { secret, token, warnings } = await logins.login({ role: "Web", jwt: await projectedToken() })
      expect(warnings).toEqual([])
      expect(token).toMatchObject({
        policies: ["default"],
        orphan: true,
        renewable: true,
        ttlMs: hourMs,
        meta: { role: "web", service_account_name: webAccount.name, service_account_uid: webAccount.uid },
      })
      expect(await root.serviceTokens.lookup({ secret })).toMatchObject({ accessor: token.accessor })
    })

    test("is rejected, or asked to retry, depending on the cluster's answer", async () => {
      const logins = await newMethod()
      const jwt = await projectedToken()
      await expect(logins.login({ role: "web", jwt })).rejects.toMatchObject(refused("bad-request"))
      await logins.saveRole("web", bound)
      await expect(logins.login({ role: "web", jwt })).rejects.toMatchObject(refused("unprocessable"))
      await logins.configure(clusterConfig())
      cluster.answerWith(reviewed({ authenticated: false }))
      for (const one of [jwt, "no.jwt.this"])
        await expect(logins.login({ role: "web", jwt: one })).rejects.toMatchObject(refused("forbidden"))
      for (const wrong of [
        { role: "", jwt },
        { role: "web", jwt: "" },
      ])
        await expect(logins.login(wrong)).rejects.toMatchObject(refused("bad-request"))
      cluster.answerWith(reviewed({}, 500))
      await expect(logins.login({ role: "web", jwt })).rejects.toMatchObject(refused("unavailable"))
    })
  })
}
