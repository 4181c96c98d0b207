/** Checks 3 and 4: whether the From domain is proved, and what its policy asks for. */
import type { Facts } from '../facts/mail-facts.ts'
import type { Forwarder } from '../facts/forwarders.ts'
import { addressList } from '../../mime/address-list.ts'
import { domainOf, organizationOf, sameOrganization } from '../../dns/domains.ts'
import { failedFor, unanswered, type Finding, type Verdict } from './verdict.ts'

/** Services that forward mail and whose word on what they saw is believed. */
const trustedSealers: ReadonlySet<string> = new Set([
  'google.com',
  'microsoft.com',
  'outlook.com',
  'yahoo.com',
  'fastmail.com',
  'icloud.com',
])

/** Whether SPF or DKIM speaks for the From domain; `unknown` when DNS kept silent about one of them. */
export function alignment({ auth, mail }: Facts): { readonly dkim: boolean; readonly spf: boolean; readonly unknown: boolean } {
  const { dmarc, spf, dkim } = auth
  const unknown = dmarc.result === 'temperror' || spf.result === 'temperror' || dkim.some(({ result }) => result === 'temperror')
  if (dmarc.record !== '') return { dkim: dmarc.byDkim !== null, spf: dmarc.bySpf !== null, unknown }
  const isOwn = (domain: string): boolean => mail.fromDomain !== '' && sameOrganization(domain, mail.fromDomain)
  return {
    dkim: dkim.some(({ result, domain }) => result === 'pass' && isOwn(domain)),
    spf: spf.result === 'pass' && isOwn(spf.domain),
    unknown,
  }
}

export async function checkDmarc(facts: Facts): Promise<Verdict> {
  const { auth, mail } = facts
  const from = mail.fromDomain
  if (from === '')
    return failedFor([{ text: 'There is no From domain that could be authenticated.', fix: 'Send with exactly one From address.' }])
  const several = severalAuthors(facts)
  if (several) return several
  const aligned = alignment(facts)
  const { record, byDkim, bySpf } = auth.dmarc
  const lack = record === '' ? await lackOf(facts) : undefined
  const evidence = [
    { label: 'From domain', value: from },
    { label: 'Record', value: record || (lack?.evidence ?? '(none)') },
    { label: 'Aligned by DKIM', value: byDkim ?? (aligned.dkim ? from : 'no') },
    { label: 'Aligned by SPF', value: bySpf ?? (aligned.spf ? auth.spf.domain : 'no') },
  ]
  const align = `Let the mail be signed with DKIM by ${organizationOf(from)}, or use a MAIL FROM address of that domain.`
  if (record !== '' && aligned.dkim)
    return { status: 'pass', summary: `A DKIM signature proves that the mail comes from ${from}.`, evidence }
  if (auth.dmarc.result === 'temperror' || aligned.unknown) return unanswered(`what proves ${from}`, evidence)
  if (record !== '' && aligned.spf)
    return {
      ...{ status: 'pass', points: 10, evidence, fix: align },
      summary: `SPF proves that the mail comes from ${from}, but no DKIM signature does; forwarded mail loses its proof.`,
    }
  if (record === '' && (aligned.dkim || aligned.spf))
    return {
      ...{ status: 'warn', points: 5, evidence },
      summary: `The mail is proved to come from ${from}, but ${lack?.text ?? 'there is no DMARC record'}.`,
      fix:
        lack?.fix ??
        `Publish a TXT record at _dmarc.${organizationOf(from)}, to begin with "v=DMARC1; p=none; rua=mailto:dmarc@${organizationOf(from)}".`,
    }
  if (record !== '' && auth.forwarders === 'unknown') return unanswered('who forwarded the mail', evidence)
  const witness = record === '' || auth.forwarders === 'unknown' ? undefined : witnessOf(auth.forwarders)
  if (witness !== undefined)
    return {
      ...{ status: 'warn', points: 6, evidence: [...evidence, { label: 'ARC chain sealed by', value: witness }], fix: align },
      summary: `DMARC fails, but the chain of ${witness} shows that it passed before the mail was forwarded.`,
    }
  const summary =
    record === ''
      ? `Nothing proves who wrote the mail, and ${lack?.text ?? 'there is no DMARC record'}.`
      : `Neither DKIM nor SPF proves that the mail comes from ${from}.`
  return { status: 'fail', summary, evidence, fix: align }
}

