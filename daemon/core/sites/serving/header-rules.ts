/** Rules of `_headers`: a path, followed by indented response headers. All matching rules apply; later rules override earlier ones. */
import { maxRuleFileBytes, maxRules, type RuleProblem } from './rule-problem.ts'

interface Rule {
  /** A trailing `*` matches every path with this prefix. */
  readonly path: string
  readonly fields: readonly (readonly [string, string])[]
}

export interface HeaderRules {
  readonly rules: readonly Rule[]
  readonly problems: readonly RuleProblem[]
}

/** Headers that the service sets, headers of the connection, and headers with effects beyond the site. */
const own: ReadonlySet<string> = new Set(
  (
    'accept-ranges age allow alt-svc connection content-encoding content-length content-range content-type date etag keep-alive last-modified location ' +
    'proxy-authenticate public-key-pins retry-after server set-cookie set-cookie2 strict-transport-security te trailer transfer-encoding upgrade vary via ' +
    'www-authenticate x-content-type-options'
  ).split(' '),
)
/** Headers that proxies in front of the service execute: internal files, other addresses, caches. */
const ofProxies = /^(?:proxy-|x-accel-|x-sendfile|x-lighttpd-|x-litespeed-|x-reproxy-|surrogate-)/
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const visible = /^[\t\x20-\x7e]{0,4096}$/

export function readHeaderRules(text: string): HeaderRules {
  const rules: { path: string; fields: (readonly [string, string])[] }[] = []
  const problems: RuleProblem[] = []
  let fields = 0
  for (const [at, written] of text.slice(0, maxRuleFileBytes).split(/\r?\n/).entries()) {
    const line = written.trim()
    if (line === '' || line.startsWith('#')) continue
    const problem = /^\s/.test(written) ? addField(rules.at(-1), line, ++fields) : addPath(rules, line)
    if (problem !== undefined) problems.push({ line: at + 1, problem })
  }
  return { rules, problems }
}

function addPath(rules: { path: string; fields: (readonly [string, string])[] }[], path: string): string | undefined {
  rules.push({ path, fields: [] })
  if (!path.startsWith('/')) return 'The path must begin with a slash; rules for other hosts are not supported.'
  if (path.slice(0, -1).includes('*')) return 'A * is allowed only at the end of the path.'
  return rules.length > maxRules ? `The limit of ${maxRules} rules is reached; this rule is ignored.` : undefined
}

function addField(
  rule: { path: string; fields: (readonly [string, string])[] } | undefined,
  line: string,
  count: number,
): string | undefined {
  if (!rule) return 'Write a path before the headers.'
  const colon = line.indexOf(':')
  const [name, value] = [line.slice(0, Math.max(0, colon)), line.slice(colon + 1).trim()]
  if (!token.test(name) || !visible.test(value)) return 'Write a header as "Name: value", in ASCII.'
  if (own.has(name.toLowerCase()) || ofProxies.test(name.toLowerCase())) return `${name} is set by the service.`
  if (count > maxRules) return `The limit of ${maxRules} headers is reached; this header is ignored.`
  rule.fields.push([name.toLowerCase(), value])
  return undefined
}

/** Returns the headers for this decoded path, by lower-case name. */
export function headersFor({ rules }: HeaderRules, path: string): ReadonlyMap<string, string> | undefined {
  if (rules.length === 0) return undefined
  const fields = new Map<string, string>()
  for (const rule of rules.slice(0, maxRules)) {
    const fits = rule.path.endsWith('*') ? path.startsWith(rule.path.slice(0, -1)) : path === rule.path
    if (fits && rule.path.startsWith('/')) for (const [name, value] of rule.fields) fields.set(name, value)
  }
  return fields.size === 0 ? undefined : fields
}
