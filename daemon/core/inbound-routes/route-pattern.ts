/** Which local parts an inbound route takes: one exactly, all that begin with `name+`, or every one. Pure. */
import { trimInvisible } from '#config/mail/invisible.ts'

/** Longer local parts do not exist (RFC 5321 §4.5.3.1.1). */
const maxLength = 64
const word = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?:\+[a-z0-9._-]*)*$/

/** Everybody must be able to reach those who run the domain (RFC 5321 §4.5.1, RFC 2142 §4); their mail never is a tenant's. */
const roles: ReadonlySet<string> = new Set(['postmaster', 'abuse', 'mailer-daemon'])

/**
 * Mailboxes that speak for the whole domain: authorities give certificates to whoever reads the first five (CA/Browser Forum, Baseline
 * Requirements 3.2.2.4.4), and the others are those of RFC 2142 that others take for the operator's.
 */
const operatorNames: ReadonlySet<string> = new Set([
  ...['admin', 'administrator', 'webmaster', 'hostmaster', 'root'],
  ...['security', 'noc', 'support', 'info', 'no-reply', 'noreply'],
])

/** Tokens of the service: a return path (VERP), what forwarders make of one (SRS), the address of a test. */
const tokens = /^(?:b[0-9a-hjkmnp-tv-z]{21}|srs[01].*|[a-z2-7]{26}|[0-9a-hjkmnp-tv-z]{26})$/

/** The pattern in its one form; undefined when it is none. */
export function parsePattern(text: string): string | undefined {
  const pattern = trimInvisible(text).toLowerCase()
  if (pattern === '*') return pattern
  const name = pattern.endsWith('+*') ? pattern.slice(0, -1) : pattern
  return name.length <= maxLength && word.test(name) ? pattern : undefined
}

/** What comes before the first `+`; empty for `*`. All patterns with one name belong to one organization. */
export const nameOf = (pattern: string): string => (pattern === '*' ? '' : (pattern.split('+', 1)[0] ?? ''))

/** An address that the pattern takes. */
export const addressFor = (pattern: string, domain: string): string =>
  `${pattern === '*' ? 'test' : pattern.replace(/\*$/, 'test')}@${domain}`

/** Reserved. */
export const isReserved = (pattern: string): boolean => roles.has(nameOf(pattern)) || tokens.test(nameOf(pattern))

/** It stands for the domain as a whole, so that only its operator may have it. */
export const isOperators = (pattern: string): boolean => pattern === '*' || operatorNames.has(nameOf(pattern))

/** Patterns that fit a local part, the most specific first. */
export function patternsFor(localPart: string): string[] {
  const local = localPart.toLowerCase()
  const fitting = [local]
  for (let at = local.lastIndexOf('+'); at > 0; at = local.lastIndexOf('+', at - 1)) fitting.push(`${local.slice(0, at)}+*`)
  return [...fitting, '*']
}
