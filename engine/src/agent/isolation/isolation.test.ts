// Runs real commands with every kind of isolation that this machine allows. Containers are of an empty image, with the programs of the
// machine as readable folders, so that no registry is needed.
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { bubblewrap } from "../../../../test/toolchain/bubblewrap.ts"
import { printNotice } from "../../../../test/toolchain/missing.ts"
import { publicProgram } from "../../../../test/toolchain/public-program.ts"
import type { Command, Isolation, IsolationKind, IsolationOptions, Limits } from "./isolation.ts"
import { openIsolation } from "./open-isolation.ts"

const image = `localhost/chancery-isolation-test:${process.pid}`
const mebibyte = 1_048_576
const isLinux = process.platform === "linux"
const isRoot = process.getuid?.() === 0

/** Folders with the programs of the machine. */
const programFolders = ["/usr", "/bin", "/lib", ...(isLinux ? ["/lib64"] : [])]

const bwrap = isLinux ? await publicProgram(bubblewrap) : undefined
const podman = await findPodman()
const searchPath = [...(bwrap?.includes("/") === true ? [dirname(bwrap)] : []), process.env["PATH"]].join(delimiter)

interface Kind {
  readonly kind: Exclude<IsolationKind, "auto">
  readonly isAvailable: boolean
  readonly options: Partial<IsolationOptions>
}
const kinds: readonly Kind[] = [
  { kind: "none", isAvailable: true, options: {} },
  { kind: "sandbox", isAvailable: bwrap !== undefined, options: {} },
  { kind: "user", isAvailable: isRoot, options: { runAs: "nobody" } },
  { kind: "container", isAvailable: podman !== undefined, options: { container: { image, network: "none" } } },
]
if (!isRoot) printNotice("The tests do not run as root, so runs as another user are not tested.")

/** Returns the variables with which podman runs containers here, after making the empty image. */
async function findPodman(): Promise<NodeJS.ProcessEnv | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-podman-"))
  const configuration = join(folder, "containers.conf")
  // Kernels with hybrid cgroups, and machines that cannot raise hard limits, need other settings than podman's own.
  await writeFile(
    configuration,
    '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n[containers]\ndefault_ulimits = ["nofile=10000:10000", "nproc=4096:4096"]\n',
  )
  const archive = join(folder, "empty.tar")
  execFileSync("tar", ["--create", "--file", archive, "--files-from", "/dev/null"])
  const volumes = programFolders.flatMap((path) => ["--volume", `${path}:${path}:ro`])
  for (const settings of [{}, { CONTAINERS_CONF: configuration }]) {
    const env = { ...process.env, ...settings }
    const call = (...args: string[]) => execFileSync("podman", args, { env, stdio: ["ignore", "pipe", "pipe"] })
    try {
      call("import", archive, image)
      call("run", "--rm", "--network", "none", ...volumes, image, "/usr/bin/true")
      return env
    } catch {
      // The next settings may do.
    }
  }
  printNotice("podman is missing or starts no container, so runs in containers are not tested.")
  await rm(folder, { recursive: true })
  return undefined
}

afterAll(() => {
  if (podman !== undefined) execFileSync("podman", ["rmi", "--force", image], { env: podman, stdio: "ignore" })
})

const relaxed: Limits = { timeMs: 120_000, memoryBytes: null, graceMs: 60_000 }

async function open({ kind, options }: Kind, changes: Partial<IsolationOptions> = {}): Promise<Isolation> {
  const environment = { ...process.env, ...podman, PATH: searchPath }
  const isolation = await openIsolation(
    { kind, limits: relaxed, agent: `test-${process.pid}`, hidden: [], ...options, ...changes },
    environment,
  )
  onTestFinished(() => isolation[Symbol.asyncDispose]())
  return isolation
}

async function temporaryFolder(prefix = "chancery-run-"): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

interface Started {
  readonly root: string
  readonly ended: Promise<{ exitCode: number | null; endedBy: string; stdout: string; stderr: string }>
  interrupt(): void
  kill(): void
  /** Resolves when the command has printed this. */
  printed(text: string): Promise<void>
}

