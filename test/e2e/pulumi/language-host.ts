// Language host for Node in place of Pulumi's `pulumi-language-nodejs`, which is built from no published module. Like that one, it runs a
// program with the SDK's `cmd/run` in a separate process. It does not implement code generation and package installation.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createRequire } from "node:module"
import { join } from "node:path"
import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall, status } from "@grpc/grpc-js"
import { LanguageRuntimeService } from "@pulumi/pulumi/proto/language_grpc_pb.js"
import type { RunRequest, RunResponse } from "@pulumi/pulumi/proto/language_pb.js"
import messages from "@pulumi/pulumi/proto/language_pb.js"
import plugins from "@pulumi/pulumi/proto/plugin_pb.js"

/** Exit code of `cmd/run` after it has printed the error itself. */
const alreadyReportedCode = 32

const engine = process.argv.at(-1) ?? ""

async function run(request: RunRequest): Promise<RunResponse> {
  const info = request.getInfo()
  const folder = info?.getProgramDirectory() ?? request.getPwd()
  const options = info?.getOptions()?.toJavaScript() ?? {}
  const program = createRequire(join(folder, "program.js")).resolve("@pulumi/pulumi/cmd/run")
  const args = [
    ["--monitor", request.getMonitorAddress()],
    ["--engine", engine],
    ["--organization", request.getOrganization()],
    ["--project", request.getProject()],
    ["--stack", request.getStack()],
    ["--pwd", request.getPwd()],
    ...(request.getDryrun() ? [["--dry-run"]] : []),
    ["--parallel", String(request.getParallel())],
  ].flat()
  const child = spawn(process.execPath, [program, ...args, join(folder, info?.getEntryPoint() ?? ".")], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      PULUMI_NODEJS_TYPESCRIPT: options["typescript"] === false ? "false" : "true",
      PULUMI_CONFIG: JSON.stringify(Object.fromEntries(request.getConfigMap().entries())),
      PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.getConfigsecretkeysList()),
    },
  })
  const [code] = (await once(child, "exit")) as [number | null]
  const response = new messages.RunResponse()
  if (code === alreadyReportedCode) response.setBail(true)
  else if (code !== 0) response.setError(`Program exited with code ${code}`)
  return response
}

async function answer(request: RunRequest, done: sendUnaryData<RunResponse>): Promise<void> {
  done(null, await run(request).catch(refusal))
}

function refusal(error: unknown): RunResponse {
  const response = new messages.RunResponse()
  response.setError(String(error))
  return response
}

const unanswered = (call: unknown, done: sendUnaryData<never>): void =>
  done({ code: status.UNIMPLEMENTED, details: "not here" })

const server = new Server()
server.addService(LanguageRuntimeService, {
  ...Object.fromEntries(Object.keys(LanguageRuntimeService).map((name) => [name, unanswered])),
  getPluginInfo(_call: unknown, done: sendUnaryData<InstanceType<typeof plugins.PluginInfo>>) {
    const info = new plugins.PluginInfo()
    info.setVersion("3.0.0")
    done(null, info)
  },
  getRequiredPackages(_call: unknown, done: sendUnaryData<InstanceType<typeof messages.GetRequiredPackagesResponse>>) {
    done(null, new messages.GetRequiredPackagesResponse())
  },
  run: ({ request }: ServerUnaryCall<RunRequest, RunResponse>, done: sendUnaryData<RunResponse>) =>
    void answer(request, done),
})
const port = await new Promise<number>((resolve, reject) => {
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
    error === null ? resolve(bound) : reject(error),
  )
})
process.stdout.write(`${port}\n`)
