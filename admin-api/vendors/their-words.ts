/** Refusals in the words of a request: where what is wrong stands in it. */
import { invalid, Refusal, type FieldProblem } from '#core/refusals.ts'

/** Where the fields of a message of ours stand in the request. */
interface Named {
  readonly names: Readonly<Record<string, string>>
}

/** A refusal of fields names those of the request; messages are in its order. */
export function inTheirWords(refusal: Refusal, messages: readonly (Named | undefined)[]): Refusal {
  const { code, details } = refusal
  const fields = details?.['fields'] as readonly FieldProblem[] | undefined
  if (code !== 'validation_failed' || !fields) return refusal
  const named = fields.map(({ path, message }) => ({ path: theirPath(path, messages), message: theirSentence(message) }))
  const { message } = invalid(named)
  return new Refusal(code, message, { nextAction: refusal.nextAction, details: { ...details, fields: named } })
}

/** `messages[2].to[0]` or `to[0]`, as where it stands in the request. */
function theirPath(path: string, messages: readonly (Named | undefined)[]): string {
  const [, index = '0', rest = path] = /^messages\[(\d+)\]\.?(.*)$/.exec(path) ?? []
  const names = messages[Number(index)]?.names ?? {}
  const [, name = '', behind = ''] = /^([\w-]+)(.*)$/s.exec(rest) ?? []
  if (!Object.hasOwn(names, name)) return rest
  const theirs = names[name] ?? name
  return theirs.endsWith(':') ? theirs + behind.replace(/^\./, '') : theirs + behind
}

/** What is wrong is said of the field; how we call others is not. */
const theirSentence = (message: string): string => message.replace(/; give one of them$|, or send without a template$/, '')
