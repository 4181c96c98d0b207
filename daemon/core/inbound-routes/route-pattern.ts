/** Patterns of local parts: one exact local part, all with the prefix `name+`, or all. Pure. */
import { trimInvisible } from '#config/mail/invisible.ts'

/** Maximum length of a local part (RFC 5321 §4.5.3.1.1). */
const maxLength = 64
const word = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?:\+[a-z0-9._-]*)*$/

/** Role addresses of the domain's operator, reserved for the service (RFC 5321 §4.5.1, RFC 2142 §4). */
const roles: ReadonlySet<string> = new Set(['postmaster', 'abuse', 'mailer-daemon'])

/**
 * Names that represent the whole domain. Certificate authorities issue certificates to readers of the first five (CA/Browser Forum,
 * Baseline Requirements 3.2.2.4.4). The others are from RFC 2142 or seem to be the operator's.
 */
const operatorNames: ReadonlySet<string> = new Set([
  ...['admin', 'administrator', 'webmaster', 'hostmaster', 'root'],
  ...['security', 'noc', 'support', 'info', 'no-reply', 'noreply'],
])

/** Tokens of the service: return paths (VERP), their SRS forms, and addresses of deliverability tests. */
const tokens = /^(?:b[0-9a-hjkmnp-tv-z]{21}|srs[01].*|[a-z2-7]{26}|[0-9a-hjkmnp-tv-z]{26})$/

/** Returns the normalized pattern; undefined if it is invalid. */
export function parsePattern(text: string): string | undefined {
  const pattern = trimInvisible(text).toLowerCase()
  if (pattern === '*') return pattern
  const name = pattern.endsWith('+*') ? pattern.slice(0, -1) : pattern
  return name.length <= maxLength && word.test(name) ? pattern : undefined
}

/** Returns the name before the first `+`; empty for `*`. All patterns with one name belong to one organization. */
export const nameOf = (pattern: string): string => (pattern === '*' ? '' : (pattern.split('+', 1)[0] ?? ''))

/** Returns an example address that matches the pattern. */
export const addressFor = (pattern: string, domain: string): string =>
  `${pattern === '*' ? 'test' : pattern.replace(/\*$/, 'test')}@${domain}`

/** Whether the pattern is reserved for the service. */
export const isReserved = (pattern: string): boolean => roles.has(nameOf(pattern)) || tokens.test(nameOf(pattern))

/** Whether the pattern represents the whole domain, so that only its operator may use it. */
export const isOperators = (pattern: string): boolean => pattern === '*' || operatorNames.has(nameOf(pattern))

/** Returns the patterns that match a local part, most specific first. */
export function patternsFor(localPart: string): string[] {
  const local = localPart.toLowerCase()
  const fitting = [local]
  for (let at = local.lastIndexOf('+'); at > 0; at = local.lastIndexOf('+', at - 1)) fitting.push(`${local.slice(0, at)}+*`)
  return [...fitting, '*']
}