/** Starts a command in a new folder. Its default program is a shell with this script. */
async function start(isolation: Isolation, script: string, changes: Partial<Command> = {}): Promise<Started> {
  const root = changes.root ?? (await temporaryFolder())
  const output = { stdout: "", stderr: "" }
  const running = isolation.run({
    program: "/bin/sh",
    args: ["-c", script],
    root,
    cwd: root,
    environment: { PATH: "/usr/bin:/bin", HOME: root },
    readable: isolation.describe()[0]?.includes("container") === true ? programFolders : [],
    writable: [],
    onOutput: (bytes, stream) => void (output[stream] += Buffer.from(bytes).toString()),
    ...changes,
  })
  const ended = running.ended.then((result) => ({ ...result, ...output }))
  ended.catch(() => undefined)
  return {
    root,
    ended,
    interrupt: () => running.interrupt(),
    kill: () => running.kill(),
    async printed(text) {
      await expect.poll(() => output.stdout).toContain(text)
    },
  }
}

/** Returns the processes that sleep for this time, as the machine sees them. */
const sleepers = (seconds: string): readonly string[] =>
  execFileSync("ps", ["-axo", "stat=,args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => /^[^Z]\S* +sleep /.test(line) && line.trimEnd().endsWith(` ${seconds}`))

/** Durations that no other process of the machine sleeps for. */
let sleepCount = 0
const uniqueSeconds = (): string => `${100_000 + (process.pid % 100_000)}.${(sleepCount += 1)}`

describe.each(kinds.filter(({ isAvailable }) => isAvailable))("isolation $kind", (one) => {
  const { kind } = one

  test("writes to its folder, returns both outputs and the exit code", async () => {
    const isolation = await open(one)
    const root = await temporaryFolder()
    const cwd = join(root, "configuration")
    await mkdir(cwd)
    const command = await start(isolation, "pwd; echo problem >&2; echo text > ../file; exit 3", { root, cwd })
    expect(await command.ended).toEqual({ exitCode: 3, endedBy: "exit", stdout: `${cwd}\n`, stderr: "problem\n" })
    expect(await readFile(join(root, "file"), "utf8")).toBe("text\n")
  })

  test("gives the environment of the command and no other", async () => {
    const isolation = await open(one)
    const environment = { PATH: "/usr/bin", HOME: "/nowhere", TF_VAR_text: "a 'b' \"c\" $d #e", TF_VAR_empty: "" }
    const multiline = { TF_VAR_lines: "one\ntwo" }
    const command = await start(isolation, "", {
      program: "/usr/bin/env",
      args: ["--null"],
      environment: { ...environment, ...multiline },
    })
    const { stdout } = await command.ended
    const received = new Map(
      stdout.split("\0").flatMap((line) => (line === "" ? [] : [[line.split("=")[0] ?? "", line]])),
    )
    // An engine adds these.
    if (kind === "container") for (const name of ["HOSTNAME", "TERM", "container"]) received.delete(name)
    const expected = Object.entries({ ...environment, ...multiline, PWD: command.root })
    expect([...received.values()].toSorted()).toEqual(expected.map(([name, value]) => `${name}=${value}`).toSorted())
  })

  test("gives no descriptors that other child processes do not have", async () => {
    const isolation = await open(one)
    const script = "for f in /dev/fd/*; do echo ${f##*/}; done"
    const { stdout } = await (await start(isolation, script)).ended
    const usual = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8" })
    expect(stdout.split("\n").length).toBeLessThanOrEqual(usual.split("\n").length)
  })

  test("ends background processes when the program ends", async () => {
    const isolation = await open(one)
    const [plain, detached] = [uniqueSeconds(), uniqueSeconds()]
    const command = await start(
      isolation,
      `sleep ${plain} & (setsid sleep ${detached} >/dev/null 2>&1 &); sleep 0.3; echo ready; sleep 0.5`,
    )
    await command.printed("ready")
    expect(sleepers(plain).length + sleepers(detached).length).toBeGreaterThanOrEqual(2)
    expect(await command.ended).toMatchObject({ exitCode: 0, endedBy: "exit" })
    expect([...sleepers(plain), ...sleepers(detached)]).toEqual([])
  })

  test("ends all processes when it is killed", async () => {
    const isolation = await open(one)
    const [plain, detached, main] = [uniqueSeconds(), uniqueSeconds(), uniqueSeconds()]
    const command = await start(isolation, `sleep ${plain} & setsid sleep ${detached} & echo ready; sleep ${main}`)
    await command.printed("ready")
    await expect.poll(() => sleepers(main)).toHaveLength(1)
    command.kill()
    expect(await command.ended).toMatchObject({ exitCode: null, endedBy: "killed" })
    expect([plain, detached, main].flatMap(sleepers)).toEqual([])
  })

  test("does not start a program when it is killed at once", async () => {
    const isolation = await open(one)
    const command = await start(isolation, "echo started > file")
    command.kill()
    expect(await command.ended).toMatchObject({ exitCode: null, endedBy: "killed" })
    expect(await readdir(command.root)).toEqual([])
  })

  test("sends SIGINT to the program when it is interrupted", async () => {
    const isolation = await open(one)
    const script = "trap 'echo interrupted; exit 5' INT; echo ready; while :; do sleep 0.1; done"
    const command = await start(isolation, script)
    await command.printed("ready")
    command.interrupt()
    expect(await command.ended).toMatchObject({ exitCode: 5, endedBy: "interrupted", stdout: "ready\ninterrupted\n" })
  })

  test("kills a program that ignores SIGINT when the grace time is over", async () => {
    const isolation = await open(one, { limits: { ...relaxed, graceMs: 500 } })
    const seconds = uniqueSeconds()
    const command = await start(isolation, `trap '' INT; echo ready; sleep ${seconds}; sleep ${seconds}`)
    await command.printed("ready")
    command.interrupt()
    expect(await command.ended).toMatchObject({ exitCode: null, endedBy: "killed" })
    expect(sleepers(seconds)).toEqual([])
  })

  test("interrupts and then kills a program when its time is over", async () => {
    const isolation = await open(one, { limits: { ...relaxed, timeMs: 2_000, graceMs: 500 } })
    const command = await start(isolation, "trap '' INT; echo ready; while :; do sleep 0.1; done")
    expect(await command.ended).toMatchObject({ exitCode: null, endedBy: "timeout" })
  })

  test.skipIf(!isLinux)("kills a program when its processes together exceed the memory", async () => {
    const isolation = await open(one, { limits: { ...relaxed, memoryBytes: 96 * mebibyte } })
    // tail keeps a line until its end.
    const half = "(while head -c 2000000 /dev/zero; do sleep 0.05; done) | tail -n 1 > /dev/null"
    const command = await start(isolation, `(${half}) & ${half}; echo end; exit 1`)
    // The kernel kills one process of a container, and the shell then ends itself.
    const expected = kind === "container" ? ["memory", "exit"] : ["memory"]
    expect(expected).toContain((await command.ended).endedBy)
  })

  test.skipIf(!isLinux)("stops a program that allocates much at once", async () => {
    const isolation = await open(one, { limits: { ...relaxed, memoryBytes: 96 * mebibyte } })
    const command = await start(
      isolation,
      "dd if=/dev/zero of=/dev/null bs=800M count=1; code=$?; echo code $code; exit $code",
    )
    expect((await command.ended).stdout).not.toBe("code 0\n")
  })

  test("runs in a folder with blanks, quotes and dots in its name", async () => {
    const isolation = await open(one)
    const parent = await temporaryFolder()
    await chmod(parent, 0o755)
    const root = join(parent, `a b'c".. $(d),e`)
    const cwd = join(root, "..f")
    await mkdir(cwd, { recursive: true })
    const command = await start(isolation, 'echo text > "$HOME/file"; pwd', {
      root,
      cwd: join(root, "g", "..", "..f"),
      environment: { PATH: "/usr/bin:/bin", HOME: root },
    })
    expect(await command.ended).toMatchObject({ exitCode: 0, stdout: `${cwd}\n`, stderr: "" })
    expect(await readFile(join(root, "file"), "utf8")).toBe("text\n")
  })

  test("names the program when it is missing", async () => {
    const isolation = await open(one)
    const command = await start(isolation, "", { program: "/nowhere/terraform", args: ["plan"] })
    await expect(command.ended).rejects.toThrow(/\/nowhere\/terraform (was not found|could not be started)/)
    const relative = await start(isolation, "", { program: "terraform" })
    await expect(relative.ended).rejects.toThrow("program must be an absolute path; terraform is none")
  })

  test("kills running commands when it is closed", async () => {
    const isolation = await open(one)
    const seconds = uniqueSeconds()
    const command = await start(isolation, `echo ready; sleep ${seconds}`)
    await command.printed("ready")
    await isolation[Symbol.asyncDispose]()
    expect(await command.ended).toMatchObject({ endedBy: "killed" })
    expect(sleepers(seconds)).toEqual([])
  })
})

describe.each(kinds.filter(({ kind, isAvailable }) => isAvailable && kind !== "none"))(
  "secrets of the agent with isolation $kind",
  (one) => {
    const secret = `secret-${process.pid}`

    /** A process with a secret in its environment and its memory, as the agent is. */
    async function startAgent(): Promise<ChildProcess> {
      const agent = spawn(
        process.execPath,
        ["-e", "const held = process.env.SECRET + 1; console.log(1); setInterval(() => held, 9e5)"],
        {
          env: { SECRET: secret },
          stdio: ["ignore", "pipe", "inherit"],
        },
      )
      onTestFinished(() => void agent.kill("SIGKILL"))
      if (agent.stdout !== null) await once(agent.stdout, "data")
      return agent
    }

    async function agentFolder(): Promise<{ readonly folder: string; readonly token: string }> {
      const folder = await temporaryFolder("chancery-agent-")
      const token = join(folder, "token")
      await writeFile(token, secret, { mode: 0o600 })
      return { folder, token }
    }

    test("are not in /proc", async () => {
      const agent = await startAgent()
      const isolation = await open(one)
      const script =
        `cat /proc/${agent.pid}/environ; cat /proc/[0-9]*/environ; cat /proc/[0-9]*/root/proc/${agent.pid}/environ; ` +
        `for p in ${agent.pid} ${process.pid}; do dd if=/proc/$p/mem bs=1 count=1 && echo memory; done; echo end`
      const { stdout } = await (await start(isolation, script)).ended
      expect(stdout).toContain("end")
      expect(stdout).not.toContain("memory")
      expect(stdout).not.toContain(secret)
      // The same commands find it without isolation.
      const bare = await open({ kind: "none", isAvailable: true, options: {} })
      expect((await (await start(bare, script)).ended).stdout).toContain(secret)
    })

    test("are not in its files", async () => {
      const { folder, token } = await agentFolder()
      const isolation = await open(one, { hidden: [folder, token] })
      const script = `cat '${token}'; cat '${folder}'/*; cat /proc/self/root'${token}'; cat /proc/1/root'${token}'; echo end`
      const { stdout } = await (await start(isolation, script)).ended
      expect(stdout).toBe("end\n")
    })

    test("cannot be changed, and nothing else outside of the folder of the run", async () => {
      const { folder, token } = await agentFolder()
      const outside = await temporaryFolder()
      const isolation = await open(one, { hidden: [folder] })
      const targets = [
        join(outside, "a"),
        join(outside, "../chancery-isolation-outside"),
        "/usr/chancery-a",
        "/etc/chancery-a",
        "/chancery-a",
      ]
      const script = `for f in ${targets.map((path) => `'${path}'`).join(" ")}; do echo x > "$f"; done; rm -f '${token}'; mkdir -p '${folder}'; echo x > '${token}'; exit 0`
      expect((await (await start(isolation, script)).ended).exitCode).toBe(0)
      const made = await Promise.all(
        targets.map((path) =>
          stat(path).then(
            () => path,
            () => undefined,
          ),
        ),
      )
      // A user of the machine can write to /tmp.
      expect(made.filter((path) => path !== undefined && !(one.kind === "user" && path === targets[1]))).toEqual([])
      await rm(targets[1] ?? "", { force: true })
      expect(await readFile(token, "utf8")).toBe(secret)
    })
  },
)

describe.skipIf(bwrap === undefined)("isolation sandbox", () => {
  const sandbox: Kind = { kind: "sandbox", isAvailable: true, options: {} }

  test("hides a single file when its folder is readable", async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, "token"), "secret")
    await writeFile(join(folder, "public"), "public")
    const isolation = await open(sandbox, { hidden: [join(folder, "token")] })
    const command = await start(isolation, `cat '${folder}/public' '${folder}/token'; echo x > '${folder}/new'`, {
      readable: [folder],
    })
    const { stdout } = await command.ended
    expect(stdout).toBe("public")
    expect((await readdir(folder)).toSorted()).toEqual(["public", "token"])
  })

  test("writes to further folders when they are writable", async () => {
    const folder = await temporaryFolder()
    const command = await start(await open(sandbox), `echo x > '${folder}/plugin'`, { writable: [folder] })
    expect(await command.ended).toMatchObject({ exitCode: 0, stderr: "" })
    expect(await readdir(folder)).toEqual(["plugin"])
  })

  test("does not load a library of the run into bwrap", async () => {
    const root = await temporaryFolder()
    const { ended } = await start(await open(sandbox), "echo started", {
      root,
      environment: { PATH: "/usr/bin:/bin", LD_DEBUG: "libs", LD_DEBUG_OUTPUT: join(root, "trace") },
    })
    expect((await ended).stdout).toBe("started\n")
    const traces = await Promise.all((await readdir(root)).map((name) => readFile(join(root, name), "utf8")))
    expect(traces.length).toBeGreaterThan(0)
    expect(traces.join("\n")).not.toMatch(/bwrap|prlimit/)
  })

  test("has no rights when it is root", async () => {
    const { ended } = await start(
      await open(sandbox),
      "grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status; ls -A /run /root; umount /tmp",
    )
    const { stdout } = await ended
    expect(stdout).toMatch(/CapEff:\t0+\nCapBnd:\t0+\nNoNewPrivs:\t1/)
    expect(stdout).not.toMatch(/sock|ssh/)
  })

  test("names a folder that does not exist", async () => {
    const { ended } = await start(await open(sandbox), "", { readable: ["/nowhere"] })
    await expect(ended).rejects.toThrow("readable /nowhere does not exist")
  })
})

