/** SPF, DKIM, DMARC and ARC of a mail, by mailauth, in the form that the checks need. */
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js'
import { spf } from 'mailauth/lib/spf/index.js'
import { withFewSignatures } from '../../authentication/few-signatures.ts'
import type { HeaderField } from '../../mime/header-fields.ts'
import { domainOf, plainDomain } from '../../dns/domains.ts'
import { forwardersIn, type Forwarders } from './forwarders.ts'
import type { InspectInput } from './score-input.ts'
import type { Mail } from './parsed-mail.ts'
import { watch, type MailauthResolver, type Questions } from '../../dns/questions.ts'

export interface SpfFacts {
  readonly result: string
  readonly domain: string
  readonly record: string
  readonly lookups: number
  readonly comment: string
}

/** The value of `comment` for a key shorter than 1024 bits. */
export const weakKey = 'weak-key'
/** The value of `comment` for rsa-sha1, which is not accepted (RFC 8301 §3.1). */
export const weakAlgorithm = 'weak algorithm'

export interface DkimFacts {
  readonly result: string
  readonly domain: string
  readonly selector: string
  readonly algorithm: string
  /** Bits of an RSA key; null for other keys, or if the key is unknown. */
  readonly keyBits: number | null
  readonly isTesting: boolean
  /** The signature has an `l=` tag, so a part of the body may be unsigned. */
  readonly isBodyLimited: boolean
  /** Milliseconds since the epoch; null if the signature does not expire. */
  readonly expiresAt: number | null
  /** Lower-case names of the signed fields, including repetitions. */
  readonly signed: readonly string[]
  readonly comment: string
}

export interface DmarcFacts {
  /** `none` if there is no record. */
  readonly result: string
  readonly record: string
  /** The domain of the record. */
  readonly policyDomain: string
  /** The aligned domains, or null. */
  readonly byDkim: string | null
  readonly bySpf: string | null
}

export interface Authentication {
  readonly spf: SpfFacts
  readonly dkim: readonly DkimFacts[]
  readonly dmarc: DmarcFacts
  readonly forwarders: Forwarders
}

/** The domain that SPF checks: of MAIL FROM, or of EHLO for the null reverse-path (RFC 7208 §2.4). */
export const spfIdentity = ({ session }: InspectInput): string =>
  session.mailFrom === '' ? plainDomain(session.helo) : domainOf(session.mailFrom)

export async function authenticate(input: InspectInput, mail: Mail, questions: Questions): Promise<Authentication> {
  const { session, now } = input
  const { resolve } = questions
  const resolver = resolve as MailauthResolver
  const spfWatched = watch(resolve)
  const [spfResult, dkimResult] = await Promise.all([
    spf({
      ...{ sender: session.mailFrom, ip: session.clientIp, helo: session.helo, mta: session.serverName },
      resolver: spfWatched.resolver,
      strict: true,
    }),
    dkimVerify(withFewSignatures(mail.raw), { resolver, curTime: new Date(now), rejectRsaSha1: true }),
  ])
  const forwarders = dkimResult.arc ? await forwardersIn(dkimResult.arc, resolve) : []
  const passing = dkimResult.results.filter(({ status }) => status.result === 'pass')
  const { response: dmarcResult } = await evaluateDmarc({
    headerFrom: dkimResult.headerFrom,
    fromFields: mail.fields.filter(({ name }) => name.toLowerCase() === 'from').length,
    spfDomains: spfResult.status.result === 'pass' ? [spfResult.domain] : [],
    dkimDomains: passing.map(({ id, signingDomain, status }) => ({ id, domain: signingDomain, underSized: status.underSized })),
    resolver,
  } as Parameters<typeof evaluateDmarc>[0])
  const signatures = mail.fields.filter(({ name }) => name.toLowerCase() === 'dkim-signature')
  return {
    spf: {
      // an unanswered ptr mechanism does not match (RFC 7208 §5.5), but could have matched
      result: spfResult.status.result !== 'pass' && spfWatched.hasFault() ? 'temperror' : spfResult.status.result,
      ...{ domain: spfResult.domain, record: spfResult.rr ?? '' },
      lookups: (spfResult as { lookups?: { count?: number } }).lookups?.count ?? 0,
      comment: spfResult.status.comment ?? '',
    },
    dkim: dkimResult.results.filter(({ status }) => status.result !== 'none').map((result) => dkimFacts(result, signatures)),
    dmarc: {
      result: dmarcResult === false ? 'none' : dmarcResult.status.result,
      record: (dmarcResult && dmarcResult.rr) || '',
      policyDomain: (dmarcResult && dmarcResult.policyDomain) || '',
      byDkim: (dmarcResult && dmarcResult.alignment?.dkim?.result) || null,
      bySpf: (dmarcResult && dmarcResult.alignment?.spf?.result) || null,
    },
    forwarders,
  }
}

type DkimRow = Awaited<ReturnType<typeof dkimVerify>>['results'][number]

function dkimFacts(row: DkimRow, signatures: readonly HeaderField[]): DkimFacts {
  const own = plainValue(row.signature ?? '')
  const field = signatures.find(({ value }) => own !== '' && tagOf(value, 'b') === own)?.value ?? ''
  const more = row as DkimRow & { expiresAfter?: string | null; canonBodyLengthLimited?: boolean; modulusLength?: number }
  const expiry = more.expiresAfter ? Date.parse(more.expiresAfter) : NaN
  return {
    ...{ result: row.status.result, domain: row.signingDomain ?? '', selector: row.selector ?? '', algorithm: row.algo ?? '' },
    keyBits: more.modulusLength ?? null,
    isTesting: row.status.testing === true,
    isBodyLimited: more.canonBodyLengthLimited === true,
    expiresAt: Number.isNaN(expiry) ? null : expiry,
    signed: tagOf(field, 'h').toLowerCase().split(':'),
    comment: row.status.comment ?? row.status.policy?.['dkim-rules'] ?? '',
  }
}

const plainValue = (text: string): string => text.replaceAll(/\s/g, '')

/** The value of a tag in a tag list (RFC 6376 §3.2), without white space. */
function tagOf(list: string, name: string): string {
  const tag = list.split(';').find((part) => part.slice(0, part.indexOf('=')).trim() === name)
  return tag === undefined ? '' : plainValue(tag.slice(tag.indexOf('=') + 1))
}
