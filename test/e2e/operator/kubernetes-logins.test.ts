// Service accounts of a real cluster log in to the certificate API, each with the token that the cluster issues.
import { createPrivateKey, createPublicKey, randomUUID, type webcrypto, X509Certificate } from "node:crypto"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { request } from "undici"
import { describe, expect, onTestFinished, test } from "vitest"
import { systemRuntime } from "../../../engine/src/core/runtime.ts"
import { hourMs } from "../../../engine/src/core/time.ts"
import { startServer } from "../../../engine/src/server/server.ts"
import { secretToken } from "../../../engine/testing/api-server.ts"
import { certificateRequest } from "../../../engine/testing/certificate-requests.ts"
import { manualClock } from "../../../engine/testing/manual-clock.ts"
import { openTestEngine, type TestEngine, type TestEngineOptions } from "../../../engine/testing/test-engine.ts"
import { typedPage } from "../../documents/typed-page.ts"
import { type Cluster, sharedCluster } from "./cluster.ts"
import { manifestsIn } from "./helm.ts"

/** The members that cert-manager uses to log in. */
interface CertManagerIssuer {
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly spec: {
    readonly vault: {
      readonly server: string
      readonly path: string
      readonly auth: {
        readonly kubernetes: {
          readonly mountPath: string
          readonly role: string
          readonly serviceAccountRef: { readonly name: string }
        }
      }
    }
  }
}

const guide = typedPage(import.meta.url, "docs/logins.md")
const found = sharedCluster()
const denied = { status: 403, body: { errors: ["permission denied"] } }
const audienceOf = (namespace: string) => `vault://${namespace}/issuer`

