/** Writes `example.json` and `settings.md` from the schema: `node config/generate-example.ts`. A test proves that they are current. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { variableFor } from './settings/environment.ts'
import { defaults, settings, type Setting } from './settings/setting-list.ts'

/** Returns the texts of the generated files by their names in this folder. */
export async function generated(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['example.json', await pretty('example.json', JSON.stringify(defaults, undefined, 2))],
    ['settings.md', await pretty('settings.md', table())],
  ])
}

function table(): string {
  return `# Settings

Each setting is a line in the JSON file that \`POSTERN_CONFIG\` names, or an environment variable, which takes precedence.
Lists are arrays in the file and separated by commas in a variable. An empty variable empties a list; for all other settings, it means the default.
\`POSTERN_OUTBOUND_ALLOW\` contains both of its lists: \`destinations=127.0.0.1/32:2600,10.0.0.0/8;webhooks=127.0.0.1/32\`.
This page and \`example.json\` are generated from \`schema.ts\`.

| In the file | Variable | Meaning | Must be | Default |
|---|---|---|---|---|
${settings.map(row).join('\n')}
`
}

function row({ path, description, limit, fallback }: Setting): string {
  const cells = [
    `\`${path.join('.')}\``,
    `\`${variableFor(path)}\``,
    description,
    limit,
    fallback === null ? 'none' : `\`${JSON.stringify(fallback)}\``,
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

async function pretty(name: string, text: string): Promise<string> {
  const filepath = fileAt(name)
  return format(text, { ...(await resolveConfig(filepath)), filepath })
}

const fileAt = (name: string): string => join(import.meta.dirname, name)

if (import.meta.main) {
  for (const [name, text] of await generated()) writeFileSync(fileAt(name), text)
}
