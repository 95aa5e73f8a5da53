// A Kubernetes API server for tests, whose token reviews the test controls; `test/e2e/operator` has a real one.
import type { ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { generateKeyPairSync, type KeyObject } from "node:crypto"
import { SignJWT } from "jose"
import type { ServiceAccount } from "../src/access/kubernetes/service-account-token.ts"
import { testTlsPem } from "./policy-server.ts"

export interface SeenReview {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly authorization: string | undefined
  readonly document: { readonly spec: { readonly token: string; readonly audiences?: readonly string[] } }
}

type Answer = (response: ServerResponse, seen: SeenReview) => unknown

export interface ApiServer extends AsyncDisposable {
  readonly url: string
  /** CA certificates in PEM. */
  readonly authorities: string
  readonly seen: SeenReview[]
  answerWith(answer: Answer): void
}

export async function startApiServer(answer: Answer = reviewed({ authenticated: false })): Promise<ApiServer> {
  const seen: SeenReview[] = []
  let current = answer
  const server = createServer({ cert: testTlsPem("server"), key: testTlsPem("server-key") }, (request, response) => {
    let text = ""
    request.setEncoding("utf8").on("data", (piece: string) => (text += piece))
    request.on("end", () => {
      const { method, url, headers } = request
      const one = {
        method,
        url,
        authorization: headers.authorization,
        document: JSON.parse(text) as SeenReview["document"],
      }
      seen.push(one)
      void current(response, one)
    })
  })
  server.on("tlsClientError", () => undefined)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    authorities: testTlsPem("authority"),
    seen,
    answerWith: (next) => (current = next),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Answers with a TokenReview of this status. */
export const reviewed =
  (status: object, code = 201): Answer =>
  (response) => {
    response.writeHead(code, { "content-type": "application/json" })
    response.end(JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: {}, status }))
  }

export const webAccount = { namespace: "shop", name: "web", uid: "7a2f6c1e-0000-4000-8000-000000000001" } as const

/** Accepts the token as one of the account `web`, for every requested audience. */
export const webReviewed: Answer = (response, seen) =>
  reviewed({
    authenticated: true,
    user: { username: `system:serviceaccount:${webAccount.namespace}:${webAccount.name}`, uid: webAccount.uid },
    audiences: seen.document.spec.audiences ?? ["https://kubernetes.default.svc"],
  })(response, seen)

export const clusterKeys = generateKeyPairSync("ec", { namedCurve: "P-256" })

/** Returns a token as the cluster projects it into a pod. `claims` replace its own. */
export const projectedToken = (claims: object = {}, key: KeyObject = clusterKeys.privateKey): Promise<string> =>
  new SignJWT({
    iss: "https://kubernetes.default.svc",
    sub: `system:serviceaccount:${webAccount.namespace}:${webAccount.name}`,
    aud: ["vault://shop/issuer"],
    exp: 4_000_000_000,
    nbf: 1_700_000_000,
    "kubernetes.io": {
      namespace: webAccount.namespace,
      serviceaccount: { name: webAccount.name, uid: webAccount.uid },
    },
    ...claims,
  })
    .setProtectedHeader({ alg: "ES256", kid: "cluster" })
    .sign(key)

/** Returns a token as the cluster stores it in a Secret of a service account. */
export const secretToken = (
  { namespace, name, uid, secretName }: ServiceAccount & { readonly secretName: string },
  key: KeyObject,
): Promise<string> =>
  new SignJWT({
    iss: "kubernetes/serviceaccount",
    sub: `system:serviceaccount:${namespace}:${name}`,
    "kubernetes.io/serviceaccount/namespace": namespace,
    "kubernetes.io/serviceaccount/secret.name": secretName,
    "kubernetes.io/serviceaccount/service-account.name": name,
    "kubernetes.io/serviceaccount/service-account.uid": uid,
  })
    .setProtectedHeader({ alg: key.asymmetricKeyType === "ec" ? "ES256" : "RS256" })
    .sign(key)
