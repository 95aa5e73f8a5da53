// Enrolment by EST relative to `sign` of the same CSR with a token. Both store the certificate durably. A certificate of the client costs
// the verification of its path; a password costs scrypt, which is slow on purpose.
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startChancery } from "./chancery.ts"
import { median, report } from "./figures.ts"
import { measureLoad, rawRequest } from "./load.ts"

const rounds = 5
const seconds = 2
/** During the first seconds, our runtime still compiles frequently used code. */
const warmUpSeconds = 8
const clients = 64
/** Passwords are verified two at a time; more clients would be rejected. */
const clientsWithPassword = 8

const folder = mkdtempSync(join(tmpdir(), "chancery-bench-"))
const file = (name: string) => join(folder, name)
const openssl = (...args: readonly string[]) => execFileSync("openssl", args, { stdio: ["ignore", "pipe", "ignore"] })
const text = (name: string) => readFileSync(file(name), "utf8")
try {
  // The client's certificate comes from a trusted proxy, so that the load needs no TLS on either side of the comparison.
  await using server = await startChancery(folder, ["--trusted-proxies", "loopback"])
  const { port, token, pki } = server
  await pki("POST", "/sys/mounts/pki", { type: "pki" })
  await pki("POST", "/pki/root/generate/internal", { common_name: "Bench Root", key_type: "ec", ttl: "700h" })
  await pki("POST", "/pki/roles/web", {
    allowed_domains: "example.com",
    allow_subdomains: true,
    key_type: "ec",
    ttl: "1h",
  })

  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj"]
  const names = ["-addext", "subjectAltName=DNS:www.example.com"]
  openssl(
    "req",
    "-new",
    ...ec,
    "/CN=www.example.com",
    "-keyout",
    file("key.pem"),
    "-out",
    file("request.pem"),
    ...names,
  )
  openssl("req", "-x509", ...ec, "/CN=Devices", "-keyout", file("ca-key.pem"), "-out", file("ca.pem"))
  openssl("req", "-new", ...ec, "/CN=printer", "-keyout", file("device-key.pem"), "-out", file("device-request.pem"))
  const ca = ["-CA", file("ca.pem"), "-CAkey", file("ca-key.pem")]
  openssl("x509", "-req", "-in", file("device-request.pem"), ...ca, "-days", "1", "-out", file("device.pem"))
  const der = (kind: "req" | "x509", name: string): string =>
    openssl(kind, "-in", file(name), "-outform", "DER").toString("base64")

  await pki("POST", "/sys/policies/acl/device", { policy: 'path "pki/roles/web/est/*" { capabilities = ["update"] }' })
  await pki("POST", "/sys/auth/cert", { type: "cert" })
  await pki("POST", "/auth/cert/certs/devices", { certificate: text("ca.pem"), token_policies: "device" })
  await pki("POST", "/sys/auth/userpass", { type: "userpass" })
  await pki("POST", "/auth/userpass/users/printer", { password: "correct-horse", token_policies: "device" })
  const accessorOf = async (method: string): Promise<string> =>
    ((await pki("GET", `/sys/auth/${method}`)).body as { data: { accessor: string } }).data.accessor
  const [cert, userpass] = [await accessorOf("cert"), await accessorOf("userpass")]
  await pki("POST", "/sys/mounts/pki/tune", { delegated_auth_accessors: [cert, userpass] })
  await pki("POST", "/pki/config/est", {
    enabled: true,
    default_path_policy: "role:web",
    authenticators: { cert: { accessor: cert, cert_role: "devices" }, userpass: { accessor: userpass } },
  })

  const sign = rawRequest(
    "POST",
    "/v1/pki/sign/web",
    token,
    JSON.stringify({ csr: text("request.pem"), common_name: "www.example.com" }),
  )
  const enroll = (credentials: string): string => {
    const body = der("req", "request.pem")
    const head = [
      "POST /v1/pki/est/simpleenroll HTTP/1.1",
      "Host: 127.0.0.1",
      credentials,
      "Content-Type: application/pkcs10",
      `Content-Length: ${body.length}`,
    ]
    return `${head.join("\r\n")}\r\n\r\n${body}`
  }
  const byCertificate = enroll(`Client-Cert: :${der("x509", "device.pem")}:`)
  const byPassword = enroll(`Authorization: Basic ${Buffer.from("printer:correct-horse").toString("base64")}`)
  const rateOf = async (request: string, count = clients, duration = seconds): Promise<number> => {
    const all = Array.from({ length: count }, () => [request])
    const { requestsPerSecond, refused } = await measureLoad({ port, seconds: duration, clients: all })
    if (refused > 0) throw new Error(`${refused} requests were refused`)
    return requestsPerSecond
  }

  for (const request of [sign, byCertificate]) await rateOf(request, clients, warmUpSeconds)
  const found: { signed: number; certificate: number; password: number }[] = []
  for (let round = 0; round < rounds; round += 1)
    found.push({
      signed: await rateOf(sign),
      certificate: await rateOf(byCertificate),
      password: await rateOf(byPassword, clientsWithPassword),
    })
  report(`sign a CSR, ${clients} clients`, median(found.map(({ signed }) => signed)), "per second")
  report("enrol by certificate", median(found.map(({ certificate }) => certificate)), "per second")
  report("enrol by certificate / sign", median(found.map(({ certificate, signed }) => certificate / signed)), "")
  report(
    `enrol by password, ${clientsWithPassword} clients`,
    median(found.map(({ password }) => password)),
    "per second",
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
