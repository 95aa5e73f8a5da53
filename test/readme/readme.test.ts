import { execFile } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { copyFile, cp, mkdir, readFile, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { freePort } from "../free-port.ts"
import { builtChancery, serve, temporaryFolder } from "../cli/chancery.ts"
import { certbot, lego } from "../toolchain/acme.ts"
import { publicProgram } from "../toolchain/public-program.ts"
import { terraformPrograms } from "../toolchain/terraform.ts"
import { codeBlocks, shellBlocks } from "./shell-blocks.ts"

const shell = promisify(execFile)
const defaultUrl = "http://127.0.0.1:8420"

/** Returns the shell blocks of the first screen, unchanged: the start command, and the commands to run then. */
async function firstScreen() {
  const [start = "", ...workspaces] = await shellBlocks("Quick start")
  return {
    start,
    workspaces,
    certificates: await shellBlocks("Certificates"),
    manifests: await shellBlocks("Manifests"),
  }
}

async function descriptionOf(url: string, folder: string): Promise<unknown> {
  const token = (await readFile(`${folder}/.chancery/root-token`, "utf8")).trim()
  const workspace = `${url}/api/v2/organizations/default/workspaces/platform`
  const answer = await fetch(workspace, { headers: { authorization: `Bearer ${token}` } })
  return ((await answer.json()) as { data: { attributes: { description: string } } }).data.attributes.description
}

/** Runs the blocks with another port, because another server may use the default one. */
async function typed(blocks: readonly string[], { url, folder }: { readonly url: string; readonly folder: string }) {
  const script = blocks.join("\n").replaceAll(defaultUrl, url)
  expect(script).not.toBe(blocks.join("\n"))
  return shell("sh", ["-e", "-c", script], { cwd: folder })
}

/** Parses concatenated JSON documents, as curl prints them. */
const documents = (text: string): unknown[] =>
  text === "" ? [] : text.split(/(?<=\})(?=\{)/).map((document) => JSON.parse(document) as unknown)

test(
  "the first screen, typed as written, creates, tags, finds and locks a workspace and shows the conflict",
  {
    timeout: 60_000,
  },
  async () => {
    const { start, workspaces } = await firstScreen()
    expect(start).toBe("npm ci && npm start\n")
    await using folder = await temporaryFolder()
    await using served = await serve(["dev"], { folder: folder.path })

    const { stdout, stderr } = await typed(workspaces, { url: served.url, folder: folder.path })

    expect(stderr).toBe("")
    const network = { type: "workspaces", attributes: { name: "network" } }
    expect(documents(stdout)).toMatchObject([
      { data: network },
      { data: [network], meta: { pagination: { "total-count": 1 } } },
      { data: { ...network, attributes: { locked: true, "locked-reason": "moving subnets" } } },
      { errors: [{ status: "409", title: "conflict" }] },
    ])
  },
)

test(
  "the certificate screen, typed as written, issues, signs, verifies and revokes, and shows it on the CRL and in OCSP",
  {
    timeout: 60_000,
  },
  async () => {
    const { certificates } = await firstScreen()
    await using folder = await temporaryFolder()
    await using served = await serve(["dev"], { folder: folder.path })

    const { stdout } = await typed(certificates, { url: served.url, folder: folder.path })

    const serial = /"serial_number":"([^"]+)"[^]*api\.pem: OK/.exec(stdout)
    expect(serial).not.toBeNull()
    expect(stdout).toContain("BEGIN EC PRIVATE KEY")
    expect(stdout).toMatch(/"revocation_time":\d{10}/)
    const issued = (await readFile(`${folder.path}/api.pem`, "utf8")).trim()
    const { serialNumber } = new X509Certificate(issued)
    expect(stdout).toContain(`Serial Number: ${serialNumber}`)
    expect(stdout).toMatch(/api\.pem: revoked/)
  },
)

const tools = await terraformPrograms()

test.skipIf(tools.length === 0).each(tools)(
  "the Terraform screen, typed as written with $kind, applies on the agent, and the second plan is empty",
  async ({ program, kind }) => {
    const [configuration = ""] = await codeBlocks("README.md", "Terraform", "hcl")
    const [start = "", ...commands] = await shellBlocks("Terraform")
    const [, words = ""] = /^npm start -- (.*)\n$/.exec(start) ?? []
    expect(words).toBe("--agent")
    await using folder = await temporaryFolder()
    const tlsPort = String(await freePort())
    const { stdout: path } = await shell("sh", ["-c", 'command -v "$0"', program])
    for (const [name, programName] of [
      ["agent", kind === "terraform" ? "terraform" : "tofu"],
      // As the page says, its commands are those of both.
      ["caller", "terraform"],
    ] as const) {
      await mkdir(`${folder.path}/${name}`)
      // A symbolic link would lead out of what a sandbox can read.
      await copyFile(path.trim(), `${folder.path}/${name}/${programName}`)
    }
    // Where both tools are on the PATH, terraform is the default.
    await using served = await serve(["dev", ...words.split(" "), ...(kind === "terraform" ? [] : [kind])], {
      folder: folder.path,
      environment: { CHANCERY_TLS_LISTEN: `127.0.0.1:${tlsPort}`, PATH: `${folder.path}/agent:${process.env["PATH"]}` },
    })
    await expect.poll(served.out).toContain("# plans and applies execute on the agent of this server")
    await expect.poll(served.stderr).toContain("The agent dev waits for runs.")
    await mkdir(`${folder.path}/hello`)
    await writeFile(`${folder.path}/hello/main.tf`, configuration.replace("8421", tlsPort))
    const env = { PATH: `${folder.path}/caller:${process.env["PATH"]}`, HOME: folder.path, CHECKPOINT_DISABLE: "1" }

    const { stdout } = await shell("sh", ["-e", "-c", commands.join("\n")], { cwd: folder.path, env })

    expect(stdout).toMatch(/Running apply in[^]*1 added, 0 changed, 0 destroyed[^]*Running plan in[^]*No changes/)
    served.child.kill("SIGTERM")
    expect((await served.ended).code).toBe(0)
  },
)