/** More than one From field, or authors of several domains: whose policy holds cannot be said (RFC 9989 §5.3.1, RFC 7489 §6.6.1). */
function severalAuthors({ mail }: Facts): Verdict | undefined {
  const fields = mail.fields.filter(({ name }) => name.toLowerCase() === 'from')
  const authors = fields.flatMap(({ value }) => addressList(value)).filter(({ address }) => address !== '')
  const domains = [...new Set(authors.map(({ address }) => domainOf(address)))]
  if (fields.length < 2 && domains.length < 2) return undefined
  const what = fields.length > 1 ? `The mail has ${fields.length} From fields` : `From names authors of ${domains.length} domains`
  return {
    ...failedFor([
      { text: `${what}, so that no DMARC policy can be applied; most receivers refuse it.`, fix: 'Send with exactly one From address.' },
    ]),
    evidence: [{ label: 'From domains', value: domains.slice(0, maxShown).join(', ') }],
  }
}

const maxShown = 10

/** Why there is no record to go by although some are published: receivers use none of several (RFC 9989 §4.10). */
async function lackOf(facts: Facts): Promise<{ readonly text: string; readonly fix: string; readonly evidence: string } | undefined> {
  const found = await published(facts)
  if (found === 'fault' || found.records.length === 0) return undefined
  const where = `_dmarc.${found.domain}`
  if (found.records.length > 1)
    return {
      text: `${where} has ${found.records.length} records, so that receivers use none`,
      fix: `Keep exactly one TXT record at ${where} that begins with v=DMARC1.`,
      evidence: found.records.slice(0, maxShown).join(' | '),
    }
  return {
    text: `receivers cannot use the record of ${where}`,
    fix: `Publish one TXT record at ${where} in the form "v=DMARC1; p=quarantine; rua=mailto:dmarc@${found.domain}".`,
    evidence: found.records.join(' | '),
  }
}

/** Who saw DMARC pass, of those that are trusted: anybody may have written what is behind the first untrusted one. */
function witnessOf(forwarders: readonly Forwarder[]): string | undefined {
  const untrusted = forwarders.findIndex(({ domain }) => !trustedSealers.has(organizationOf(domain)))
  return forwarders.slice(0, untrusted < 0 ? undefined : untrusted).find(({ sawDmarcPass }) => sawDmarcPass)?.domain
}

interface Published {
  readonly domain: string
  readonly records: readonly string[]
}

