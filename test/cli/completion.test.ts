// The completion script in a real bash, which then calls the command at each Tab.
import { execFile } from "node:child_process"
import { chmod, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { builtChancery, main, run, temporaryFolder } from "./chancery.ts"

const tab = "\t"

/** The part of bash-completion that the script uses; the words here contain neither = nor :. */
const framework = `_get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur="\${COMP_WORDS[COMP_CWORD]}"; prev=""; }`

/** Separates the answers. */
const separator = "----"

/** Returns the completions of each beginning, all from one shell. */
async function offered(
  folder: string,
  beginnings: readonly (readonly string[])[],
): Promise<readonly (readonly string[])[]> {
  const completions = beginnings.map(
    (words) => `
    COMP_WORDS=(chancery ${words.map((word) => `'${word}'`).join(" ")}) COMP_CWORD=${words.length}
    COMPREPLY=()
    __chancery_complete
    printf '%s\\n' "\${COMPREPLY[@]}"`,
  )
  const script = `
    ${framework}
    compopt() { :; }
    eval "$(chancery completion bash)"
    ${completions.join(`\necho ${separator}`)}`
  const { stdout } = await promisify(execFile)("bash", ["-c", script], {
    env: { ...process.env, PATH: `${folder}:${process.env["PATH"]}` },
  })
  return stdout
    .split(`${separator}\n`)
    .map((answer) => answer.split("\n").flatMap((line) => line.split(tab)[0]?.trim() || []))
}

test("bash completes commands, subcommands and options", async () => {
  await using folder = await temporaryFolder()
  const command = join(folder.path, "chancery")
  await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
  await chmod(command, 0o755)
  expect(
    await offered(folder.path, [["worksp"], ["workspace", ""], ["workspace", "unlock", "--fo"], ["audit", "ha"]]),
  ).toEqual([
    ["workspace"],
    expect.arrayContaining(["list", "show", "lock", "extend-lock", "unlock", "tag"]),
    ["--force"],
    ["hash"],
  ])
})

test("bash completes the commands of the operator if it is installed", async () => {
  await using folder = await temporaryFolder()
  const command = join(folder.path, "chancery")
  await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' '${builtChancery}' "$@"\n`)
  await chmod(command, 0o755)
  expect(await offered(folder.path, [["oper"], ["operator", ""], ["operator", "renew", "--cluster"]])).toEqual([
    ["operator"],
    expect.arrayContaining(["status", "renew", "inspect", "events"]),
    ["--cluster-issuer"],
  ])
})

test.each(["zsh", "fish", "powershell"])("completion for %s prints a script and nothing else", async (shell) => {
  const { code, out, stderr } = await run(["completion", shell])
  expect([code, stderr]).toEqual([0, ""])
  expect(out).toMatch(/chancery complete|complete --/)
})

test("an unknown shell is rejected", async () => {
  expect(await run(["completion", "tcsh"])).toMatchObject({
    code: 64,
    stderr: expect.stringContaining("Allowed choices"),
  })
})
