/** Check 17: the targets of links, as far as the addresses show them. No link is followed. */
import { readsLike } from '../facts/characters.ts'
import { shownHosts } from '../../html/shown-hosts.ts'
import { organizationOf, plainDomain } from '../../dns/domains.ts'
import type { Facts } from '../facts/mail-facts.ts'
import { failedFor, lessForEach, type Finding, type Verdict } from './verdict.ts'
import { isUnsubscribeLink, type WebLink } from '../facts/web-links.ts'
import { inEnglish, say, term } from '../sentences/say.ts'

const maxHosts = 30
const shorteners: ReadonlySet<string> = new Set([
  ...[
    'bit.ly',
    't.co',
    'goo.gl',
    'tinyurl.com',
    'ow.ly',
    'is.gd',
    'v.gd',
    'buff.ly',
    'rebrand.ly',
    'cutt.ly',
    'shorturl.at',
    't.ly',
    'rb.gy',
  ],
  ...['lnkd.in', 'tiny.cc', 'bl.ink', 'soo.gd', 's.id', 'dub.sh', 'shorte.st', 'adf.ly', 'trib.al', 'dlvr.it', 'tiny.one', 'qr.ae', 'u.to'],
])

export function checkLinks({ links, bulk, auth }: Facts): Verdict {
  if (links.length === 0) return { status: 'na', summary: say('links_none') }
  const hosts = [...new Set(links.map(({ url }) => url.hostname))]
  const evidence = [
    { label: term('links'), value: String(links.length) },
    { label: term('hosts'), value: hosts.slice(0, maxHosts).join(', ') },
  ]
  // a signature whose key DNS did not return may be valid
  const signatures = auth.dkim.filter(({ result }) => result === 'pass' || result === 'temperror')
  const signers = new Set(signatures.map(({ domain }) => organizationOf(plainDomain(domain))))
  const grave = links.flatMap((link) => deceptions(link, signers))
  if (grave.length > 0) return { ...failedFor(distinct(grave).slice(0, 5)), evidence }
  const findings: Finding[] = []
  if (links.some(({ url }) => url.protocol === 'http:')) findings.push({ text: say('links_plain'), fix: say('fix_links_https') })
  if (hosts.length > maxHosts) findings.push({ text: say('links_hosts', { count: hosts.length }), fix: say('fix_links_hosts') })
  if (links.some(({ url }) => url.username !== '' || url.password !== ''))
    findings.push({ text: say('links_login'), fix: say('fix_links_login') })
  if (bulk.length > 0 && !links.some(isUnsubscribeLink))
    findings.push({ text: say('links_no_unsubscribe'), fix: say('fix_links_unsubscribe') })
  return { ...lessForEach('links', findings, 1, 1, say('links_pass')), evidence }
}

function deceptions({ url, text }: WebLink, signers: ReadonlySet<string>): Finding[] {
  const host = url.hostname
  if (/^\d{1,3}(?:\.\d{1,3}){3}$|^\[/.test(host)) return [{ text: say('link_bare_address', { host }), fix: say('fix_link_name') }]
  if (shorteners.has(organizationOf(host)))
    return [{ text: say('link_shortened', { host: organizationOf(host) }), fix: say('fix_link_target') }]
  if (readsLike(host) !== undefined) return [{ text: say('link_scripts', { host }), fix: say('fix_link_scripts') }]
  const target = organizationOf(host)
  const shown = shownHosts(text).find((one) => organizationOf(one) !== target)
  if (shown === undefined || signers.has(target)) return []
  return [
    {
      text: say('link_deceives', { shown, host }),
      fix: say('fix_link_text'),
    },
  ]
}

const distinct = (findings: readonly Finding[]): Finding[] => [
  ...new Map(findings.map((finding) => [inEnglish(finding.text), finding])).values(),
]
