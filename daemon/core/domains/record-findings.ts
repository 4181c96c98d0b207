/** Compares published records with expected records, and returns a verdict with a hint. Pure. */
import { BlockList, isIP } from 'node:net'
import { isSpf, termsOf, withTerms } from '#config/mail/spf-record.ts'
import type { RecordVerdict } from './sending-domain.ts'
import { maxSpfLookups, type SpfReading } from './spf-terms.ts'

export interface RecordFinding {
  readonly verdict: RecordVerdict
  readonly hint: string
}

const ok = (hint: string): RecordFinding => ({ verdict: 'ok', hint })
const missing = (hint: string): RecordFinding => ({ verdict: 'missing', hint })
const mismatch = (hint: string): RecordFinding => ({ verdict: 'mismatch', hint })

/** Compares a key record (RFC 6376 §3.6.1) with the expected record. */
export function dkimFinding(found: readonly string[], expected: string): RecordFinding {
  if (found.length === 0) return missing('Publish this record; it can take some minutes to become visible.')
  const findings = found.map((text) => keyRecordFinding(text, expected))
  const right = findings.find(({ verdict }) => verdict === 'ok')
  if (right && found.length > 1)
    return mismatch('This name has several records, which receivers may refuse (RFC 6376 §3.6.2.2); keep only this one.')
  return right ?? findings[0] ?? mismatch('Replace it with the expected record.')
}

