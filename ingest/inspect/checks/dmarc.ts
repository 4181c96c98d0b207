/** Checks 3 and 4: whether the From domain is authenticated, and which policy it publishes. */
import type { Said } from '#core/inspect/report.ts'
import type { Facts } from '../facts/mail-facts.ts'
import type { Forwarder } from '../facts/forwarders.ts'
import { addressList } from '../../mime/address-list.ts'
import { domainOf, organizationOf, sameOrganization } from '../../dns/domains.ts'
import { isMailboxProvider } from '../facts/ownership.ts'
import { failedFor, summaryOf, unanswered, type Finding, type Verdict } from './verdict.ts'
import { firstRecord, published, repairedRecord, tagsOf } from './dmarc-record.ts'
import { say, term } from '../sentences/say.ts'

/** Forwarding services whose authentication results are trusted. */
const trustedSealers: ReadonlySet<string> = new Set([
  'google.com',
  'microsoft.com',
  'outlook.com',
  'yahoo.com',
  'fastmail.com',
  'icloud.com',
])

/** Whether SPF or DKIM is aligned with the From domain. `unknown` if DNS did not answer about either. */
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
  if (from === '') return failedFor([{ text: say('dmarc_no_domain'), fix: say('fix_one_from') }])
  const several = severalAuthors(facts)
  if (several) return several
  const aligned = alignment(facts)
  const { record, byDkim, bySpf } = auth.dmarc
  const lack = record === '' ? await lackOf(facts) : missing(from)
  const evidence = [
    { label: term('from_domain'), value: from },
    { label: term('record'), value: record || (lack.evidence ?? term('none')) },
    { label: term('by_dkim'), value: byDkim ?? (aligned.dkim ? from : term('no')) },
    { label: term('by_spf'), value: bySpf ?? (aligned.spf ? auth.spf.domain : term('no')) },
  ]
  const align = alignAdvice(facts, aligned.spf)
  if (record !== '' && aligned.dkim) return { status: 'pass', summary: say('dmarc_pass', { domain: from }), evidence }
  if (auth.dmarc.result === 'temperror' || aligned.unknown) return unanswered(say('silent_proof', { domain: from }), evidence)
  if (record !== '' && aligned.spf)
    return {
      ...{ status: 'pass', points: 10, evidence, fix: align },
      summary: say('dmarc_spf_alone', { domain: from }),
    }
  if (record === '' && (aligned.dkim || aligned.spf))
    return {
      ...{ status: 'warn', points: 5, evidence },
      summary: [say('dmarc_proved', { domain: from }), lack.text],
      fix: lack.fix,
    }
  if (record !== '' && auth.forwarders === 'unknown') return unanswered(say('silent_forwarders'), evidence)
  const witness = record === '' || auth.forwarders === 'unknown' ? undefined : witnessOf(auth.forwarders)
  if (witness !== undefined)
    return {
      ...{ status: 'warn', points: 6, evidence: [...evidence, { label: term('arc'), value: witness }], fix: align },
      summary: say('dmarc_forwarded', { witness }),
    }
  const summary = record === '' ? [say('dmarc_unproved'), lack.text] : say('dmarc_fails', { domain: from })
  return { status: 'fail', summary, evidence, fix: align }
}

/** Advice to align the From domain: for a missing signature, or for MAIL FROM. */
function alignAdvice({ auth, mail }: Facts, isBySpf: boolean): Said {
  const domain = organizationOf(mail.fromDomain)
  if (isMailboxProvider(domain)) return say('fix_from_own_domain')
  const isSigned = auth.dkim.some((signature) => sameOrganization(signature.domain.toLowerCase(), domain))
  const isForwarded = auth.forwarders !== 'unknown' && auth.forwarders.length > 0
  if (isSigned) return isForwarded ? say('fix_forward_direct') : say('fix_align_repair', { domain })
  return isBySpf || isForwarded ? say('fix_align_sign', { domain }) : say('fix_align', { domain })
}

/** Several From fields, or authors of several domains: no single policy applies (RFC 9989 §5.3.1, RFC 7489 §6.6.1). */
function severalAuthors({ mail }: Facts): Verdict | undefined {
  const fields = mail.fields.filter(({ name }) => name.toLowerCase() === 'from')
  const authors = fields.flatMap(({ value }) => addressList(value)).filter(({ address }) => address !== '')
  const domains = [...new Set(authors.map(({ address }) => domainOf(address)))]
  if (fields.length < 2 && domains.length < 2) return undefined
  const count = fields.length > 1 ? fields.length : domains.length
  const text = say(fields.length > 1 ? 'dmarc_from_fields' : 'dmarc_from_domains', { count })
  return {
    ...failedFor([{ text, fix: say('fix_one_from') }]),
    evidence: [{ label: term('from_domains'), value: domains.slice(0, maxShown).join(', ') }],
  }
}

const maxShown = 10

/** The reason why no record is usable. */
interface Lack extends Finding {
  /** The records that are published. */
  readonly evidence?: string
}