describe.skipIf(!isRoot)("isolation user", () => {
  const user: Kind = { kind: "user", isAvailable: isRoot, options: { runAs: "nobody" } }

  test("runs as the user, who gets the folder and no rights of programs such as sudo", async () => {
    const root = await temporaryFolder()
    await writeFile(join(root, "main.tf"), "", { mode: 0o600 })
    const { ended } = await start(
      await open(user),
      "id -un; id -G; cat main.tf && rm main.tf; grep NoNewPrivs /proc/self/status",
      { root },
    )
    expect(await ended).toMatchObject({ stdout: expect.stringMatching(/^nobody\n\d+\nNoNewPrivs:\t1\n$/), stderr: "" })
    expect(await readdir(root)).toEqual([])
  })

  test("names the file when the user can read the token", async () => {
    const folder = await temporaryFolder()
    await chmod(folder, 0o755)
    const token = join(folder, "token")
    await writeFile(token, "secret", { mode: 0o644 })
    await expect(open(user, { hidden: [token] })).rejects.toThrow(
      `${token} is readable by nobody; restrict it: chmod go= '${token}'`,
    )
    await chmod(token, 0o600)
    await expect(open(user, { hidden: [token] })).resolves.toBeDefined()
    await expect(open(user, { hidden: [folder] })).rejects.toThrow(`${folder} is readable by nobody`)
  })

  test.each([
    ["unknown-user-of-tests", "run-as user unknown-user-of-tests does not exist on this machine"],
    ["root", "run-as must be a user without the rights of root"],
    ["", "run-as is required by isolation user"],
    ["--help", "run-as user --help does not exist"],
  ])("is not opened when run-as is %j", async (runAs, problem) => {
    await expect(open(user, { runAs })).rejects.toThrow(problem)
  })

  test("rejects variables of the dynamic linker", async () => {
    const { ended } = await start(await open(user), "", { environment: { LD_PRELOAD: "/tmp/a.so" } })
    await expect(ended).rejects.toThrow("environment LD_PRELOAD cannot be set with isolation user")
  })
})

