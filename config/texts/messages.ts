/** Sentences in ICU MessageFormat, compiled at their first use. `message-module.ts` compiles them for browsers. */
import { createRequire } from 'node:module'
import type { MessageTree } from './message-tree.ts'

/** Loaded on demand, because a start compiles no sentence. */
const require = createRequire(import.meta.url)

type Parameters = Readonly<Record<string, unknown>>
type CompiledMessage = string | ((parameters: Parameters) => string)

export interface CompiledTree {
  readonly [name: string]: CompiledMessage | CompiledTree
}

/** Applies `use` to each message of the English catalog, with its translation or, without one, in English. */
export function mapMessages<Made>(
  english: MessageTree,
  translated: MessageTree | undefined,
  use: (message: string, isTranslated: boolean) => Made,
): MappedTree<Made> {
  const entries = Object.entries(english).map(([name, message]) => {
    const own = translated && Object.hasOwn(translated, name) ? translated[name] : undefined
    if (typeof message !== 'string') return [name, mapMessages(message, typeof own === 'object' ? own : undefined, use)] as const
    return [name, typeof own === 'string' ? use(own, true) : use(message, false)] as const
  })
  return Object.fromEntries(entries)
}

export interface MappedTree<Made> {
  readonly [name: string]: Made | MappedTree<Made>
}

/** Compiles a catalog. Numbers and plurals follow the language of the message. */
export function compileTree(
  english: MessageTree,
  translated: MessageTree | undefined,
  locale: string,
  englishLocale: string,
): CompiledTree {
  const [own, fallback] = [compilerOf(locale), compilerOf(englishLocale)]
  return mapMessages(english, translated, (message, isTranslated) => (isTranslated ? own : fallback)(message))
}

function compilerOf(locale: string): (message: string) => CompiledMessage {
  const make = () => {
    const MessageFormat = require('@messageformat/core') as typeof import('@messageformat/core').default
    return new MessageFormat<'string'>(locale, { customFormatters: { html: (value) => value } })
  }
  let format: ReturnType<typeof make> | undefined
  return (message) => {
    if (isPlain(message)) return message
    const compiled = (format ??= make()).compile(message)
    return compiled.length === 0 ? compiled() : compiled
  }
}

/** The message contains tags, or parameters such as `{at, html}`, so its other parameters must be escaped. */
export const isMarkup = (message: string): boolean => /<\/?[a-z]|, html\}/.test(message)

/** The message has no MessageFormat syntax. */
export const isPlain = (message: string): boolean => !/[{}']/.test(message)
