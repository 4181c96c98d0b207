/** Check 17: where links lead, as far as they show it themselves. No link is followed. */
import { domainToUnicode } from 'node:url'
import { hasMixedScripts } from '../facts/characters.ts'
import { isRealHost, isReservedHost, organizationOf, plainDomain } from '../../dns/domains.ts'
import type { Facts } from '../facts/mail-facts.ts'
import { failedFor, lessForEach, type Finding, type Verdict } from './verdict.ts'
import { isUnsubscribeLink, type WebLink } from '../facts/web-links.ts'

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
  if (links.length === 0) return { status: 'na', summary: 'The mail has no links.' }
  const hosts = [...new Set(links.map(({ url }) => url.hostname))]
  const evidence = [
    { label: 'Links', value: String(links.length) },
    { label: 'Hosts', value: hosts.slice(0, maxHosts).join(', ') },
  ]
  // a signature whose key DNS did not give may hold
  const signatures = auth.dkim.filter(({ result }) => result === 'pass' || result === 'temperror')
  const signers = new Set(signatures.map(({ domain }) => organizationOf(plainDomain(domain))))
  const grave = links.flatMap((link) => deceptions(link, signers))
  if (grave.length > 0) return { ...failedFor(distinct(grave).slice(0, 5)), evidence }
  const findings: Finding[] = []
  if (links.some(({ url }) => url.protocol === 'http:'))
    findings.push({ text: 'Some links are not encrypted (http).', fix: 'Link to https addresses.' })
  if (hosts.length > maxHosts) findings.push({ text: `The links lead to ${hosts.length} hosts.`, fix: 'Link to few hosts of your own.' })
  if (links.some(({ url }) => url.username !== '' || url.password !== ''))
    findings.push({ text: 'A link holds a login.', fix: 'Remove user name and password from links.' })
  if (bulk.length > 0 && !links.some(isUnsubscribeLink))
    findings.push({ text: 'Bulk mail without a visible link to unsubscribe.', fix: 'Put a link to unsubscribe into the text.' })
  return { ...lessForEach('links', findings, 1, 1, 'All links lead where they say.'), evidence }
}

function deceptions({ url, text }: WebLink, signers: ReadonlySet<string>): Finding[] {
  const host = url.hostname
  if (/^\d{1,3}(?:\.\d{1,3}){3}$|^\[/.test(host))
    return [{ text: `A link leads to an address without a name (${host}).`, fix: 'Link to a host name.' }]
  if (shorteners.has(organizationOf(host)))
    return [{ text: `A link hides behind ${organizationOf(host)}.`, fix: 'Link to the target itself.' }]
  if (hasMixedScripts(domainToUnicode(host)))
    return [{ text: `The host ${host} mixes alphabets, as forgeries do.`, fix: 'Link to a host name in one alphabet.' }]
  const shown = shownHost(text)
  const target = organizationOf(host)
  if (shown === undefined || organizationOf(shown) === target || signers.has(target)) return []
  return [
    {
      text: `A link shows ${shown} and leads to ${host}, as in phishing.`,
      fix: 'Let the text of a link name its target, or sign with DKIM for the domain that counts clicks.',
    },
  ]
}

/** The host that a text shows when it is an address; undefined for other words. */
function shownHost(text: string): string | undefined {
  const trimmed = text.slice(0, 2000).trim()
  if (/\s/.test(trimmed)) return undefined
  const { scheme, host, rest } = shownAddress.exec(trimmed)?.groups ?? {}
  if (host === undefined) return undefined
  const plain = plainDomain(host)
  // `Node.js` and `12.50/kg` are words, `https://node.js/`, `www.node.js` and `node.js/x` are addresses
  const isAddress = scheme !== undefined || plain.startsWith('www.') || (/^[/:?#]/.test(rest ?? '') && /\.[^.\d]{2,}$/.test(plain))
  return isAddress || isRealHost(plain) || isReservedHost(plain) ? plain : undefined
}

const shownAddress =
  /^(?<scheme>https?:\/\/)?(?:[^\s/@]{1,64}@)?(?<host>(?:[\p{L}\p{N}_-]{1,63}\.){1,8}[\p{L}\p{N}-]{1,63})(?<rest>[/:?#].*|\.?)$/iu

const distinct = (findings: readonly Finding[]): Finding[] => [...new Map(findings.map((finding) => [finding.text, finding])).values()]
