/** Replaces our field names in refusals by the field names of the request. */
import { invalid, Refusal, type FieldProblem } from '#core/refusals.ts'

/** Names of the request's fields by our field name. */
interface Named {
  readonly names: Readonly<Record<string, string>>
}

/** Returns a refusal with the field names of the request. `messages` has the order of the request. */
export function inVendorTerms(refusal: Refusal, messages: readonly (Named | undefined)[]): Refusal {
  const { code, details } = refusal
  const fields = details?.['fields'] as readonly FieldProblem[] | undefined
  if (code !== 'validation_failed' || !fields) return refusal
  const named = fields.map(({ path, message }) => ({ path: theirPath(path, messages), message: theirSentence(message) }))
  const { message } = invalid(named)
  return new Refusal(code, message, { nextAction: refusal.nextAction, details: { ...details, fields: named } })
}

/** Converts `messages[2].to[0]` or `to[0]` to the path in the request. */
function theirPath(path: string, messages: readonly (Named | undefined)[]): string {
  const [, index = '0', rest = path] = /^messages\[(\d+)\]\.?(.*)$/.exec(path) ?? []
  const names = messages[Number(index)]?.names ?? {}
  const [, name = '', behind = ''] = /^([\w-]+)(.*)$/s.exec(rest) ?? []
  if (!Object.hasOwn(names, name)) return rest
  const theirs = names[name] ?? name
  return theirs.endsWith(':') ? theirs + behind.replace(/^\./, '') : theirs + behind
}

/** Removes advice that uses our field names. */
const theirSentence = (message: string): string => message.replace(/; give one of them$|, or send without a template$/, '')
