/**
 * Rules of `_redirects`: a path with `:names` and `*` at its end, where it leads, and a status. The first that fits counts; without `!`
 * behind the status, only where there is no file. Matching takes as long as the path has segments, for each rule.
 */
import { maxRuleFileBytes, maxRules, type RuleProblem } from './rule-problem.ts'

interface Rule {
  readonly from: readonly string[]
  readonly to: string
  readonly status: RedirectStatus
  readonly isForced: boolean
}

const statuses = [200, 301, 302, 303, 307, 308, 404] as const
/** 200 and 404 answer with another file of the site; the others send the visitor elsewhere. */
export type RedirectStatus = (typeof statuses)[number]

export interface Redirects {
  readonly rules: readonly Rule[]
  readonly problems: readonly RuleProblem[]
}

export interface Redirect {
  readonly to: string
  readonly status: RedirectStatus
  readonly isForced: boolean
}

export function readRedirects(text: string): Redirects {
  const rules: Rule[] = []
  const problems: RuleProblem[] = []
  for (const [at, written] of text.slice(0, maxRuleFileBytes).split(/\r?\n/).entries()) {
    const line = written.trim()
    if (line === '' || line.startsWith('#')) continue
    const rule = readRule(line)
    if (typeof rule !== 'string' && rules.length < maxRules) rules.push(rule)
    else problems.push({ line: at + 1, problem: typeof rule === 'string' ? rule : `Only ${maxRules} rules are read.` })
  }
  return { rules, problems }
}

function readRule(line: string): Rule | string {
  const [from = '', to = '', status = '301', ...more] = line.replace(/\s#.*$/, '').split(/\s+/)
  if (to === '' || more.length > 0) return 'Write the path, where it leads, and a status, with blanks between them.'
  if (!from.startsWith('/')) return 'The path must begin with a slash; rules for other hosts are not supported.'
  if (from.slice(0, -1).includes('*')) return 'A * stands at the end of the path only.'
  if (!to.startsWith('/') && !/^https?:\/\/[^\s/]+/.test(to))
    return 'It must lead to a path that begins with a slash, or to an http or https address.'
  if (to.startsWith('//') || /[\p{Cc}\\]/u.test(to)) return 'It must lead to a path or an address, without backslashes.'
  const [, code = '', force] = /^(\d{3})(!?)$/.exec(status) ?? []
  const known = statuses.find((one) => String(one) === code)
  if (known === undefined) return `The status must be one of ${statuses.join(', ')}.`
  if (!to.startsWith('/') && (known === 200 || known === 404)) return `With the status ${known} it must lead to a path of this site.`
  const sent = to.startsWith('/') ? inAscii(to) : URL.canParse(to) ? new URL(to).href : undefined
  if (sent === undefined) return 'It leads to an address that is none.'
  return { from: segmentsOf(from), to: sent, status: known, isForced: force === '!' }
}

/** As a field holds it (RFC 3986 §2.1). */
const inAscii = (path: string): string => path.toWellFormed().replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent)

export const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '')

/** Where the rules lead from this decoded path, in their order. A rule that leads back to the same path is skipped. */
export function* redirectsFor({ rules }: Redirects, path: string, isForced = false): Generator<Redirect> {
  if (rules.length === 0) return
  const segments = segmentsOf(path)
  for (const rule of rules) {
    if (isForced && !rule.isForced) continue
    const names = matched(rule.from, segments)
    if (!names) continue
    const to = filled(rule.to, names)
    if (!isRedirect(rule.status) || !leadsTo(to, segments)) yield { to, status: rule.status, isForced: rule.isForced }
  }
}

/** The visitor is sent elsewhere. */
export const isRedirect = (status: RedirectStatus): boolean => status !== 200 && status !== 404

/** A browser that follows such a target asks the same again, until it gives up. */
function leadsTo(to: string, segments: readonly string[]): boolean {
  const target = to.startsWith('/') ? segmentsOf(pathOf(to)) : []
  return to.startsWith('/') && target.length === segments.length && target.every((segment, at) => isSame(segment, segments[at] ?? ''))
}

function isSame(encoded: string, segment: string): boolean {
  try {
    return decodeURIComponent(encoded) === segment
  } catch {
    return false
  }
}

function matched(from: readonly string[], path: readonly string[]): ReadonlyMap<string, string> | undefined {
  const names = new Map<string, string>()
  for (const [i, segment] of from.entries()) {
    if (segment === '*' && i === from.length - 1) return names.set('splat', path.slice(i).map(encodeURIComponent).join('/'))
    const given = path[i]
    if (given === undefined) return undefined
    if (segment.startsWith(':')) names.set(segment.slice(1), encodeURIComponent(given))
    else if (segment !== given) return undefined
  }
  return path.length === from.length ? names : undefined
}

/** The target with the query of the request before its fragment (RFC 3986 §3). A target with a query of its own keeps that one. */
export function withQuery(target: string, search: string): string {
  const [, place = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(target) ?? []
  return place.includes('?') ? target : `${place}${search}${fragment}`
}

/** The path of a target, without query and fragment. */
export const pathOf = (target: string): string => /^[^?#]*/.exec(target)?.[0] ?? ''

/** An empty name can leave several slashes at the front, which browsers read as the name of a host. */
const filled = (to: string, names: ReadonlyMap<string, string>): string =>
  to.replaceAll(/:([A-Za-z]\w*)/g, (whole, name: string) => names.get(name) ?? whole).replace(/^\/{2,}/, '/')
