// The process that Pulumi starts for dynamic resources, as the SDK ships it, with its methods as the engine calls them.
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createRequire } from "node:module"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { credentials, type ServiceError } from "@grpc/grpc-js"
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb.js"
import type * as messages from "@pulumi/pulumi/proto/provider_pb.js"
import provider from "@pulumi/pulumi/proto/provider_pb.js"
import structs from "google-protobuf/google/protobuf/struct_pb.js"

export type Values = Readonly<Record<string, unknown>>

export interface Existing {
  readonly id: string
  readonly outs: Values
}

export interface DynamicServer extends AsyncDisposable {
  readonly process: ChildProcess
  /** Returns the checked inputs, and the names of invalid properties as `failures`. Secret ones are named by their reasons only. */
  check(news: Values): Promise<{ readonly inputs: Values; readonly failures: readonly string[] }>
  diff(id: string, olds: Values, news: Values): Promise<{ readonly isSame: boolean; readonly replaces: string[] }>
  create(inputs: Values): Promise<Existing>
  /** Returns undefined if the resource is gone. `inputs` is undefined if they are unchanged. */
  read(id: string, outs: Values): Promise<(Existing & { readonly inputs: Values | undefined }) | undefined>
  /** Returns the new outputs. */
  update(id: string, olds: Values, news: Values): Promise<Values>
  delete(id: string, outs: Values): Promise<void>
}

const root = fileURLToPath(new URL("../../..", import.meta.url))
const startingMs = 60_000

/**
 * Starts the process for a program in this folder. The provider's code, which a state refers to, is resolved from the folder's packages.
 */
export async function startDynamicServer(
  environment: Readonly<Record<string, string>>,
  folder = root,
): Promise<DynamicServer> {
  const script = createRequire(join(folder, "program.js")).resolve("@pulumi/pulumi/cmd/dynamic-provider/index.js")
  const child = spawn(process.execPath, [script, "127.0.0.1:9"], {
    cwd: folder,
    env: { ...process.env, PULUMI_NODEJS_PROJECT: "project", ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  })
  const lines = createInterface(child.stdout)
  const [port] = (await once(lines, "line", { signal: AbortSignal.timeout(startingMs) })) as [string]
  const client = new ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure())

  const configuration = new provider.ConfigureRequest()
  configuration.setArgs(structOf({}))
  await answered((done) => client.configure(configuration, done))

  return {
    process: child,
    async check(news) {
      const request = new provider.CheckRequest()
      request.setOlds(structOf({}))
      request.setNews(structOf(news))
      const answer = await answered<messages.CheckResponse>((done) => client.check(request, done))
      return {
        inputs: valuesOf(answer.getInputs()),
        failures: answer
          .getFailuresList()
          .map((failure) => failure.getProperty() || (failure.getReason().split(/\W/, 1)[0] ?? "")),
      }
    },
    async diff(id, olds, news) {
      const request = new provider.DiffRequest()
      request.setId(id)
      request.setOlds(structOf(olds))
      request.setNews(structOf(news))
      const answer = await answered<messages.DiffResponse>((done) => client.diff(request, done))
      const isSame = answer.getChanges() === provider.DiffResponse.DiffChanges.DIFF_NONE
      return { isSame, replaces: answer.getReplacesList() }
    },
    async create(inputs) {
      const request = new provider.CreateRequest()
      request.setProperties(structOf(inputs))
      const answer = await answered<messages.CreateResponse>((done) => client.create(request, done))
      return { id: answer.getId(), outs: valuesOf(answer.getProperties()) }
    },
    async read(id, outs) {
      const request = new provider.ReadRequest()
      request.setId(id)
      request.setProperties(structOf(outs))
      const answer = await answered<messages.ReadResponse>((done) => client.read(request, done))
      if (answer.getId() === "") return undefined
      return { id: answer.getId(), outs: valuesOf(answer.getProperties()), inputs: answer.getInputs()?.toJavaScript() }
    },
    async update(id, olds, news) {
      const request = new provider.UpdateRequest()
      request.setId(id)
      request.setOlds(structOf(olds))
      request.setNews(structOf(news))
      const answer = await answered<messages.UpdateResponse>((done) => client.update(request, done))
      return valuesOf(answer.getProperties())
    },
    async delete(id, outs) {
      const request = new provider.DeleteRequest()
      request.setId(id)
      request.setProperties(structOf(outs))
      await answered((done) => client.delete(request, done))
    },
    async [Symbol.asyncDispose]() {
      client.close()
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, "exit")
      child.kill("SIGINT")
      await ended
    },
  }
}

const answered = <Answer>(
  ask: (done: (error: ServiceError | null, answer: Answer) => void) => unknown,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    ask((error, answer) => (error === null ? resolve(answer) : reject(error)))
  })

const structOf = (values: Values) => structs.Struct.fromJavaScript(values as Record<string, structs.JavaScriptValue>)

const valuesOf = (struct: structs.Struct | undefined): Values => struct?.toJavaScript() ?? {}
