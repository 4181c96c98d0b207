/**
 * The DMARC record of a domain: finds it, parses it (RFC 9989 §4.8), and proposes a first or corrected record. All checks give the same
 * advice for a name.
 */
import type { Said } from '#core/inspect/report.ts'
import { organizationOf } from '../../dns/domains.ts'
import type { Facts } from '../facts/mail-facts.ts'
import { say } from '../sentences/say.ts'

export interface Published {
  readonly domain: string
  readonly records: readonly string[]
}

/** The records of the From domain, else of the domain that mailauth's tree walk found, else of the registrable domain. */
export async function published({ questions, mail, auth }: Facts): Promise<Published | 'fault'> {
  const { policyDomain } = auth.dmarc
  const places = [...new Set([mail.fromDomain, policyDomain === '' ? organizationOf(mail.fromDomain) : policyDomain])]
  for (const domain of places) {
    const answer = await questions.texts(`_dmarc.${domain}`)
    if (answer.kind === 'fault') return 'fault'
    const records = answer.kind === 'records' ? answer.records.filter((text) => /^\s*v\s*=\s*DMARC1\s*(?:;|$)/i.test(text)) : []
    if (records.length > 0) return { domain, records }
  }
  return { domain: places.at(-1) ?? '', records: [] }
}

/** The first record to publish. */
export const firstRecord = (domain: string): Said =>
  say('fix_dmarc_begin', { where: `_dmarc.${domain}`, record: `v=DMARC1; p=none; rua=mailto:dmarc@${domain}` })

/** The published record with a policy, without the parts that receivers cannot parse. */
export function repairedRecord(domain: string, record: string): Said {
  const kept = new Map<string, string>()
  for (const [name, value] of writtenTags(record)) if (isReadable(name, value) && !kept.has(name)) kept.set(name, value)
  const { v: _version, p = 'none', ...others } = Object.fromEntries(kept)
  const tags = Object.entries({ v: 'DMARC1', p, ...others }).map(([name, value]) => `${name}=${value}`)
  return say('fix_dmarc_form', { where: `_dmarc.${domain}`, record: tags.join('; ') })
}

const policies: ReadonlySet<string> = new Set(['none', 'quarantine', 'reject'])
const policyTags: ReadonlySet<string> = new Set(['p', 'sp', 'np'])

const isReadable = (name: string, value: string): boolean =>
  policyTags.has(name) ? policies.has(value) : name !== 'pct' || /^\d+$/.test(value)

/** The parts of the form `tag=value`, with names and keyword values in lower case. */
const writtenTags = (record: string): (readonly [name: string, value: string])[] =>
  record.split(';').flatMap((part) => {
    const [, name = '', value] = /^\s*([a-z]{1,20})\s*=\s*([^]*?)\s*$/i.exec(part) ?? []
    if (value === undefined) return []
    const tag = name.toLowerCase()
    return [[tag, policyTags.has(tag) || tag === 't' ? value.toLowerCase() : value] as const]
  })

/** The tags by name, or undefined if the record violates the grammar. */
export function tagsOf(record: string): ReadonlyMap<string, string> | undefined {
  const written = writtenTags(record)
  const tags = new Map(written)
  const parts = record.split(';').filter((part) => part.trim() !== '')
  const isWhole = parts.length === written.length && tags.size === written.length
  return isWhole && tags.has('p') && written.every(([name, value]) => isReadable(name, value)) ? tags : undefined
}
