/** The documentation for language models: `llms.txt` lists the chapters, and `llms-full.txt` contains all chapters except the reference. */
import { posix } from 'node:path'
import { referenceFolder } from './chapters/reference.ts'
import type { Chapter, Manual } from './chapters/chapters.ts'

const summary = `# Postern

> A self-hosted mail relay: one daemon that accepts mail by SMTP, REST, forms and MCP, relays it through your own providers or captures it, keeps a trace of
> every message, and explains what happened to it.

- The API is described by /openapi.json (OpenAPI 3.1). Agents connect to /mcp.
- Every error has a code; its page under /docs/errors says why it happens and what to do.
`

/** `linkTo` returns the address of a chapter's Markdown. */
export function llmsTxt({ sections, chapters }: Manual, linkTo: (path: string) => string): string {
  const byPath = new Map(chapters.map((chapter) => [chapter.entry.path, chapter]))
  const parts = sections.map(({ title, groups }) => {
    const lines = groups.flatMap(({ entries }) =>
      entries.map(({ path, about }) => {
        const chapter = byPath.get(path)
        return `- [${chapter?.title ?? path}](${linkTo(path)}): ${about === '' ? firstSentence(chapter) : about}`
      }),
    )
    return `## ${title}\n\n${lines.join('\n')}\n`
  })
  return [summary, ...parts].join('\n')
}

const firstSentence = (chapter: Chapter | undefined): string => /^[^]*?\.(?=\s|$)/.exec(chapter?.sections[0]?.text.trim() ?? '')?.[0] ?? ''

/** Links between chapters lead to their Markdown. The reference is omitted, since `/openapi.json` contains it. */
export function llmsFull({ chapters }: Manual, linkTo: (path: string) => string): string {
  const paths = new Map(chapters.map(({ entry }) => [entry.file, entry.path]))
  const texts = chapters
    .filter(({ entry }) => !entry.path.startsWith(`${referenceFolder}/`))
    .map(({ source, entry }) =>
      source.replaceAll(/\]\(([^)\s#:]+\.md)(#[^)\s]*)?\)/g, (whole, target: string, anchor = '') => {
        const path = paths.get(posix.join(posix.dirname(entry.file), target))
        return path === undefined ? whole : `](${linkTo(path)}${String(anchor)})`
      }),
    )
  return [summary, ...texts].join('\n')
}
