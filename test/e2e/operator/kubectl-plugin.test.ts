// `kubectl chancery` and `chancery operator` with the real kubectl, on certificates that a real operator issues.
import { execFile, spawn } from "node:child_process"
import { chmod, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { builtChancery, run as chancery, temporaryFolder } from "../../cli/chancery.ts"
import {
  actor,
  apply,
  cluster,
  crt,
  describeCertificate,
  programs,
  setUp,
  type Shown,
  useCertificateFixture,
} from "./certificates-fixture.ts"

const plugin = join(import.meta.dirname, "../../../operator/src/kubectl-chancery.ts")
let folder: Awaited<ReturnType<typeof temporaryFolder>>

/** Environment in which kubectl finds the plugin by its name on the PATH. */
const environment = () => ({
  ...process.env,
  ...cluster.environment,
  PATH: `${folder.path}${delimiter}${cluster.environment["PATH"]}`,
})

interface Ended {
  readonly code: number
  readonly out: string
  readonly problem: string
}

const execute = (program: string, words: readonly string[]): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(program, words, { env: environment() }, (error, out, problem) =>
      resolve({ code: typeof error?.code === "number" ? error.code : Number(error !== null), out, problem }),
    )
  })

const kubectl = (...words: readonly string[]) => execute("kubectl", ["chancery", ...words])
const lines = (text: string) => text.trimEnd().split("\n")
const revision = async (namespace: string, name: string) => (await actor(namespace).crt(name)).status["revision"]

