/** Catalogs as JavaScript modules for browsers, which need no parser for them. */
import { createRequire } from 'node:module'
import type { MessageTree } from './message-tree.ts'
import { isPlain, mapMessages, type MappedTree } from './messages.ts'

const require = createRequire(import.meta.url)

/** Returns the folder that resolves imports of a compiled catalog. */
export const runtimeFolder = (): string => require.resolve('@messageformat/core')

/** Returns the text of a module. Its default export has the messages of a catalog. */
export function messageModule(english: MessageTree, translated: MessageTree | undefined, locale: string, englishLocale: string): string {
  const MessageFormat = require('@messageformat/core') as typeof import('@messageformat/core').default
  const compileModule =
    require('@messageformat/core/lib/compile-module.js') as typeof import('@messageformat/core/lib/compile-module.js').default
  const [own, fallback] = [new MessageFormat<'string'>(locale), new MessageFormat<'string'>(englishLocale)]
  const imports = new Map<string, Set<string>>()
  const tree = mapMessages(english, translated, (message, isTranslated) => {
    if (isPlain(message)) return JSON.stringify(message)
    const text = compileModule(isTranslated ? own : fallback, { message })
    const [head = '', code = ''] = text.split(/\nexport default \{\n {2}message: |\n\}$/)
    for (const [, names = '', from = ''] of head.matchAll(/^import \{ (.+) \} from "(.+)";$/gm))
      imports.set(from, new Set([...(imports.get(from) ?? []), ...names.split(', ')]))
    return code.startsWith('() => ') ? code.slice('() => '.length) : code
  })
  const heads = [...imports].map(([from, names]) => `import { ${[...names].join(', ')} } from '${from}'`)
  return [...heads, `export default ${textOf(tree)}`].join('\n')
}

const textOf = (tree: MappedTree<string>): string =>
  `{${Object.entries(tree)
    .map(([name, code]) => `${JSON.stringify(name)}: ${typeof code === 'string' ? code : textOf(code)}`)
    .join(', ')}}`