describe.skipIf(found === undefined)("a service account of a real cluster", () => {
  const cluster = found as Cluster
  const { kubectl } = cluster

  /** Creates a namespace with the accounts `web` and `reviewer`; `reviewer` may create token reviews. */
  async function newNamespace(): Promise<string> {
    const namespace = `logins-${randomUUID().slice(0, 8)}`
    await kubectl(["create", "namespace", namespace])
    for (const account of ["web", "reviewer"]) await kubectl(["create", "serviceaccount", account, "-n", namespace])
    await mayReview(namespace, "reviewer")
    return namespace
  }
  const mayReview = (namespace: string, account: string) =>
    kubectl([
      ...["create", "clusterrolebinding", `${namespace}-${account}`, "--clusterrole=system:auth-delegator"],
      `--serviceaccount=${namespace}:${account}`,
    ])
  const tokenOf = async (namespace: string, account: string, ...options: readonly string[]): Promise<string> =>
    (await kubectl(["create", "token", account, "-n", namespace, ...options])).trim()
  const forIssuer = (namespace: string, account = "web") =>
    tokenOf(namespace, account, `--audience=${audienceOf(namespace)}`)

  async function apiServer(): Promise<{ readonly url: string; readonly authorities: string }> {
    const access = cluster.adminAccess().getCurrentCluster()
    if (access === null) throw new Error("the cluster has no address")
    const { caData, caFile } = access
    const authorities =
      caData === undefined ? await readFile(caFile ?? "", "utf8") : Buffer.from(caData, "base64").toString()
    return { url: access.server, authorities }
  }

  interface Fixture extends TestEngine {
    readonly namespace: string
    configure(change?: object): Promise<void>
    logIn(jwt: string): ReturnType<TestEngine["pki"]>
  }

  /** Sets up a role `issuer` for the account `web` of a new namespace. */
  async function opened(options: TestEngineOptions = {}): Promise<Fixture> {
    const namespace = await newNamespace()
    const testEngine = await openTestEngine({ outgoing: { kinds: ["loopback", "private"], ranges: [] }, ...options })
    onTestFinished(() => testEngine[Symbol.asyncDispose]())
    const { engine, pki } = testEngine
    await engine.authMethods.enable({ path: "kubernetes", type: "kubernetes" })
    await engine.policies.put("web", 'path "pki/issue/web" { capabilities = ["update"] }')
    const logins = engine.kubernetesLogins("kubernetes")
    await logins.saveRole("issuer", {
      boundServiceAccountNames: ["web"],
      boundServiceAccountNamespaces: [namespace],
      audience: audienceOf(namespace),
      policies: ["web"],
    })
    const { url, authorities } = await apiServer()
    const fixture: Fixture = {
      ...testEngine,
      namespace,
      async configure(change = {}) {
        await logins.configure({
          kubernetesHost: url,
          kubernetesCaCert: authorities,
          tokenReviewerJwt: await tokenOf(namespace, "reviewer"),
          ...change,
        })
      },
      logIn: (jwt) => pki("POST", "/auth/kubernetes/login", { token: null, body: { role: "issuer", jwt } }),
    }
    await fixture.configure()
    return fixture
  }

  test("logs in, and its token has the permissions of the role", async () => {
    const fixture = await opened()
    const { status, body } = await fixture.logIn(await forIssuer(fixture.namespace))
    expect(status).toBe(200)
    const uid = await kubectl([
      "get",
      "serviceaccount",
      "web",
      "-n",
      fixture.namespace,
      "-o",
      "jsonpath={.metadata.uid}",
    ])
    expect(body.auth).toMatchObject({
      policies: ["default", "web"],
      metadata: {
        role: "issuer",
        service_account_name: "web",
        service_account_namespace: fixture.namespace,
        service_account_uid: uid,
      },
    })
    const { engine, pki } = fixture
    await engine.mounts.create({ path: "pki" })
    await engine.pki("pki").issuers.generateRoot({ commonName: "Root", keyType: "ec" })
    await engine.pki("pki").roles.save("web", { allowAnyName: true, keyType: "ec", ttlMs: hourMs })
    const issued = await pki("POST", "/pki/issue/web", {
      token: body.auth.client_token,
      body: { common_name: "web.example" },
    })
    expect(issued.status).toBe(200)
    expect(issued.body.data.certificate).toContain("BEGIN CERTIFICATE")
  })

  test("has certificates signed by cert-manager as configured in docs/logins.md", async () => {
    const testEngine = await openTestEngine({ outgoing: { kinds: ["loopback", "private"], ranges: [] } })
    onTestFinished(() => testEngine[Symbol.asyncDispose]())
    const { engine, rootToken } = testEngine
    await engine.mounts.create({ path: "pki" })
    await engine.pki("pki").issuers.generateRoot({ commonName: "Root", keyType: "ec" })
    await engine.pki("pki").roles.save("web", { allowAnyName: true, keyType: "ec", ttlMs: hourMs })
    const server = await startServer({ engine })
    onTestFinished(async () => void (await server.close()))
    const folder = await mkdtemp(join(tmpdir(), "chancery-logins-"))
    onTestFinished(() => rm(folder, { recursive: true }))
    await mkdir(join(folder, ".chancery"))
    await writeFile(join(folder, ".chancery/root-token"), rootToken)

    const [own, shop] = [await newNamespace(), await newNamespace()]
    const { url } = await apiServer()
    const placed = (text: string) =>
      text
        .replaceAll("https://ca.example", server.url)
        .replaceAll("https://10.96.0.1", url)
        .replaceAll("clusterrolebinding token-reviewer", `clusterrolebinding ${own}-token-reviewer`)
        .replaceAll("--namespace chancery", `--namespace ${own}`)
        .replaceAll("chancery:token-reviewer", `${own}:token-reviewer`)
        .replaceAll('namespaces": "shop"', `namespaces": "${shop}"`)
        .replaceAll("vault://shop/", `vault://${shop}/`)
        .replaceAll("namespace: shop", `namespace: ${shop}`)
    const shell = { folder, environment: { ...process.env, ...cluster.environment }, placed }
    await guide.block("Connect a cluster").type(shell)
    await guide.block("Connect a cluster", 1).type(shell)

    const file = join(folder, "issuer.yaml")
    await guide.block("cert-manager").write(file)
    const manifests = manifestsIn(placed(await readFile(file, "utf8")))
    const issuer = manifests.find(({ kind }) => kind === "Issuer") as unknown as CertManagerIssuer
    for (const manifest of manifests.filter((one) => one.kind !== "Issuer"))
      await kubectl(["apply", "-f", "-"], JSON.stringify(manifest))

    const { kubernetes } = issuer.spec.vault.auth
    const audience = `--audience=vault://${issuer.metadata.namespace}/${issuer.metadata.name}`
    const as = "--as=system:serviceaccount:cert-manager:cert-manager"
    const jwt = await tokenOf(issuer.metadata.namespace, kubernetes.serviceAccountRef.name, audience, as)
    // cert-manager may request tokens for no other account.
    await expect(tokenOf(issuer.metadata.namespace, "web", audience, as)).rejects.toThrow("forbidden")
    const post = async (path: string, body: object, token?: string) => {
      const answer = await request(`${issuer.spec.vault.server}${path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-vault-request": "true",
          ...(token === undefined ? {} : { "x-vault-token": token }),
        },
        body: JSON.stringify(body),
      })
      // oxlint-disable-next-line typescript/no-explicit-any
      return { status: answer.statusCode, body: (await answer.body.json()) as any }
    }
    const login = await post(`${kubernetes.mountPath}/login`, { role: kubernetes.role, jwt })
    expect(login).toMatchObject({ status: 200, body: { auth: { policies: ["default", "shop"], lease_duration: 600 } } })
    const { csr } = await certificateRequest()
    const signed = await post(
      `/v1/${issuer.spec.vault.path}`,
      {
        common_name: "web.example",
        csr,
        ttl: "30m0s",
        exclude_cn_from_sans: "true",
      },
      login.body.auth.client_token as string,
    )
    expect(signed).toMatchObject({ status: 200 })
    expect(new X509Certificate(signed.body.data.certificate as string).subject).toBe("CN=web.example")
  })

  test("is rejected with another account's token, or one for another audience", async () => {
    const fixture = await opened()
    const { namespace } = fixture
    await kubectl(["create", "serviceaccount", "web-2", "-n", namespace])
    const other = await newNamespace()
    for (const token of [
      await forIssuer(namespace, "web-2"),
      await tokenOf(other, "web", `--audience=${audienceOf(namespace)}`),
      await tokenOf(namespace, "web"),
      await tokenOf(namespace, "web", "--audience=vault"),
    ])
      expect(await fixture.logIn(token)).toMatchObject(denied)
    expect(await fixture.logIn(await forIssuer(namespace))).toMatchObject({ status: 200 })
  })

  test("is rejected with a token that was altered", async () => {
    const fixture = await opened()
    const token = await forIssuer(fixture.namespace)
    const [header = "", claims = "", signature = ""] = token.split(".")
    const read = JSON.parse(Buffer.from(claims, "base64url").toString()) as object
    const changed = Buffer.from(JSON.stringify({ ...read, exp: 4_000_000_000 })).toString("base64url")
    expect(await fixture.logIn(`${header}.${changed}.${signature}`)).toMatchObject(denied)
    const flipped = (signature.startsWith("A") ? "B" : "A") + signature.slice(1)
    expect(await fixture.logIn(`${header}.${claims}.${flipped}`)).toMatchObject(denied)
    expect(await fixture.logIn(token)).toMatchObject({ status: 200 })
  })

  test("is rejected once its token has expired", async () => {
    const clock = manualClock(Date.now())
    const fixture = await opened({ runtime: { ...systemRuntime(), clock } })
    const audience = `--audience=${audienceOf(fixture.namespace)}`
    const token = await tokenOf(fixture.namespace, "web", audience, "--duration=10m")
    expect(await fixture.logIn(token)).toMatchObject({ status: 200 })
    clock.advance(hourMs)
    expect(await fixture.logIn(token)).toMatchObject(denied)
  })

  test("is rejected once it is deleted, even if another account has its name", async () => {
    const fixture = await opened()
    const token = await forIssuer(fixture.namespace)
    expect(await fixture.logIn(token)).toMatchObject({ status: 200 })
    await kubectl(["delete", "serviceaccount", "web", "-n", fixture.namespace])
    // The API server caches the result of a token authentication for ten seconds.
    await expect.poll(async () => (await fixture.logIn(token)).status).toBe(403)
    await kubectl(["create", "serviceaccount", "web", "-n", fixture.namespace])
    expect(await fixture.logIn(token)).toMatchObject(denied)
    expect(await fixture.logIn(await forIssuer(fixture.namespace))).toMatchObject({ status: 200 })
  })

  test("logs in with the token of a Secret, as long as the Secret exists", async () => {
    const fixture = await opened()
    const { namespace } = fixture
    await fixture.engine.kubernetesLogins("kubernetes").saveRole("issuer", { audience: "" })
    const token = await tokenOfSecret(namespace)
    const { status, body } = await fixture.logIn(token)
    expect(status).toBe(200)
    expect(body.auth.metadata).toMatchObject({ service_account_secret_name: "web-token" })
    await kubectl(["delete", "secret", "web-token", "-n", namespace])
    await expect.poll(async () => (await fixture.logIn(token)).status).toBe(403)
  })

  test("reviews its own token where permitted, and no other account does", async () => {
    const fixture = await opened()
    const { namespace } = fixture
    await fixture.configure({ tokenReviewerJwt: "" })
    await fixture.engine.kubernetesLogins("kubernetes").saveRole("issuer", { audience: "" })
    const token = await tokenOf(namespace, "web")
    expect(await fixture.logIn(token)).toMatchObject(denied)
    await mayReview(namespace, "web")
    await expect.poll(async () => (await fixture.logIn(token)).status).toBe(200)
    // The token's audience is not the API server, which therefore does not accept it as a credential.
    expect(await fixture.logIn(await forIssuer(namespace))).toMatchObject(denied)
  })

  test("is asked to retry where this server may not review tokens", async () => {
    const fixture = await opened()
    await fixture.configure({ tokenReviewerJwt: await tokenOf(fixture.namespace, "web") })
    expect(await fixture.logIn(await forIssuer(fixture.namespace))).toMatchObject({ status: 503 })
  })

  test("is reviewed by the pod's account where this server runs in a pod", async () => {
    const podAccountFolder = await mkdtemp(join(tmpdir(), "chancery-pod-"))
    onTestFinished(() => rm(podAccountFolder, { recursive: true }))
    const fixture = await opened({ podAccountFolder })
    await writeFile(join(podAccountFolder, "ca.crt"), (await apiServer()).authorities)
    await writeFile(join(podAccountFolder, "token"), await tokenOf(fixture.namespace, "reviewer"))
    await fixture.configure({ kubernetesCaCert: "", tokenReviewerJwt: "" })
    expect(await fixture.logIn(await forIssuer(fixture.namespace))).toMatchObject({ status: 200 })
  })

  test("is verified with the cluster's keys where the API server is not consulted", async () => {
    const fixture = await opened()
    const { namespace } = fixture
    const { keys } = JSON.parse(await kubectl(["get", "--raw", "/openid/v1/jwks"])) as {
      readonly keys: webcrypto.JsonWebKey[]
    }
    const pemKeys = keys.map((key) => createPublicKey({ key, format: "jwk" }).export({ type: "spki", format: "pem" }))
    await fixture.engine.kubernetesLogins("kubernetes").configure({ pemKeys })
    const token = await forIssuer(namespace)
    expect(await fixture.logIn(token)).toMatchObject({ status: 200 })
    expect(await fixture.logIn(`${token.slice(0, -8)}AAAAAAAA`)).toMatchObject(denied)
    expect(await fixture.logIn(await forIssuer(namespace, "reviewer"))).toMatchObject(denied)
  })

  test("leaves nothing of its token in the audit log", async () => {
    const folder = await mkdtemp(join(tmpdir(), "chancery-audit-"))
    onTestFinished(() => rm(folder, { recursive: true }))
    const auditFile = join(folder, "audit.log")
    const fixture = await opened({ auditFile })
    const token = await forIssuer(fixture.namespace)
    const { body } = await fixture.logIn(token)
    const text = await readFile(auditFile, "utf8")
    expect(text).toContain("auth/kubernetes/login")
    for (const part of [...token.split("."), body.auth.client_token as string]) expect(text).not.toContain(part)
  })

  /** Returns a token of a Secret. If no controller fills the Secret, this signs the token with the cluster's own key and writes it. */
  async function tokenOfSecret(namespace: string): Promise<string> {
    const secret = (data: object) =>
      JSON.stringify({
        apiVersion: "v1",
        kind: "Secret",
        type: "kubernetes.io/service-account-token",
        metadata: { name: "web-token", namespace, annotations: { "kubernetes.io/service-account.name": "web" } },
        ...data,
      })
    await kubectl(["apply", "-f", "-"], secret({}))
    const keyFile = join(dirname(cluster.environment["KUBECONFIG"] ?? ""), "accounts.key")
    if (existsSync(keyFile)) {
      const uid = await kubectl(["get", "serviceaccount", "web", "-n", namespace, "-o", "jsonpath={.metadata.uid}"])
      const account = { namespace, name: "web", uid, secretName: "web-token" }
      const token = await secretToken(account, createPrivateKey(await readFile(keyFile, "utf8")))
      await kubectl(["apply", "-f", "-"], secret({ stringData: { token } }))
      return token
    }
    const inSecret = () => kubectl(["get", "secret", "web-token", "-n", namespace, "-o", "jsonpath={.data.token}"])
    await expect.poll(inSecret).not.toBe("")
    return Buffer.from(await inSecret(), "base64").toString()
  }
})