describe.skipIf(podman === undefined)("isolation container", () => {
  const container: Kind = { kind: "container", isAvailable: true, options: { container: { image, network: "none" } } }
  const call = (...args: string[]) => execFileSync("podman", args, { env: podman, encoding: "utf8" })
  let folder = ""
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "chancery-"))
    return () => rm(folder, { recursive: true })
  })

  test("removes containers and environments of the same agent when it is opened", async () => {
    const run = (agent: string) =>
      call(
        "run",
        "--detach",
        "--network",
        "none",
        "--label",
        `chancery.agent=${agent}`,
        ...programFolders.flatMap((path) => ["--volume", `${path}:${path}:ro`]),
        image,
        "/usr/bin/sleep",
        "1000",
      ).trim()
    const [own, other] = [run(`crashed-${process.pid}`), run(`crashed-${process.pid}-2`)]
    onTestFinished(() => void call("rm", "--force", "--time", "0", other))
    const environment = await mkdtemp(join(tmpdir(), `chancery-container-crashed-${process.pid}-`))
    await open(container, { agent: `crashed-${process.pid}` })
    await expect(stat(environment)).rejects.toThrow("ENOENT")
    const left = call("ps", "--all", "--quiet", "--no-trunc")
    expect(left).not.toContain(own)
    expect(left).toContain(other)
  })

  test("leaves neither container nor environment file when a command ended", async () => {
    const agent = `ended-${process.pid}`
    const isolation = await open(container, { agent })
    const { ended } = await start(isolation, "exit 0")
    await ended
    expect(call("ps", "--all", "--quiet", "--filter", `label=chancery.agent=${agent}`)).toBe("")
    expect((await readdir(tmpdir())).filter((name) => name.startsWith(`chancery-container-${agent}-`))).toEqual([])
  })

  test("shows no value of the environment in the arguments of processes", async () => {
    const { printed, ended } = await start(await open(container), "echo ready; sleep 1", {
      environment: { PATH: "/usr/bin:/bin", TF_VAR_password: "visible-secret", TF_VAR_lines: "visible\nsecret" },
    })
    await printed("ready")
    expect(execFileSync("ps", ["-axwwo", "args="], { encoding: "utf8" })).not.toMatch(/visible/)
    await ended
  })

  test("ends by memory when the program itself exceeds it", async () => {
    const isolation = await open(container, { limits: { ...relaxed, memoryBytes: 64 * mebibyte } })
    const { ended } = await start(isolation, "", {
      program: "/usr/bin/dd",
      args: ["if=/dev/zero", "of=/dev/null", "bs=200M", "count=1"],
    })
    expect(await ended).toMatchObject({ exitCode: null, endedBy: "memory" })
  })

  test("rejects a folder that contains the token", async () => {
    await writeFile(join(folder, "token"), "secret")
    const isolation = await open(container, { hidden: [join(folder, "token")] })
    const { ended } = await start(isolation, "", { readable: [folder] })
    await expect(ended).rejects.toThrow(`${folder} contains ${folder}/token, which is hidden from runs`)
  })

  test("names the image when it is missing", async () => {
    const options = { container: { image: "localhost/chancery-missing:1" } }
    await expect(open(container, options)).rejects.toThrow(
      "container-image localhost/chancery-missing:1 is not on this machine",
    )
    await expect(open(container, { container: { image: "" } })).rejects.toThrow("container-image is required")
  })
})