const missing = (from: string): Lack => ({ text: say('dmarc_missing'), fix: firstRecord(organizationOf(from)) })

/** Receivers ignore several records (RFC 9989 §4.10). */
async function lackOf(facts: Facts): Promise<Lack> {
  const found = await published(facts)
  if (found === 'fault' || found.records.length === 0) return missing(facts.mail.fromDomain)
  const where = `_dmarc.${found.domain}`
  if (found.records.length > 1)
    return {
      text: say('dmarc_records', { where, count: found.records.length }),
      fix: say('fix_dmarc_one', { where }),
      evidence: found.records.slice(0, maxShown).join(' | '),
    }
  return {
    text: say('dmarc_unusable', { where }),
    fix: repairedRecord(found.domain, found.records.join('')),
    evidence: found.records.join(' | '),
  }
}

/** The trusted forwarder that saw DMARC pass. An untrusted forwarder may have forged all earlier seals, so those do not count. */
function witnessOf(forwarders: readonly Forwarder[]): string | undefined {
  const untrusted = forwarders.findIndex(({ domain }) => !trustedSealers.has(organizationOf(domain)))
  return forwarders.slice(0, untrusted < 0 ? undefined : untrusted).find(({ sawDmarcPass }) => sawDmarcPass)?.domain
}

export async function checkDmarcPolicy(facts: Facts): Promise<Verdict> {
  const from = facts.mail.fromDomain
  if (from === '') return failedFor([{ text: say('policy_no_domain'), fix: say('fix_one_from') }])
  if (isMailboxProvider(from)) return { status: 'na', summary: say('provider_domain', { domain: from }) }
  const found = await published(facts)
  if (found === 'fault') return unanswered(say('silent_dmarc', { domain: from }))
  const [record] = found.records
  const where = `_dmarc.${found.domain}`
  if (record === undefined) return failedFor([{ text: say('policy_missing', { domain: found.domain }), fix: firstRecord(found.domain) }])
  const evidence = found.records.map((value) => ({ label: where, value }))
  if (found.records.length > 1)
    return {
      ...failedFor([{ text: say('dmarc_records', { where, count: found.records.length }), fix: say('fix_dmarc_one', { where }) }]),
      evidence,
    }
  const tags = tagsOf(record)
  if (!tags) return { ...failedFor([{ text: say('policy_unreadable'), fix: repairedRecord(found.domain, record) }]), evidence }
  const findings = policyFindings(tags)
  const reporters = await unauthorized(facts, found.domain, tags.get('rua') ?? '')
  if (reporters === 'fault') return unanswered(say('silent_reports'), evidence)
  for (const domain of reporters)
    findings.push({
      text: say('policy_reporter', { reporter: domain, domain: found.domain }),
      fix: say('fix_policy_reporter', { reporter: domain, where: `${found.domain}._report._dmarc.${domain}`, domain: found.domain }),
    })
  if (findings.length === 0) return { status: 'pass', summary: say('policy_pass', { policy: tags.get('p') ?? '' }), evidence }
  return { status: 'warn', points: 2, evidence, ...summaryOf(findings) }
}

function policyFindings(tags: ReadonlyMap<string, string>): Finding[] {
  const findings: Finding[] = []
  const p = tags.get('p')
  if (p === 'none')
    findings.push({
      text: say('policy_none'),
      fix: say('fix_policy_stricter'),
    })
  if (reportDomains(tags.get('rua') ?? '').length === 0) findings.push({ text: say('policy_no_reports'), fix: say('fix_policy_reports') })
  if (Number(tags.get('pct') ?? 100) < 100)
    findings.push({ text: say('policy_percent', { percent: tags.get('pct') ?? '' }), fix: say('fix_policy_percent') })
  if (tags.get('t') === 'y') findings.push({ text: say('policy_testing'), fix: say('fix_policy_testing') })
  if (tags.get('sp') === 'none' && p !== 'none') findings.push({ text: say('policy_subdomains'), fix: say('fix_policy_subdomains') })
  return findings
}

/** Domains of the mail addresses; reports are sent to no other kind of address (RFC 9990 §4). */
const reportDomains = (rua: string): string[] =>
  [...rua.matchAll(/mailto:[^,!\s]{1,200}@([a-z0-9.-]{1,253})/gi)].map(([, domain = '']) => domain.toLowerCase())

/** Domains of report addresses that do not belong to the policy domain and have not authorized it (RFC 9990 §4). */
async function unauthorized({ questions }: Facts, policyDomain: string, rua: string): Promise<readonly string[] | 'fault'> {
  const foreign = [...new Set(reportDomains(rua))].filter((domain) => !sameOrganization(domain, policyDomain)).slice(0, 5)
  const answers = await Promise.all(foreign.map((domain) => questions.texts(`${policyDomain}._report._dmarc.${domain}`)))
  if (answers.some(({ kind }) => kind === 'fault')) return 'fault'
  return foreign.filter((_, at) => {
    const answer = answers[at]
    return !(answer?.kind === 'records' && answer.records.some((text) => /^\s*v\s*=\s*DMARC1/i.test(text)))
  })
}
