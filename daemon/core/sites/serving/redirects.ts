/**
 * Rules of `_redirects`: a path with `:names` and a trailing `*`, a target, and a status. The first matching rule applies; without `!`
 * after the status, only if no file exists. Matching a rule takes time proportional to the segments of the path.
 */
import { maxRuleFileBytes, maxRules, type RuleProblem } from './rule-problem.ts'

interface Rule {
  readonly from: readonly string[]
  readonly to: string
  readonly status: RedirectStatus
  readonly isForced: boolean
}

const statuses = [200, 301, 302, 303, 307, 308, 404] as const
/** 200 and 404 return another file of the site; the other statuses redirect the visitor. */
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
    else
      problems.push({
        line: at + 1,
        problem: typeof rule === 'string' ? rule : `The limit of ${maxRules} rules is reached; this rule is ignored.`,
      })
  }
  return { rules, problems }
}

function readRule(line: string): Rule | string {
  const [from = '', to = '', status = '301', ...more] = line.replace(/\s#.*$/, '').split(/\s+/)
  if (to === '' || more.length > 0) return 'Write a path, a target and a status, separated by spaces.'
  if (!from.startsWith('/')) return 'The path must begin with a slash; rules for other hosts are not supported.'
  if (from.slice(0, -1).includes('*')) return 'A * is allowed only at the end of the path.'
  if (!to.startsWith('/') && !/^https?:\/\/[^\s/]+/.test(to))
    return 'The target must be a path that starts with a slash, or an http or https URL.'
  if (to.startsWith('//') || /[\p{Cc}\\]/u.test(to)) return 'The target must be a path or a URL without backslashes.'
  const [, code = '', force] = /^(\d{3})(!?)$/.exec(status) ?? []
  const known = statuses.find((one) => String(one) === code)
  if (known === undefined) return `The status must be one of ${statuses.join(', ')}.`
  if (!to.startsWith('/') && (known === 200 || known === 404)) return `With the status ${known} the target must be a path of this site.`
  const sent = to.startsWith('/') ? inAscii(to) : URL.canParse(to) ? new URL(to).href : undefined
  if (sent === undefined) return 'The target is not a valid URL.'
  return { from: segmentsOf(from), to: sent, status: known, isForced: force === '!' }
}

/** Returns the path in the form of a header (RFC 3986 §2.1). */
const inAscii = (path: string): string => path.toWellFormed().replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent)

export const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '')

/** Yields the redirects for this decoded path, in order of the rules. Skips rules that lead to the same path. */
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

/** Returns whether the visitor is redirected. */
export const isRedirect = (status: RedirectStatus): boolean => status !== 200 && status !== 404

/** Returns whether the target is the same path, which would cause a redirect loop. */
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

/** Returns the target with the query of the request before its fragment (RFC 3986 §3). A target that has a query keeps its query. */
export function withQuery(target: string, search: string): string {
  const [, place = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(target) ?? []
  return place.includes('?') ? target : `${place}${search}${fragment}`
}

/** Returns the path of a target, without query and fragment. */
export const pathOf = (target: string): string => /^[^?#]*/.exec(target)?.[0] ?? ''

/** An empty name can leave several leading slashes, which browsers interpret as a host name. */
const filled = (to: string, names: ReadonlyMap<string, string>): string =>
  to.replaceAll(/:([A-Za-z]\w*)/g, (whole, name: string) => names.get(name) ?? whole).replace(/^\/{2,}/, '/')