describe("isolation without its programs", () => {
  test.skipIf(!isLinux)("sandbox names the package and the other kinds when bwrap is missing", async () => {
    const options: IsolationOptions = { kind: "auto", limits: relaxed, agent: "a", hidden: [] }
    await expect(openIsolation(options, { PATH: "/nowhere" })).rejects.toThrow(
      "isolation sandbox needs bwrap; install the package bubblewrap, or choose another isolation: container, user or none",
    )
  })

  test.skipIf(!isLinux)("sandbox names the settings when namespaces are forbidden", async () => {
    const folder = await temporaryFolder()
    await writeFile(
      join(folder, "bwrap"),
      "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
    )
    await chmod(join(folder, "bwrap"), 0o755)
    const options: IsolationOptions = { kind: "sandbox", limits: relaxed, agent: "a", hidden: [] }
    await expect(openIsolation(options, { PATH: folder })).rejects.toThrow(
      /does not work: bwrap: No permissions to create new namespace; allow unprivileged user namespaces .* or choose another/,
    )
  })

  test("container names the programs when there is no engine", async () => {
    const options: IsolationOptions = {
      kind: "container",
      limits: relaxed,
      agent: "a",
      hidden: [],
      container: { image },
    }
    await expect(openIsolation(options, { PATH: "/nowhere" })).rejects.toThrow("needs podman or docker on the PATH")
    const named = { ...options, container: { image, program: "nerdctl-of-tests" } }
    await expect(openIsolation(named, { PATH: "/nowhere" })).rejects.toThrow(
      "container-program nerdctl-of-tests was not found",
    )
  })
})

test.each([
  [{ timeMs: 0 }, "time limit must be 1 to 2147483647 ms"],
  [{ timeMs: Number.NaN }, "time limit must be"],
  [{ graceMs: -1 }, "grace time must be 0 to"],
  [{ memoryBytes: 1024 }, "memory limit must be at least 64 MiB"],
])("openIsolation rejects limits when they are %j", async (limits, problem) => {
  const options: IsolationOptions = { kind: "none", limits: { ...relaxed, ...limits }, agent: "a", hidden: [] }
  await expect(openIsolation(options)).rejects.toThrow(problem)
})

test("describe names what is not limited", async () => {
  const isolation = await openIsolation({ kind: "none", limits: relaxed, agent: "a", hidden: [] })
  expect(isolation.describe()).toEqual([
    "isolation: none: runs can read the files, the memory and the token of this agent",
    "memory of runs is not limited: no limit is set",
  ])
})
