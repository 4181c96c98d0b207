/** Generates the TypeScript types of the parameters in texts of catalogs (ICU MessageFormat). */
import { parse, type Token } from '@messageformat/parser'
import type { MessageTree } from './message-tree.ts'
import { isMarkup } from './messages.ts'

/**
 * Returns the type of an object with the parameters of each text in a catalog; undefined without parameters. For server pages, parameters
 * of texts with markup are wrapped in `Markup`.
 */
export function parametersType(tree: MessageTree, hasMarkup = false): string | undefined {
  const types = Object.entries(tree).flatMap(([name, message]) => {
    const type = typeof message === 'string' ? typeOf(message, hasMarkup && isMarkup(message)) : parametersType(message, hasMarkup)
    return type === undefined ? [] : [`${/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)}: ${type}`]
  })
  return types.length > 0 ? `{ ${types.join('; ')} }` : undefined
}

function typeOf(message: string, isHtml: boolean): string | undefined {
  const kinds = [...parametersOf(message)].map(([name, kind]) => `${name}: ${kind}`)
  const type = kinds.length > 0 ? `{ ${kinds.join('; ')} }` : undefined
  return isHtml ? `Markup<${type ?? 'undefined'}>` : type
}

/** Returns the names of the parameters of a text with their types. */
export function parametersOf(message: string): ReadonlyMap<string, string> {
  const kinds = new Map<string, string>()
  const visit = (tokens: readonly Token[]): void => {
    for (const token of tokens) {
      if (!('arg' in token)) continue
      const [known, kind] = [kinds.get(token.arg), kindOf(token)]
      if (known === undefined || known === text) kinds.set(token.arg, kind)
      else if (known === optional && kind === markup) kinds.set(token.arg, `${markup} | undefined`)
      else if (kind !== known && kind !== text && known !== `${kind} | undefined`)
        throw new Error(`${token.arg} is used as ${known} and as ${kind}: ${message}`)
      if ('cases' in token) for (const { tokens: inner } of token.cases) visit(inner)
    }
  }
  visit(parse(message))
  return kinds
}

/** A plain parameter is inserted without formatting. */
const text = 'string | number'
const optional = 'string | undefined'
const markup = 'Html'

function kindOf(token: Token): string {
  if (token.type === 'plural' || token.type === 'selectordinal' || (token.type === 'function' && token.key === 'number')) return 'number'
  if (token.type === 'function' && token.key === 'html') return markup
  if (token.type !== 'select') return text
  const keys = new Set(token.cases.map(({ key }) => key))
  if (keys.has('true') || keys.has('false')) return 'boolean'
  return keys.has('undefined') ? optional : 'string'
}
