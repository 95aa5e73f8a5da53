// Uploads a state to a workspace as Terraform does.
import { stateFile, stateVersionDocument } from "../../../engine/testing/state-file.ts"
import type { startEngine } from "./fixture.ts"

export async function putState(
  { engine, url, token }: Pick<Awaited<ReturnType<typeof startEngine>>, "engine" | "token" | "url">,
  id: string,
  serial: number,
  outputs: Readonly<Record<string, unknown>>,
): Promise<void> {
  const state = stateFile({ serial, lineage: `lineage of ${id}`, outputs })
  await engine.workspaces.lock({ id }, { reason: "" })
  const answer = await fetch(`${url}/api/v2/workspaces/${id}/state-versions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/vnd.api+json" },
    body: JSON.stringify(stateVersionDocument(state, { inline: true })),
  })
  if (answer.status !== 201) throw new Error(await answer.text())
  await engine.workspaces.unlock({ id })
}