describe.skipIf(programs === undefined)("the plugin of kubectl", () => {
  useCertificateFixture()
  beforeAll(async () => {
    folder = await temporaryFolder()
    const script = join(folder.path, "kubectl-chancery")
    await writeFile(script, `#!/bin/sh\nexec "${process.execPath}" "${plugin}" "$@"\n`)
    await chmod(script, 0o755)
  })
  afterAll(() => folder[Symbol.asyncDispose]())

  test("shows all objects, those of a kind, and one with its conditions, certificates and events", async () => {
    const { certificate, waitAll } = await setUp("status")
    await apply(certificate("web"), certificate("lost", { issuerRef: { name: "nowhere" } }))
    await waitAll(crt, ["web"])
    await actor("status").wait(crt, "lost", "Stalled")
    const all = await kubectl("status", "-n", "status")
    expect([all.code, all.problem]).toEqual([0, ""])
    expect(lines(all.out)[0]).toMatch(/^KIND +NAMESPACE +NAME +READY +REASON +EXPIRES +MESSAGE$/)
    expect(all.out).toMatch(/^ClusterConnection +engine +True +Connected /m)
    expect(all.out).toMatch(/^Issuer +status +ca +True +AuthorityFound +2\d{3}-/m)
    expect(all.out).toMatch(/^Certificate +status +web +True +Issued +2\d{3}-.* The Secret web-tls contains/m)
    expect(all.out).toMatch(/^Certificate +status +lost +False +IssuerMissing +There is no Issuer nowhere\.$/m)

    const listed = JSON.parse((await kubectl("status", "ecrt", "-A", "-o", "json")).out) as {
      readonly items: unknown[]
    }
    expect(listed.items).toContainEqual(expect.objectContaining({ namespace: "status", name: "web", ready: "True" }))

    const one = await kubectl("status", "certificate/web", "-n", "status")
    expect(one.out).toMatch(/^Ready: +True \(Issued\)$/m)
    expect(one.out).toMatch(/^Ready +True +Issued +\S+ +The Secret/m)
    expect(one.out).toMatch(/^1 +[0-9a-f:]+ +2\S+ +in use$/m)
    expect(one.out).toMatch(/^2\S+ +Normal +Issued +1 +The Secret web-tls/m)
    expect((await kubectl("status", "crt/web", "-n", "status")).code).toBe(64)
    const absent = await kubectl("status", "certificate", "none", "-n", "status")
    expect([absent.code, absent.problem]).toEqual([1, expect.stringMatching(/^kubectl chancery: .*"none" not found/)])
  })

  test("shows the certificate of a Secret and its differences from the spec, and never the key", async () => {
    const { certificate, waitAll, secret, annotate, kubectl: raw } = await setUp("inspect")
    await apply(certificate("web", { dnsNames: ["web.example.com", "www.example.com"] }))
    await waitAll(crt, ["web"])
    const printed = describeCertificate(await secret("web-tls"), "-fingerprint", "-sha256")
    const fingerprint = printed.split("=")[1]?.trim().replaceAll(":", "").toLowerCase()
    const inspected = await kubectl("inspect", "web", "-n", "inspect")
    expect([inspected.code, inspected.problem]).toEqual([0, ""])
    expect(inspected.out).toMatch(/^Names: +web\.example\.com, www\.example\.com$/m)
    expect(inspected.out).toMatch(/^Issuer: +CN=inspect root$/m)
    expect(inspected.out).toMatch(new RegExp(`^SHA-256: +${fingerprint}$`, "m"))
    expect(inspected.out).toContain("The Secret matches the spec.")

    await annotate("web", "chancery.dev/paused=true")
    await raw(["patch", crt, "web", "-n", "inspect", "--type=merge", "-p", '{"spec":{"dnsNames":["a.example.com"]}}'])
    const changed = await kubectl("inspect", "web", "-n", "inspect", "-o", "json")
    expect(JSON.parse(changed.out)).toMatchObject({
      certificate: { fingerprint },
      authorities: [{ subject: "CN=inspect root" }],
      differences: ["spec.dnsNames: expected a.example.com, got web.example.com, www.example.com"],
    })
    await raw(["delete", "secret", "web-tls", "-n", "inspect"])
    const gone = await kubectl("inspect", "web", "-n", "inspect")
    expect(gone.out).toContain("There is no Secret web-tls.")
    for (const { out, problem } of [inspected, changed, gone]) expect(out + problem).not.toMatch(/PRIVATE|tls\.key/)
  })

  test("prints events in the order of time, and new ones as they happen", async () => {
    const { certificate, waitAll } = await setUp("events")
    await apply(certificate("first"))
    await waitAll(crt, ["first"])
    await expect.poll(async () => (await kubectl("events", "-n", "events")).out).toContain("Certificate/first")
    const child = spawn("kubectl", ["chancery", "events", "-n", "events", "--watch"], { env: environment() })
    let out = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text))
    try {
      await expect.poll(() => out).toContain("Certificate/first")
      await apply(certificate("second"))
      await expect.poll(() => out).toContain("Certificate/second")
    } finally {
      child.kill("SIGINT")
    }
    const { items } = JSON.parse((await kubectl("events", "-n", "events", "-o", "json")).out) as {
      readonly items: readonly { readonly at: string; readonly object: string }[]
    }
    expect(items.map(({ at }) => Date.parse(at))).toEqual(
      items.map(({ at }) => Date.parse(at)).toSorted((a, b) => a - b),
    )
    expect(items.findIndex(({ object }) => object === "Certificate/first")).toBeLessThan(
      items.findIndex(({ object }) => object === "Certificate/second"),
    )
  })

  test("renews selected Certificates, waits for them, and ends with a code that tells the result", async () => {
    const { certificate, issuer, waitAll, kubectl: raw } = await setUp("renew")
    await apply(
      issuer("other"),
      certificate("web", {}, { labels: { app: "web" } }),
      certificate("api"),
      certificate("else", { issuerRef: { name: "other" } }),
    )
    await waitAll(crt, ["web", "api", "else"])
    const dry = await kubectl("renew", "--issuer", "renew/ca", "--dry-run")
    expect(
      lines(dry.out)
        .slice(1)
        .map((line) => line.split(/ +/).slice(0, 3)),
    ).toEqual([
      ["renew", "api", "Selected"],
      ["renew", "web", "Selected"],
    ])
    expect(await revision("renew", "web")).toBe(1)

    const labelled = await kubectl("renew", "-l", "app=web", "-n", "renew", "--wait", "--timeout", "60s")
    expect([labelled.code, labelled.problem]).toEqual([0, ""])
    expect(labelled.out).toMatch(/^renew\/web: The new certificate \S+ expires at 2/m)
    expect(await revision("renew", "web")).toBe(2)

    const named = await kubectl("renew", "api", "else", "-n", "renew", "--wait", "--timeout", "60s", "-o", "json")
    expect(JSON.parse(named.out)).toMatchObject({
      items: [
        { name: "api", result: "Renewed" },
        { name: "else", result: "Renewed" },
      ],
    })

    await raw(["delete", "issuers.chancery.dev", "other", "-n", "renew"])
    const failed = await kubectl("renew", "else", "-n", "renew", "--wait", "--timeout", "5s")
    expect([failed.code, failed.problem]).toEqual([75, "kubectl chancery: Not renewed within 5s: renew/else.\n"])
    await apply(certificate("web", { role: "none" }, { labels: { app: "web" } }))
    const refused = await kubectl("renew", "web", "-n", "renew", "--wait", "--timeout", "60s")
    expect([refused.code, refused.problem]).toEqual([1, "kubectl chancery: Not renewed: renew/web.\n"])

    const empty = await kubectl("renew", "-n", "renew")
    expect([empty.code, empty.problem]).toEqual([64, expect.stringMatching(/Name Certificates, or select them/)])
    const absent = await kubectl("status", "--context", "none")
    expect([absent.code, absent.problem]).toEqual([64, expect.stringMatching(/--context cannot be "none"/)])
  })

  test("renews all Certificates of an issuer at its pace, those that expire first before the others", async () => {
    const { certificate, issuer, waitAll, crt: shown } = await setUp("pace")
    const hours: Readonly<Record<string, number>> = { late: 400, early: 200, middle: 300 }
    await apply(
      issuer("ca", { renewals: { maxPerHour: 1_800 } }),
      ...Object.entries(hours).map(([name, count]) => certificate(name, { duration: `${count}h` })),
    )
    await waitAll(crt, Object.keys(hours))
    const words = ["operator", "renew", "--issuer", "pace/ca", "--wait", "--timeout", "60s"]
    const ended = await chancery(words, { program: builtChancery, environment: cluster.environment })
    expect([ended.code, ended.stderr]).toEqual([0, ""])
    expect(ended.out).toContain("The Issuer ca limits such renewals to 1800 an hour")
    const startOf = ({ status }: Shown) => Date.parse(String(status["lastPacedRenewalTime"]))
    const starts = await Promise.all(["early", "middle", "late"].map(async (name) => startOf(await shown(name))))
    expect(starts).toEqual(starts.toSorted((a, b) => a - b))
    expect(new Set(starts).size).toBe(3)
    for (const name of Object.keys(hours)) expect(await revision("pace", name)).toBe(2)
  })
})