test.skipIf(tools.length === 0)(
  "the Terraform screen without an agent ends with an error that names the command, and dev says what is missing",
  async () => {
    const [configuration = ""] = await codeBlocks("README.md", "Terraform", "hcl")
    const [, ...commands] = await shellBlocks("Terraform")
    await using folder = await temporaryFolder()
    const tlsPort = String(await freePort())
    await using served = await serve(["dev"], {
      folder: folder.path,
      environment: { CHANCERY_TLS_LISTEN: `127.0.0.1:${tlsPort}` },
    })
    await expect.poll(served.out).toContain("# plans and applies need an agent: start the server with --agent")
    await mkdir(`${folder.path}/hello`)
    await writeFile(`${folder.path}/hello/main.tf`, configuration.replace("8421", tlsPort))
    const script = commands.join("\n").replaceAll("terraform -chdir", `${tools[0]?.program} -chdir`)
    const env = { PATH: process.env["PATH"], HOME: folder.path, CHECKPOINT_DISABLE: "1" }
    await expect(shell("sh", ["-e", "-c", script], { cwd: folder.path, env })).rejects.toMatchObject({
      stderr: expect.stringMatching(/No agent serves organization default\.\s+[^]*chancery agent/),
    })
  },
)

const clients = [await publicProgram(certbot), await publicProgram(lego)]

test.skipIf(clients.includes(undefined))(
  "the ACME screen, typed as written, gets certificates that lead to the root with certbot and with lego",
  async () => {
    const [start = "", ...byClients] = await shellBlocks("ACME")
    const [, words = ""] = /^npm start -- (.*)\n$/.exec(start) ?? []
    await using folder = await temporaryFolder()
    const [httpPort, tlsPort] = [String(await freePort()), String(await freePort())]
    await using _served = await serve(["dev", ...words.replace("5002", httpPort).split(" ")], {
      folder: folder.path,
      environment: { CHANCERY_TLS_LISTEN: `127.0.0.1:${tlsPort}` },
    })
    const scripts = byClients.map((block) => block.replaceAll("8421", tlsPort).replaceAll("5002", httpPort))
    expect(scripts.map((script) => script.trim().split("\n").length)).toEqual([4, 4])
    const folders = clients.map((program = "") => dirname(program)).filter((each) => each !== ".")
    const env = { ...process.env, PATH: [...folders, process.env["PATH"]].join(":") }

    const verified: string[] = []
    for (const script of scripts)
      verified.push(
        ...((await shell("sh", ["-e", "-c", script], { cwd: folder.path, env })).stdout.match(/^.*: OK$/m) ?? []),
      )

    expect(verified).toEqual(["certbot/live/localhost/cert.pem: OK", "lego/certificates/localhost.crt: OK"])
  },
)

test("the manifests of the first screen are reconciled, and a change to one reaches the server within moments", async () => {
  const { workspaces, manifests } = await firstScreen()
  await using folder = await temporaryFolder()
  await cp(new URL("../../examples/manifests", import.meta.url), `${folder.path}/examples/manifests`, {
    recursive: true,
  })
  await using served = await serve(["dev"], { folder: folder.path, program: builtChancery })
  for (const line of ["Workspace default/platform: Available.", "Certificate default/web: Issued."])
    await expect.poll(served.out).toContain(line)

  // A busy machine can take longer at times. One in five within the second shows that the time is not spent waiting.
  const manifest = `${folder.path}/examples/manifests/workspace.yaml`
  const original = await readFile(manifest, "utf8")
  const tookMs: number[] = []
  for (let edit = 1; edit <= 5; edit += 1) {
    const description = `Edit ${edit}`
    const writtenAt = performance.now()
    await writeFile(manifest, original.replace("What every team builds on", description))
    await expect.poll(() => descriptionOf(served.url, folder.path), { interval: 10, timeout: 10_000 }).toBe(description)
    tookMs.push(Math.round(performance.now() - writtenAt))
  }
  console.log(`from an edited manifest to the engine: ${tookMs.join(", ")} ms`)
  expect(Math.min(...tookMs)).toBeLessThan(1_000)
  await writeFile(manifest, original)

  const variables = workspaces.slice(0, 1)
  const { stdout } = await typed([...variables, ...manifests], { url: served.url, folder: folder.path })
  expect(stdout).toBe('"description":"Networks and clusters"\nweb.pem: OK\n')
})

test("npm start runs the commands of the first screen", async () => {
  const manifest = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")) as {
    scripts: Record<string, string>
  }
  expect(manifest.scripts["start"]).toMatch(/cli\/main\.js dev$/)
})
