// Checks alerts and dashboards against the metrics that servers and operators expose.
import { execFile } from "node:child_process"
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, onTestFinished, test } from "vitest"
import { parse, stringify } from "yaml"
import { publicProgram } from "../toolchain/public-program.ts"
import { promtool } from "../toolchain/promtool.ts"
import { alertCases, lookedAtMinutes } from "./alert-cases.ts"
import { type Exposed, operatorExposition, parseExposition, busyExposition, serverExposition } from "./exposition.ts"
import { namedIn } from "./expressions.ts"

const folder = fileURLToPath(new URL("../../engine/deploy/monitoring", import.meta.url))
const alertsFile = join(folder, "alerts.yaml")

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<"summary" | "action", string>>
}
const { groups } = parse(await readFile(alertsFile, "utf8")) as { groups: readonly { rules: readonly Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)

interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
}
const dashboardFiles = (await readdir(join(folder, "dashboards"))).toSorted()
const dashboards = await Promise.all(
  dashboardFiles.map(async (file) => JSON.parse(await readFile(join(folder, "dashboards", file), "utf8")) as Dashboard),
)
const queries = dashboards.flatMap(({ title, panels }) =>
  panels.flatMap((panel) =>
    panel.targets.map(({ expr, legendFormat }) => ({ where: `${title}, ${panel.title}`, expr, legend: legendFormat })),
  ),
)

async function temporary(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

const program = await publicProgram(promtool)

describe.runIf(program !== undefined)("promtool", () => {
  const check = async (...args: string[]) => {
    const { stdout, stderr } = await promisify(execFile)(program ?? "", args).catch(
      (error: { stdout: string; stderr: string }) => error,
    )
    return stdout + stderr
  }

  test("the rules and the configuration are valid for Prometheus", async () => {
    expect(await check("check", "config", join(folder, "prometheus.yaml"))).toMatch(
      new RegExp(`is valid prometheus config file syntax[^]*SUCCESS: ${rules.length} rules found`),
    )
  })

  test("every expression of a dashboard is valid", async () => {
    const path = join(await temporary(), "queries.yaml")
    const records = queries.map(({ expr }, index) => ({
      record: `query_${index}`,
      expr: expr.replaceAll("$__rate_interval", "5m"),
    }))
    await writeFile(path, stringify({ groups: [{ name: "queries", rules: records }] }))
    expect(await check("check", "rules", path)).toContain(`SUCCESS: ${queries.length} rules found`)
  })

  test("every alert fires and stays quiet in its cases", async () => {
    const path = join(await temporary(), "alerts.test.yaml")
    const at = `${lookedAtMinutes}m`
    const tests = alertCases.flatMap(({ alert, fires, quiet }) =>
      [fires, quiet].map((series, index) => ({
        name: `${alert} ${index === 0 ? "fires" : "is quiet"}`,
        interval: "1m",
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [
          {
            expr: `count by (alertname) (ALERTS{alertname="${alert}",alertstate="firing"})`,
            eval_time: at,
            exp_samples: index === 0 ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : [],
          },
        ],
      })),
    )
    await writeFile(path, stringify({ rule_files: [alertsFile], evaluation_interval: "5m", tests }))
    const output = await check("test", "rules", path)
    expect(output.replaceAll(path, "").trim()).toMatch(/^Unit Testing:\s+SUCCESS$/)
  })
})

test("every alert has a case, and its text names its labels", () => {
  expect(alertCases.map(({ alert }) => alert).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
  for (const { annotations, labels } of rules) {
    expect(annotations.summary).toMatch(/\.$/)
    expect(annotations.action).toMatch(/\w/)
    expect(labels["severity"]).toMatch(/^(critical|warning|info)$/)
  }
})

test("dashboards have unique names, and panels do not overlap", () => {
  expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(dashboardFiles.length)
  expect(dashboardFiles).toEqual([
    "acme.json",
    "authorities.json",
    "jobs.json",
    "logins.json",
    "operator.json",
    "server.json",
    "workspaces.json",
  ])
  expect(queries.length).toBeGreaterThan(60)
})

/** Labels of the target, which Prometheus adds. */
const targetLabels = new Set(["job", "instance"])
/** Prometheus renames an exposed label that it also has for the target. */
const own = (label: string): string => label.replace(/^exported_/, "")

/** Returns the names in an expression that no program exposes, as sentences. */
function unknownIn(expression: string, shown: readonly string[], exposed: Exposed): readonly string[] {
  const { metrics, groupings } = namedIn(expression)
  const complaints: string[] = []
  const labels = new Set(targetLabels)
  for (const { name, matchers } of metrics) {
    const known = name === "up" ? new Map<string, ReadonlySet<string>>() : exposed.get(name)
    if (known === undefined) {
      complaints.push(`no metric ${name}`)
      continue
    }
    for (const label of known.keys()) labels.add(label)
    for (const { label, operator, value } of matchers) {
      if (targetLabels.has(label)) continue
      const values = known.get(own(label))
      // The HTTP statuses in the sample depend on chance.
      const isChance = label === "status" && name.startsWith("chancery_http_")
      const wanted = new RegExp(`^(?:${value})$`)
      const isWanted = (one: string) => (operator.endsWith("~") ? wanted.test(one) : one === value)
      if (values === undefined) complaints.push(`${name} has no label ${label}`)
      else if (!isChance && ![...values].some(isWanted))
        complaints.push(`${name} has no ${label} like ${value}, but ${[...values].join(", ")}`)
    }
  }
  for (const label of [...groupings, ...shown])
    if (!labels.has(own(label)) && !labels.has(label)) complaints.push(`no label ${label}`)
  return metrics.length === 0 ? ["names no metric"] : complaints
}

test("every metric and label of alerts and dashboards is exposed by a server or an operator", async () => {
  const needed =
    /^chancery_pki_(counted|role_expiration|crl_entries)|^chancery_job_last_success_timestamp_seconds\{job="statistics"/gm
  const isComplete = (text: string) => new Set([...text.matchAll(needed)].map(([found]) => found)).size === 4
  const exposed = new Map([
    ...parseExposition(await operatorExposition()),
    ...parseExposition(await busyExposition()),
    ...parseExposition(await serverExposition(await temporary(), isComplete)),
  ])
  const shown = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, label = ""]) => label)
  const unknown = [
    ...rules.map(({ alert, expr, annotations }) => ({
      where: alert,
      what: unknownIn(expr, shown(Object.values(annotations).join(" "), /\$labels\.(\w+)/g), exposed),
    })),
    ...queries.map(({ where, expr, legend }) => ({
      where,
      what: unknownIn(expr, shown(legend, /\{\{(\w+)\}\}/g), exposed),
    })),
  ].filter(({ what }) => what.length > 0)
  expect(unknown).toEqual([])
})

test.each([
  { expr: "chancery_nothing > 0", complaint: "no metric chancery_nothing" },
  { expr: 'sum(rate(chancery_thing_total{colour="red"}[5m]))', complaint: "chancery_thing_total has no label colour" },
  { expr: 'chancery_thing_total{kind="green"}', complaint: "chancery_thing_total has no kind like green, but a, b" },
  { expr: "sum by (size) (chancery_thing_total)", complaint: "no label size" },
  { expr: "vector(0)", complaint: "names no metric" },
])("an unknown metric or label is reported: $expr", ({ expr, complaint }) => {
  const exposed = parseExposition('# HELP x\nchancery_thing_total{kind="a"} 1\nchancery_thing_total{kind="b"} 2\n')
  expect(unknownIn(expr, [], exposed)).toEqual([complaint])
})
