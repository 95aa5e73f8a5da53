// A server process with a device listener, and for each type of keys a mount with EST at two labels.
import { X509Certificate } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type { KeyType } from "../../../engine/src/x509/key-algorithm.ts"
import { cheapPasswordHash } from "../../../engine/testing/cheap-password.ts"
import { run, serve, temporaryFolder } from "../../cli/chancery.ts"
import { freePort } from "../../free-port.ts"
import type { EstServerAddress } from "./est-client.ts"

export interface EstFixture extends AsyncDisposable {
  readonly address: EstServerAddress
  /** Returns the mount whose root and whose clients have keys of this type. */
  mount(keyType: KeyType): EstFixtureMount
}

export interface EstFixtureMount {
  readonly keyType: KeyType
  readonly root: X509Certificate
  /** Label whose requests are signed at once, if they have keys of this type. */
  readonly label: string
  /** Label whose requests wait for an approval, with keys of any type. */
  readonly approvedLabel: string
  /** User of the mount's auth method. */
  readonly basic: { readonly name: string; readonly password: string }
  /** Decides the only pending enrolment. */
  decide(decision: "approve" | "deny", comment: string): Promise<void>
  revoke(certificate: X509Certificate): Promise<void>
  /** Issues the certificate of a CSR (DER), and returns it after its expiration. */
  expired(csr: Uint8Array): Promise<X509Certificate>
}

export const keyTypes = ["rsa", "ec", "ed25519"] as const satisfies readonly KeyType[]

/** Subdomains of this domain get certificates. */
export const allowedDomain = "printers.example.com"

const tlsFile = (name: string) => fileURLToPath(new URL(`../../cli/tls/${name}.pem`, import.meta.url))

type Send = (method: string, path: string, body?: object) => Promise<Answer>

interface Answer {
  readonly data: Readonly<Record<string, unknown>>
}

export async function openEstFixture(): Promise<EstFixture> {
  await using resources = new AsyncDisposableStack()
  const folder = resources.use(await temporaryFolder())
  const token = (await run(["token", "create", "--user", "root", "--data", folder.path])).out.trim().split("\n").at(-1)
  const ports = [await freePort(), await freePort()]
  const served = resources.use(
    await serve([
      ...["serve", "--data", folder.path, "--tls-cert", tlsFile("server"), "--tls-key", tlsFile("server-key")],
      ...["--tls-listen", `127.0.0.1:${ports[0]}`, "--device-listen", `127.0.0.1:${ports[1]}`],
    ]),
  )
  const send: Send = async (method, path, body) => {
    const response = await fetch(`${served.url}/v1/${path}`, {
      method,
      headers: { "x-service-token": token ?? "", "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.status === 204 ? { data: {} } : ((await response.json()) as Answer)
  }
  const mounts = new Map<KeyType, EstFixtureMount>()
  for (const keyType of keyTypes) mounts.set(keyType, await createMount(send, keyType))
  const owned = resources.move()
  return {
    address: { host: `localhost:${ports[1]}`, authorityFile: tlsFile("authority") },
    mount(keyType) {
      const mount = mounts.get(keyType)
      if (mount === undefined) throw new Error(`there is no mount for ${keyType}`)
      return mount
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function createMount(send: Send, keyType: KeyType): Promise<EstFixtureMount> {
  const path = `devices-${keyType}`
  const [label, approvedLabel] = [keyType, `${keyType}-approved`]
  const basic = { name: "printer", password: "password" }
  await send("POST", `sys/mounts/${path}`, { type: "pki", config: { max_lease_ttl: "87600h" } })
  const root = { common_name: `Root with ${keyType}`, key_type: keyType, ttl: "87600h" }
  const { data } = await send("POST", `${path}/root/generate/internal`, root)
  const certificate = String(data["certificate"])
  const role = { allowed_domains: allowedDomain, allow_subdomains: true, key_type: keyType, ttl: "24h" }
  await send("POST", `${path}/roles/printers`, role)
  await send("POST", `${path}/roles/approved`, { ...role, key_type: "any" })
  await send("POST", `sys/policies/acl/${path}`, {
    policy: `path "${path}/roles/+/est/*" { capabilities = ["update"] }`,
  })
  const [userpass, cert] = [await createMethod(send, path, "userpass"), await createMethod(send, path, "cert")]
  await send("POST", `auth/${userpass.path}/users/${basic.name}`, {
    password_hash: cheapPasswordHash,
    token_policies: path,
  })
  await send("POST", `auth/${cert.path}/certs/printers`, { certificate, token_policies: path })
  await send("POST", `sys/mounts/${path}/tune`, { delegated_auth_accessors: [userpass.accessor, cert.accessor] })
  await send("POST", `${path}/config/est`, {
    enabled: true,
    label_to_path_policy: { [label]: "role:printers", [approvedLabel]: "role:approved" },
    manual_approval: ["role:approved"],
    authenticators: { userpass: { accessor: userpass.accessor }, cert: { accessor: cert.accessor } },
  })
  return {
    keyType,
    root: new X509Certificate(certificate),
    label,
    approvedLabel,
    basic,
    async decide(decision, comment) {
      const { data: listed } = await send("GET", `${path}/enrolments?list=true&state=pending`)
      const [id, ...others] = listed["keys"] as readonly string[]
      if (id === undefined || others.length > 0) throw new Error(`${others.length + 1} enrolments wait, or none`)
      await send("POST", `${path}/enrolments/${id}/${decision}`, { comment })
    },
    async expired(csr) {
      const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${Buffer.from(csr).toString("base64")}\n-----END CERTIFICATE REQUEST-----`
      const { data: signed } = await send("POST", `${path}/sign/printers`, {
        csr: pem,
        common_name: `p1.${allowedDomain}`,
        ttl: "1s",
      })
      const shortLived = new X509Certificate(String(signed["certificate"]))
      // The validity includes its last second.
      await setTimeout(Math.max(0, shortLived.validToDate.getTime() + 1_500 - Date.now()))
      return shortLived
    },
    revoke: async (revoked) => void (await send("POST", `${path}/revoke`, { certificate: revoked.toString() })),
  }
}

async function createMethod(send: Send, mountPath: string, type: "userpass" | "cert") {
  const path = `${mountPath}-${type}`
  await send("POST", `sys/auth/${path}`, { type })
  const { data } = await send("GET", `sys/auth/${path}`)
  return { path, accessor: String(data["accessor"]) }
}