function keyRecordFinding(text: string, expected: string): RecordFinding {
  if (/["\\]/.test(text)) return mismatch('The record contains quotes or backslashes; enter it without them.')
  const tags = parseTagList(text)
  const wanted = parseTagList(expected)
  if (!tags || !wanted || (tags.has('v') && (tags.keys().next().value !== 'v' || tags.get('v') !== 'DKIM1')))
    return mismatch('This is not a DKIM key record; replace it with the expected one.')
  const key = tags.get('p')?.replaceAll(/\s/g, '')
  if (key === '') return mismatch('The key is revoked (p= is empty); publish the expected record.')
  if (key !== wanted.get('p')) {
    const cut = key !== undefined && key.length > 0 && wanted.get('p')?.startsWith(key)
    return mismatch(
      cut ? 'The key is truncated; split the text into strings of at most 255 characters.' : 'The record contains another key; replace it.',
    )
  }
  if ((tags.get('k') ?? 'rsa') !== wanted.get('k')) return mismatch(`The key type must be k=${wanted.get('k')}.`)
  if (!lists(tags.get('h'), 'sha256')) return mismatch('The record forbids SHA-256; remove h=.')
  if (!lists(tags.get('s'), 'email')) return mismatch('The record is not for mail; remove s=.')
  return ok(lists(tags.get('t'), 'y', false) ? 'Published in test mode; remove t=y.' : 'Published.')
}

/** Returns whether a colon-separated list contains a word or `*`; returns `unless` for a missing list. */
const lists = (value: string | undefined, word: string, unless = true): boolean =>
  value === undefined
    ? unless
    : value
        .split(':')
        .map((entry) => entry.trim())
        .some((entry) => entry === word || (entry === '*' && unless))

/**
 * Checks an SPF record (RFC 7208 §3). Requires exactly one record with the mechanisms of outgoing mail, and refuses records that allow all
 * hosts.
 */
export function spfFinding(
  texts: readonly string[],
  mechanisms: readonly string[],
  expected: string,
  reading: SpfReading = ownTerms(texts),
): RecordFinding {
  const records = texts.filter(isSpf)
  const [record] = records
  if (record === undefined) return missing(`Publish ${expected}.`)
  if (records.length > 1)
    return mismatch('There are several SPF records, so receivers ignore all of them (permerror, RFC 7208 §4.5); merge them into one.')
  const { terms, lookups, broken } = reading
  const [hole] = broken
  if (hole !== undefined)
    return mismatch(`${hole} has no SPF record or several, so receivers ignore yours (permerror, RFC 7208 §5.2); remove it.`)
  if (lookups > maxSpfLookups)
    return mismatch(
      `The record needs more than ${maxSpfLookups} DNS lookups, so receivers ignore it (permerror, RFC 7208 §4.6.4); remove mechanisms that no longer send.`,
    )
  const lacking = mechanisms.filter((mechanism) => !terms.some((term) => covers(term, mechanism.toLowerCase())))
  if (lacking.length > 0) return mismatch(`Add ${lacking.join(' ')}: ${withTerms(record, lacking)}`)
  if (terms.some((term) => /^\+?all$/.test(term)))
    return mismatch('+all authorizes every host to send in your name; end the record with ~all or -all.')
  if (!terms.some((term) => /^([~?-]all$|redirect=)/.test(term))) return mismatch(`End the record with ~all: ${record.trim()} ~all`)
  return ok(mechanisms.length > 0 ? 'Published.' : 'Published; make sure that it contains the mechanism of your provider.')
}

/** Returns the terms of the record only, for callers that did not read included records. */
const ownTerms = (texts: readonly string[]): SpfReading => ({ terms: texts.filter(isSpf).flatMap(termsOf), lookups: 0, broken: [] })

/** Returns whether a term allows the same as the mechanism: an equal term, or a network that contains the address. */
function covers(term: string, mechanism: string): boolean {
  const passing = term.startsWith('+') ? term.slice(1) : term
  if (passing === mechanism) return true
  const [, family, network = '', bits] = /^ip([46]):([^/]+)(?:\/(\d+))?$/.exec(passing) ?? []
  const [, otherFamily, address = '', otherBits] = /^ip([46]):([^/]+)(?:\/(\d+))?$/.exec(mechanism) ?? []
  if (family === undefined || family !== otherFamily || isIP(network) === 0 || isIP(address) === 0) return false
  const whole = family === '4' ? 32 : 128
  const width = Number(bits ?? whole)
  if (width > whole || width > Number(otherBits ?? whole)) return false
  const list = new BlockList()
  list.addSubnet(network, width, family === '4' ? 'ipv4' : 'ipv6')
  return list.check(address, family === '4' ? 'ipv4' : 'ipv6')
}

/** Checks a DMARC record and its location: the domain itself or a parent domain (RFC 7489 §6.6.3). */
export function dmarcFinding(texts: readonly string[], at: string, domain: string): RecordFinding {
  const records = texts.filter(isDmarc)
  const [record] = records
  if (record === undefined) return missing('Publish this record, or one at the organizational domain; large receivers require it.')
  if (records.length > 1) return mismatch('There are several DMARC records, so receivers ignore all of them (RFC 7489 §6.6.3); keep one.')
  const tags = parseTagList(record)
  const inherited = at !== domain
  const policy = (inherited ? tags?.get('sp') : undefined) ?? tags?.get('p')
  if (!tags || !policy || !/^(none|quarantine|reject)$/i.test(policy))
    return mismatch('The policy must be p=none, p=quarantine or p=reject.')
  const strict = tags.get('adkim')?.toLowerCase() === 's'
  const notes = [
    inherited ? `The record of ${at} applies to this domain too.` : 'Published.',
    strict ? 'adkim=s: each subdomain that sends mail must be added as a sending domain.' : '',
    policy.toLowerCase() === 'none' ? 'p=none only monitors; raise it when all your mail is signed.' : '',
  ]
  return ok(notes.filter((note) => note !== '').join(' '))
}

/** Whether a TXT record is a DMARC record (RFC 7489 §6.4). */
export const isDmarc = (text: string): boolean => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text)

/** Checks the MX records of the bounce domain: the service's host must have the highest preference. */
export function mxFinding(found: readonly { readonly exchange: string; readonly priority: number }[], host: string): RecordFinding {
  if (found.length === 0) return missing('Publish this record so that bounces reach this service.')
  const best = Math.min(...found.map(({ priority }) => priority))
  const first = found.filter(({ priority }) => priority === best).map(({ exchange }) => exchange.toLowerCase().replace(/\.$/, ''))
  if (first.includes(host.toLowerCase())) return ok('Published.')
  return mismatch(`Mail for this name goes to ${first.join(', ')}; make ${host} the most preferred host.`)
}

/**
 * Parses a list such as `tag=value; tag=value` (RFC 6376 §3.2), with lower-case names in order. Returns undefined if the text is not a tag
 * list or repeats a tag.
 */
function parseTagList(text: string): ReadonlyMap<string, string> | undefined {
  const tags = new Map<string, string>()
  for (const part of text.split(';')) {
    if (part.trim() === '') continue
    const equals = part.indexOf('=')
    const name = part.slice(0, equals).trim().toLowerCase()
    if (equals < 1 || !/^[a-z][a-z0-9_]*$/.test(name) || tags.has(name)) return undefined
    tags.set(name, part.slice(equals + 1).trim())
  }
  return tags
}
