/** Code blocks of a chapter as HTML: highlighted at build time, with a title, and with tabs for neighbouring blocks. */
import { createRequire } from 'node:module'
import { html, Html } from '../../pages/layout/html.ts'

// an import would add its declarations of browser types to all sources
const require = createRequire(import.meta.url)
const highlighter = require('highlight.js') as {
  getLanguage(name: string): object | undefined
  highlight(text: string, options: { readonly language: string }): { readonly value: string }
}

/** Info string of a block: a language, then `title="wp-config.php"` or `tab="Node"`. */
export interface CodeFacts {
  readonly language: string
  readonly title: string | undefined
  readonly tab: string | undefined
}

export function codeFacts(info: string): CodeFacts {
  const attribute = (name: string): string | undefined => new RegExp(`\\b${name}="([^"]*)"`).exec(info)?.[1]
  return { language: /^[\w+#-]*/.exec(info)?.[0] ?? '', title: attribute('title'), tab: attribute('tab') }
}

const languageNames: Readonly<Record<string, string>> = {
  ...{ sh: 'Terminal', js: 'JavaScript', ts: 'TypeScript', json: 'JSON', php: 'PHP', python: 'Python', ruby: 'Ruby', java: 'Java' },
  ...{ ini: 'Settings', nginx: 'nginx', html: 'HTML', xml: 'XML', graphql: 'GraphQL', http: 'HTTP', yaml: 'YAML', sql: 'SQL' },
  ...{ properties: 'Settings', powershell: 'PowerShell', css: 'CSS', diff: 'Changes' },
}

/** Returns a block with its title. The script of the site adds the copy button. */
export function codeBlock(text: string, { language, title, tab }: CodeFacts): string {
  const name = title ?? tab ?? languageNames[language] ?? 'Text'
  const coloured = highlighter.getLanguage(language) ? Html.of([highlighter.highlight(text, { language }).value], []) : text
  return html`<figure class="code" ${tab !== undefined && html`data-tab="${tab}"`}>
    <figcaption>${name}</figcaption>
    <pre tabindex="0" role="group" aria-label="${name}"><code>${coloured}</code></pre>
  </figure>`.toString()
}
