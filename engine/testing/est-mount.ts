// A mount with EST, and a client that sends its requests as devices do.
import type { ClientCertificate } from "../src/core/client-certificate.ts"
import type { EstSettings } from "../src/pki/est/est-settings.ts"
import { oids } from "../src/x509/asn1/oids.ts"
import { readCertificatesOnly } from "../src/x509/certificates-only.ts"
import { subjectAltName } from "../src/x509/extensions.ts"
import type { KeyAlgorithm, KeyType } from "../src/x509/key-algorithm.ts"
import { readPem } from "../src/x509/pem.ts"
import type { PrivateKey } from "../src/x509/private-key.ts"
import { certificateRequest } from "./certificate-requests.ts"
import { cheapPasswordHash } from "./cheap-password.ts"
import { openTestEngine, origin, type TestEngine, type TestEngineOptions } from "./test-engine.ts"

export interface EstRequest {
  /** Body as sent, or DER that is sent in base64. */
  readonly body?: string | Uint8Array
  readonly contentType?: string
  /** `name:password`; null sends none. */
  readonly basic?: string | null
  readonly clientCertificate?: ClientCertificate
  readonly method?: string
  /** Server that gets the request. Default: that of the mount. */
  readonly world?: TestEngine
  readonly headers?: Readonly<Record<string, string>>
}

export interface EstResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface EstMount extends AsyncDisposable {
  readonly world: TestEngine
  readonly accessor: string
  /** `path` is below the origin. */
  send(path: string, request?: EstRequest): Promise<EstResponse>
  configure(settings: Partial<EstSettings>): Promise<void>
}

/** User and password of the device. */
export const device = "printer:password"

/** Creates the mount `pki` with a root and the role `web`, and lets the user `printer` enrol with the role by EST. */
export async function openEstMount(
  options: TestEngineOptions & { readonly keyType?: KeyType; readonly policy?: string } = {},
): Promise<EstMount> {
  const { keyType = "ec", policy, ...rest } = options
  const world = await openTestEngine(rest)
  const { engine } = world
  await engine.authMethods.enable({ path: "devices", type: "userpass" })
  const { accessor } = await engine.authMethods.get("devices")
  await engine.mounts.create({ path: "pki", config: { delegatedAuthAccessors: [accessor] } })
  const pki = engine.pki("pki")
  await pki.issuers.generateRoot({ commonName: "Device Root", keyType })
  await pki.roles.save("web", {
    allowedDomains: ["example.com"],
    allowSubdomains: true,
    keyType: "any",
    ttlMs: 3_600_000,
    requireCn: false,
  })
  await engine.policies.put(
    "devices",
    policy ??
      'path "pki/roles/web/est/*" { capabilities = ["update"] }\npath "pki/est/*" { capabilities = ["update"] }',
  )
  const { users } = engine.userpass("devices")
  await users.save("printer", { passwordHash: cheapPasswordHash, policies: ["devices"] })
  await users.save("guest", { passwordHash: cheapPasswordHash })
  const configure = async (settings: Partial<EstSettings>) => void (await pki.settings.changeEst(settings))
  await configure({
    enabled: true,
    defaultMount: true,
    defaultPathPolicy: "role:web",
    labelToPathPolicy: { printers: "role:web", raw: "sign-verbatim" },
    authenticators: { userpass: { accessor }, cert: { accessor: "", role: "" } },
  })
  return {
    world,
    accessor,
    configure,
    async send(
      path,
      { body, contentType, basic = device, clientCertificate, method, headers = {}, world: to = world } = {},
    ) {
      const credentials = basic === null ? {} : { authorization: `Basic ${Buffer.from(basic).toString("base64")}` }
      const sent = body === undefined ? {} : { body: typeof body === "string" ? body : base64(body) }
      const response = await to.app.fetch(
        new Request(`${origin}${path}`, {
          method: method ?? (body === undefined ? "GET" : "POST"),
          headers: {
            ...credentials,
            ...(body === undefined ? {} : { "content-type": contentType ?? "application/pkcs10" }),
            ...headers,
          },
          ...sent,
        }),
        { requestId: "test", remoteAddress: "192.0.2.7", route: undefined, clientCertificate },
      )
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

const base64 = (der: Uint8Array): string => Buffer.from(der).toString("base64")

/** Creates a CSR in DER for one DNS name. */
export async function deviceRequest(
  name = "printer.example.com",
  algorithm?: KeyAlgorithm,
): Promise<{ readonly der: Uint8Array; readonly privateKey: PrivateKey }> {
  const { csr, privateKey } = await certificateRequest({
    subject: [[{ type: oids.commonName, value: name }]],
    extensions: [subjectAltName([{ kind: "dns", value: name }], { critical: false })],
    ...(algorithm === undefined ? {} : { algorithm }),
  })
  return { der: derOf(csr), privateKey }
}

export const derOf = (pem: string): Uint8Array => readPem(pem, 65_536)[0]?.bytes ?? new Uint8Array()

/** Returns the certificates of an answer, DER. */
export const certificatesIn = ({ text }: EstResponse): readonly Uint8Array[] =>
  readCertificatesOnly(Buffer.from(text, "base64"))
