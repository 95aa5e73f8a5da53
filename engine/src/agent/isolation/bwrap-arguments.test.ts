import { describe, expect, test } from "vitest"
import { bwrapArguments, type BwrapOptions, environmentArguments, isInside } from "./bwrap-arguments.ts"

const command = {
  program: "/opt/tools/terraform",
  args: ["plan", "-input=false"],
  root: "/var/agent/runs/a",
  cwd: "/var/agent/runs/a/configuration",
  readable: [] as string[],
  writable: [] as string[],
}
const options: BwrapOptions = { emptied: [], kept: [], hidden: [], hasSizes: true }

/** Returns the mounts after the standard ones, as text. */
function mounts(changes: Partial<typeof command>, view: Partial<BwrapOptions> = {}): string {
  const text = bwrapArguments({ ...command, ...changes }, { ...options, hasSizes: false, ...view }).join(" ")
  return /--remount-ro \/dev (.*) --chdir/.exec(text)?.[1] ?? text
}

test("bwrap arguments are complete when a command has no further folders", () => {
  expect(bwrapArguments(command, options)).toEqual([
    ...["--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--json-status-fd", "3"],
    ...["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"],
    ...["--size", "67108864", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...["--size", "268435456", "--tmpfs", "/tmp"],
    ...["--bind", "/var/agent/runs/a", "/var/agent/runs/a"],
    ...["--chdir", "/var/agent/runs/a/configuration", "--", "/opt/tools/terraform", "plan", "-input=false"],
  ])
})

describe("mounts", () => {
  const agent = { path: "/var/agent", isFolder: true }
  const token = { path: "/opt/tools/token", isFolder: false }
  test.each<[string, Partial<typeof command>, Partial<BwrapOptions>, string]>([
    [
      "follow their parents, and the hidden folder is sealed last",
      {},
      { hidden: [agent] },
      "--tmpfs /tmp --tmpfs /var/agent --bind /var/agent/runs/a /var/agent/runs/a --remount-ro /var/agent",
    ],
    [
      "hide a file of a readable folder",
      { readable: ["/opt/tools"] },
      { hidden: [token] },
      "--ro-bind /opt/tools /opt/tools --ro-bind /dev/null /opt/tools/token --tmpfs /tmp --bind /var/agent/runs/a /var/agent/runs/a",
    ],
    [
      "hide a readable folder that is hidden itself",
      { readable: ["/var/agent"] },
      { hidden: [agent] },
      "--tmpfs /tmp --ro-bind /var/agent /var/agent --tmpfs /var/agent --bind /var/agent/runs/a /var/agent/runs/a --remount-ro /var/agent",
    ],
    [
      "show a writable folder below an emptied one",
      { writable: ["/home/ci/cache"] },
      { emptied: ["/home"] },
      "--tmpfs /home --bind /home/ci/cache /home/ci/cache --tmpfs /tmp --bind /var/agent/runs/a /var/agent/runs/a --remount-ro /home",
    ],
    [
      "show a folder of /tmp",
      { root: "/tmp/a b'\"", cwd: "/tmp/a b'\"" },
      {},
      "--tmpfs /tmp --bind /tmp/a b'\" /tmp/a b'\"",
    ],
    [
      "keep the configuration of the resolver",
      {},
      { emptied: ["/run"], kept: ["/run/resolv.conf"] },
      "--tmpfs /run --ro-bind /run/resolv.conf /run/resolv.conf --tmpfs /tmp --bind /var/agent/runs/a /var/agent/runs/a --remount-ro /run",
    ],
  ])("%s", (_title, changes, view, expected) => {
    expect(mounts(changes, view)).toBe(expected)
  })

  test.each<[string, Partial<typeof command>, Partial<BwrapOptions>, string]>([
    ["the system", { readable: ["/"] }, {}, "must not be /"],
    ["a hidden folder as the root", { root: "/var/agent", cwd: "/var/agent" }, { hidden: [agent] }, "is hidden"],
    ["a hidden file", { readable: [token.path] }, { hidden: [token] }, "is the hidden file"],
    ["a working directory outside of the root", { cwd: "/var/agent/runs/ab" }, {}, "must be in /var/agent/runs/a"],
  ])("are rejected when they contain %s", (_title, changes, view, problem) => {
    expect(() => bwrapArguments({ ...command, ...changes }, { ...options, ...view })).toThrow(problem)
  })
})

test("environment is separated by NUL when values have blanks and line breaks", () => {
  expect(environmentArguments({ A: "b c\nd", E: "" })).toBe("--clearenv\0--setenv\0A\0b c\nd\0--setenv\0E\0\0")
})

test.each([{ "": "a" }, { "a=b": "c" }, { "a\0": "b" }, { A: "b\0--bind\0/\0/" }])(
  "environment is rejected when it is %j",
  (environment) => {
    expect(() => environmentArguments(environment as unknown as Record<string, string>)).toThrow("without = and NUL")
  },
)

test.each([
  ["/a/b", "/a", true],
  ["/a", "/a", true],
  ["/ab", "/a", false],
  ["/a", "/a/b", false],
  ["/a/..b", "/a", true],
  ["/a", "/", true],
])("isInside(%s, %s) is %s", (path, folder, expected) => {
  expect(isInside(path, folder)).toBe(expected)
})
