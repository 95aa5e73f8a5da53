// The documentation as a website, from the pages that readers of the repository see. `npm run docs:site` builds it.
import { existsSync, readFileSync, statSync } from "node:fs"
import { dirname, join, posix, relative } from "node:path"
import { type DefaultTheme, defineConfig, type MarkdownOptions } from "vitepress"
import type { Plugin } from "vite"
import { withMermaid } from "vitepress-plugin-mermaid"

const repository = join(import.meta.dirname, "..", "..")
const { repository: source } = JSON.parse(readFileSync(join(repository, "engine", "package.json"), "utf8")) as {
  readonly repository: { readonly url: string }
}
const sourceUrl = source.url.replace(/^git\+/, "").replace(/\.git$/, "")

/** Files that are pages. All other Markdown files of the repository are for its developers. */
const pages =
  /^(docs\/.+|((engine|provider|operator|examples(\/[^/]+)?)\/)?README|CHANGELOG|SECURITY|CONTRIBUTING)\.md$/

/** Pages outside of this folder import Vue, which is installed in this folder only. */
const vueOfThisFolder: Plugin = {
  name: "vue-of-this-folder",
  enforce: "pre",
  resolveId(id, _importer, { ssr = false }) {
    if (!/^vue(\/server-renderer)?$/.test(id)) return null
    return ssr ? { id, external: true } : this.resolve(id, import.meta.filename, { skipSelf: true })
  },
}

export default withMermaid(
  defineConfig({
    title: "Chancery",
    description: "A self-hosted control plane for infrastructure workspaces and certificates.",
    lang: "en",
    // The colors and the key hint of the default theme have accessibility faults: contrast, and text that is not in the accessible name.
    head: [
      [
        "style",
        {},
        ".vp-doc [class*='language-'] > span.lang { color: var(--vp-c-text-1) !important } .DocSearch-Button-Keys { display: none !important }",
      ],
    ],
    srcDir: "..",
    srcExclude: [
      "{crds,test,node_modules}/**",
      "**/node_modules/**",
      "{engine,provider,operator}/{src,testing,scripts,deploy}/**",
    ],
    outDir: join(import.meta.dirname, "dist"),
    cacheDir: join(import.meta.dirname, "cache"),
    rewrites: (page) => page.replace(/(^|\/)README\.md$/, "$1index.md"),
    cleanUrls: false,
    markdown: {
      theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
      config: extendMarkdown,
      languageAlias: { caddyfile: "nginx" },
    },
    vite: { plugins: [vueOfThisFolder] },
    themeConfig: {
      nav: [
        { text: "Documentation", link: "/docs/" },
        { text: "Provider", link: "/provider/" },
        { text: "Operator", link: "/operator/" },
        { text: "Changelog", link: "/CHANGELOG" },
      ],
      sidebar: sidebar(readFileSync(join(repository, "docs", "README.md"), "utf8")),
      search: { provider: "local" },
      outline: [2, 3],
      socialLinks: [{ icon: "github", link: sourceUrl }],
      footer: { message: "Apache License 2.0" },
    },
  }),
)

const isPage = (file: string): boolean => pages.test(file)

type Markdown = Parameters<NonNullable<MarkdownOptions["config"]>>[0]

function extendMarkdown(markdown: Markdown): void {
  markdown.core.ruler.push("repository-links", ({ tokens, env }) => {
    const { path } = env as { readonly path: string }
    for (const token of tokens.flatMap(({ children }) => children ?? []))
      if (token.type === "link_open") token.attrSet("href", linkTarget(path, token.attrGet("href") ?? ""))
  })
  // Vue would evaluate the templates of other programs, such as `{{identity.entity.id}}`.
  for (const rule of ["text", "code_inline"] as const) {
    const render = markdown.renderer.rules[rule]
    if (render === undefined) throw new TypeError(`markdown-it has no rule ${rule}`)
    markdown.renderer.rules[rule] = (...given) => render(...given).replaceAll("{{", "&#123;&#123;")
  }
}

/**
 * Returns the target of a link: pages as they are, other files, such as sources and manifests, in the repository. VitePress reports links to
 * missing pages; this throws for other missing files.
 */
function linkTarget(page: string, href: string): string {
  if (/^([a-z]+:|#|\/)/.test(href)) return href
  const [file = "", anchor] = href.split("#")
  const target = relative(repository, join(dirname(page), decodeURI(file))).replaceAll("\\", "/")
  if (isPage(target)) return href
  if (!existsSync(join(repository, target))) throw new Error(`${page}: ${href} does not exist`)
  const kind = statSync(join(repository, target)).isDirectory() ? "tree" : "blob"
  return `${sourceUrl}/${kind}/main/${target}${anchor === undefined ? "" : `#${anchor}`}`
}

/** Returns the sidebar from the index: a group for each heading, and a link with the page's own title for each row of its table. */
function sidebar(index: string): DefaultTheme.SidebarItem[] {
  return index
    .split(/^##+ /m)
    .slice(1)
    .flatMap((section) => {
      const [text = "", ...lines] = section.split("\n")
      const items = lines.flatMap((line) => {
        const [, target] = /^\| \[[^\]]+\]\(([^)#\s]+\.md)\)/.exec(line) ?? []
        if (target === undefined) return []
        const page = posix.join("docs", target)
        return [{ text: titleOf(page), link: `/${page.replace(/(README)?\.md$/, "")}` }]
      })
      return items.length === 0 ? [] : [{ text, items }]
    })
}

function titleOf(page: string): string {
  const [, title = page] = /^# (.+)$/m.exec(readFileSync(join(repository, page), "utf8")) ?? []
  return title.replaceAll("`", "")
}