/** The records of the domain, or else those of the domain that mailauth found on its walk up, or of the registrable domain. */
async function published({ questions, mail, auth }: Facts): Promise<Published | 'fault'> {
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

export async function checkDmarcPolicy(facts: Facts): Promise<Verdict> {
  const from = facts.mail.fromDomain
  if (from === '')
    return failedFor([{ text: 'There is no From domain that could have a policy.', fix: 'Send with exactly one From address.' }])
  const found = await published(facts)
  if (found === 'fault') return unanswered(`the DMARC record of ${from}`)
  const [record] = found.records
  const where = `_dmarc.${found.domain}`
  const example = `"v=DMARC1; p=quarantine; rua=mailto:dmarc@${found.domain}"`
  if (record === undefined)
    return failedFor([{ text: `${found.domain} has no DMARC record.`, fix: `Publish ${example} as TXT record of ${where}.` }])
  const evidence = found.records.map((value) => ({ label: where, value }))
  if (found.records.length > 1)
    return {
      ...failedFor([{ text: `${where} has ${found.records.length} records, so that receivers use none.`, fix: 'Keep exactly one.' }]),
      evidence,
    }
  const tags = tagsOf(record)
  if (!tags) return { ...failedFor([{ text: 'The record cannot be read.', fix: `Write it in the form ${example}.` }]), evidence }
  const findings = policyFindings(tags)
  const reporters = await unauthorized(facts, found.domain, tags.get('rua') ?? '')
  if (reporters === 'fault') return unanswered('who may get the reports', evidence)
  for (const domain of reporters)
    findings.push({
      text: `${domain} does not say that it takes reports about ${found.domain}, so that none are sent there.`,
      fix: `Publish "v=DMARC1" as TXT record of ${found.domain}._report._dmarc.${domain}, or take reports at ${found.domain}.`,
    })
  if (findings.length === 0) return { status: 'pass', summary: `The policy is ${tags.get('p')}, and reports are wanted.`, evidence }
  return {
    ...{ status: 'warn', points: 2, evidence, summary: findings.map(({ text }) => text).join(' ') },
    fix: findings.map(({ fix }) => fix).join(' '),
  }
}

const policies: ReadonlySet<string> = new Set(['none', 'quarantine', 'reject'])

/** The tags by name; undefined where the record does not follow the grammar (RFC 9989 §4.8). */
function tagsOf(record: string): ReadonlyMap<string, string> | undefined {
  const tags = new Map<string, string>()
  for (const part of record.split(';')) {
    if (part.trim() === '') continue
    const [, name, value] = /^\s*([a-z]{1,20})\s*=\s*([^]*?)\s*$/i.exec(part) ?? []
    if (name === undefined || value === undefined || tags.has(name.toLowerCase())) return undefined
    tags.set(name.toLowerCase(), ['p', 'sp', 'np', 't'].includes(name.toLowerCase()) ? value.toLowerCase() : value)
  }
  const wrong = ['p', 'sp', 'np'].some((name) => tags.has(name) && !policies.has(tags.get(name) ?? ''))
  return wrong || !tags.has('p') || /[^\d]/.test(tags.get('pct') ?? '') ? undefined : tags
}

function policyFindings(tags: ReadonlyMap<string, string>): Finding[] {
  const findings: Finding[] = []
  const p = tags.get('p')
  if (p === 'none')
    findings.push({
      text: 'The policy is none: receivers deliver forged mail as well.',
      fix: 'When the reports show only your own servers, change to p=quarantine, later to p=reject.',
    })
  if (reportDomains(tags.get('rua') ?? '').length === 0)
    findings.push({ text: 'No address receives reports.', fix: 'Add rua=mailto: with an address that takes aggregate reports.' })
  if (Number(tags.get('pct') ?? 100) < 100)
    findings.push({ text: `The policy holds for ${tags.get('pct')} % of forged mail only.`, fix: 'Remove pct.' })
  if (tags.get('t') === 'y') findings.push({ text: 'The policy says t=y, that it is only a test.', fix: 'Remove t=y.' })
  if (tags.get('sp') === 'none' && p !== 'none')
    findings.push({ text: 'Subdomains are left open (sp=none).', fix: 'Remove sp, or set it to the policy of the domain.' })
  return findings
}

/** Those of the mail addresses; reports go to no other sort (RFC 9990 §4). */
const reportDomains = (rua: string): string[] =>
  [...rua.matchAll(/mailto:[^,!\s]{1,200}@([a-z0-9.-]{1,253})/gi)].map(([, domain = '']) => domain.toLowerCase())

/** Domains of report addresses that are not the policy's own and have not agreed (RFC 9990 §4). */
async function unauthorized({ questions }: Facts, policyDomain: string, rua: string): Promise<readonly string[] | 'fault'> {
  const foreign = [...new Set(reportDomains(rua))].filter((domain) => !sameOrganization(domain, policyDomain)).slice(0, 5)
  const answers = await Promise.all(foreign.map((domain) => questions.texts(`${policyDomain}._report._dmarc.${domain}`)))
  if (answers.some(({ kind }) => kind === 'fault')) return 'fault'
  return foreign.filter((_, at) => {
    const answer = answers[at]
    return !(answer?.kind === 'records' && answer.records.some((text) => /^\s*v\s*=\s*DMARC1/i.test(text)))
  })
}
