/** `npm run prose:lint`: checks documents and English catalogs with textlint, whose rules are in `.textlintrc.json`. */
import { parse, type Token } from '@messageformat/parser'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter, loadTextlintrc } from 'textlint'

const root = join(import.meta.dirname, '../../..')
const documents = ['README.md', 'CHANGELOG.md', 'admin-api/docs/**/*.md']
const catalogs = ['admin-api/catalogs/*/en/*.json', 'config/catalogs/en/*.json']

/** Returns the text that a reader sees. A parameter appears as “…”, plurals and selections as their last case. */
const shown = (tokens: readonly Token[]): string =>
  tokens
    .map((token) => {
      if (token.type === 'content') return token.value
      return 'cases' in token ? shown(token.cases.at(-1)?.tokens ?? []) : 'arg' in token ? '“…”' : 'N'
    })
    .join('')

/** Messages by name; names of groups are separated by dots. */
function* messagesIn(tree: unknown, name = ''): Generator<readonly [name: string, text: string]> {
  if (typeof tree === 'string') yield [name, shown(parse(tree))]
  else if (typeof tree === 'object' && tree !== null)
    for (const [key, value] of Object.entries(tree)) yield* messagesIn(value, name === '' ? key : `${name}.${key}`)
}

const linter = createLinter({ descriptor: await loadTextlintrc({ configFilePath: join(root, '.textlintrc.json') }) })

async function* faults(): AsyncGenerator<string> {
  for (const path of globSync(documents, { cwd: root }).sort()) {
    const { messages } = await linter.lintText(readFileSync(join(root, path), 'utf8'), path)
    for (const { loc, message } of messages) yield `${path}:${String(loc.start.line)}: ${message}`
  }
  for (const path of globSync(catalogs, { cwd: root }).sort()) {
    const all = [...messagesIn(JSON.parse(readFileSync(join(root, path), 'utf8')))]
    const text = all.map(([, message]) => message.replaceAll(/\s+/g, ' ')).join('\n\n')
    const { messages } = await linter.lintText(text, `${path}.txt`)
    for (const { loc, message } of messages) yield `${path} ${all[(loc.start.line - 1) / 2]?.[0] ?? ''}: ${message}`
  }
}

for await (const fault of faults()) {
  console.log(fault.split('\n')[0])
  process.exitCode = 1
}
