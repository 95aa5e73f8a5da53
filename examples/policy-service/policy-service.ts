// Listens for Chancery's questions and answers each with a certificate to sign or the reason why not. See README.md.
import { readFileSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import { parseArgs } from "node:util"
import { decide, type Policies } from "./decide.ts"
import type { Question } from "./question.ts"

const { values } = parseArgs({
  options: {
    listen: { type: "string", default: "127.0.0.1:8443" },
    certificate: { type: "string", default: "server.pem" },
    key: { type: "string", default: "server-key.pem" },
    /** PEM file of the authority whose certificates clients must present. */
    "client-authority": { type: "string" },
    policies: { type: "string", default: new URL("policies.json", import.meta.url).pathname },
  },
})

const policies = JSON.parse(readFileSync(values.policies, "utf8")) as Policies
const clientAuthority = values["client-authority"]

const server = createServer(
  {
    cert: readFileSync(values.certificate),
    key: readFileSync(values.key),
    ...(clientAuthority === undefined
      ? {}
      : { ca: readFileSync(clientAuthority), requestCert: true, rejectUnauthorized: true }),
  },
  (request, response) => {
    answer(request, response).catch((error: unknown) => {
      // Chancery reads any status but 200 as "no decision" and does not pass the body on.
      console.error(error)
      response.writeHead(500).end()
    })
  },
)

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "POST") {
    response.writeHead(405).end()
    return
  }
  const question = JSON.parse(await bodyOf(request)) as Question
  const { request_uuid, vault_request_values: requestValues } = question
  if (question.request_version !== 1) throw new Error(`version ${question.request_version} is not spoken here`)
  const decision = await decide(question, policies)
  console.log(
    JSON.stringify({
      request_uuid,
      mode: requestValues.issuance_mode,
      policy: requestValues.policy_name,
      error: decision.error,
    }),
  )
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify({ request_uuid, ...decision }))
}

const maxBodyLength = 1024 * 1024

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ""
  for await (const piece of request.setEncoding("utf8") as AsyncIterable<string>) {
    body += piece
    if (body.length > maxBodyLength) throw new Error("the question is too long")
  }
  return body
}

const at = values.listen.lastIndexOf(":")
server.listen(Number(values.listen.slice(at + 1)), values.listen.slice(0, at), () => {
  const address = server.address()
  if (typeof address === "object" && address !== null) console.log(`listening on https://localhost:${address.port}/`)
})
