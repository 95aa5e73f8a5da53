// Releases of terraform and OpenTofu as small programs of the tests, and an HTTP server with the layout of a mirror.
import { createHash } from "node:crypto"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import type { OpenPgpSigner } from "./openpgp-signer.ts"
import { zipArchive, type ZipEntry } from "./zip-archive.ts"

export type MirrorFiles = Map<string, Buffer>

/** Program that prints a version, as terraform and tofu do. */
export const versionScript = (product: string, version: string): string => `#!/bin/sh\necho "${product} v${version}"\n`

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

export interface ReleaseOptions {
  readonly kind?: "terraform" | "opentofu"
  readonly version: string
  readonly signer: OpenPgpSigner
  /** Entries of the archive. Default: a license and a program that prints the version. */
  readonly entries?: readonly ZipEntry[]
  /** Bytes of the archive. Default: an archive of `entries`. */
  readonly archive?: Buffer
}

/** Returns the archive of a release for linux_amd64, its checksums and their signature, by file name. */
export function releaseFiles({ kind = "terraform", version, signer, ...options }: ReleaseOptions): MirrorFiles {
  const [program, product, extension] =
    kind === "terraform" ? ["terraform", "Terraform", "sig"] : ["tofu", "OpenTofu", "gpgsig"]
  const entries = options.entries ?? [
    { name: "LICENSE.txt", content: "license" },
    { name: program, content: versionScript(product, version) },
  ]
  const archive = options.archive ?? zipArchive(entries)
  const base = `${program}_${version}`
  const sums = Buffer.from(`${"0".repeat(64)}  ${base}_darwin_arm64.zip\n${sha256(archive)}  ${base}_linux_amd64.zip\n`)
  return new Map([
    [`${base}_linux_amd64.zip`, archive],
    [`${base}_SHA256SUMS`, sums],
    [`${base}_SHA256SUMS.${extension}`, signer.sign(sums)],
  ])
}

/** Adds a release to the files of a mirror, by path. */
export function addRelease(files: MirrorFiles, options: ReleaseOptions): void {
  const folder = options.kind === "opentofu" ? `tofu/v${options.version}` : `terraform/${options.version}`
  for (const [name, content] of releaseFiles(options)) files.set(`${folder}/${name}`, content)
}

export interface ReleaseMirror extends AsyncDisposable {
  readonly url: string
  /** Paths that were requested. */
  readonly requests: readonly string[]
}

/** Serves the files. `handler` answers before them if it returns true. */
export async function openReleaseMirror(
  files: MirrorFiles,
  handler: (...args: Parameters<RequestListener>) => boolean = () => false,
): Promise<ReleaseMirror> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").slice(1)
    requests.push(path)
    if (handler(request, response)) return
    const content = files.get(path)
    if (content === undefined) response.writeHead(404).end()
    else response.writeHead(200).end(content)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
