/** SPF, DKIM, DMARC and ARC of a mail that came in, by mailauth: a function of the mail and of what DNS answers. */
import type { Authentication, ReceivedMail } from '#core/inbound-routes/authentication.ts'
import { arc } from 'mailauth/lib/arc/index.js'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js'
import { spf } from 'mailauth/lib/spf/index.js'
import { withFewSignatures } from './few-signatures.ts'
import type { Resolve } from '../dns/resolve.ts'
import { excessOf } from './verifiable-head.ts'

/** A longer header block is not worth its arithmetic; the mail is not shown either. */
const maxHeadOctets = 256 * 1024

/** `hostname` is our name, for the macros of SPF. */
export async function authenticateMail(
  { raw, mailFrom, remoteAddress, helo }: ReceivedMail,
  hostname: string,
  resolve: Resolve,
): Promise<Authentication> {
  // mailauth takes any resolver of this form; its type names that of Node
  const resolver = resolve as (name: string, type: string) => Promise<never>
  const content = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const isTooLong = excessOf(content, { maxOctets: maxHeadOctets }) !== undefined
  const [spfResult, signed] = await Promise.all([
    spf({ sender: mailFrom, ip: remoteAddress, helo, mta: hostname, resolver, strict: true }),
    isTooLong ? undefined : dkimVerify(withFewSignatures(content), { resolver, sender: mailFrom, rejectRsaSha1: true }),
  ])
  const spfShown = { result: spfResult.status.result, domain: named(spfResult.domain) }
  if (!signed) return { spf: spfShown, dkim: [], dmarc: noPolicy('permerror'), arc: { result: 'fail' } }
  const chain = await arc(signed.arc as Parameters<typeof arc>[0], { resolver })
  const signatures = signed.results.filter(({ status }) => status.result !== 'none')
  return {
    spf: spfShown,
    dkim: signatures.map(({ status, signingDomain, selector }) => {
      return { result: status.result, domain: named(signingDomain), selector: named(selector) }
    }),
    dmarc: await dmarcOf(signed, spfResult, resolver),
    arc: { result: chain.status.result },
  }
}

async function dmarcOf(
  signed: Awaited<ReturnType<typeof dkimVerify>>,
  spfResult: Awaited<ReturnType<typeof spf>>,
  resolver: (name: string, type: string) => Promise<never>,
): Promise<Authentication['dmarc']> {
  const passing = signed.results.filter(({ status }) => status.result === 'pass')
  const evaluated = await evaluateDmarc({
    headerFrom: signed.headerFrom,
    fromFields: (signed as { fromFields?: number }).fromFields,
    spfDomains: spfResult.status.result === 'pass' ? [spfResult.domain] : [],
    dkimDomains: passing.map(({ id, signingDomain, status }) => ({ id, domain: signingDomain, underSized: status.underSized })),
    resolver,
  } as Parameters<typeof evaluateDmarc>[0])
  const { response } = evaluated
  if (response)
    return { result: response.status.result, domain: named(response.policyDomain ?? response.domain), policy: response.policy ?? null }
  // several authors, or one whose domain is none: whose policy holds cannot be said, and a reader sees a name all the same
  return noPolicy((evaluated as { reason?: string }).reason === 'no-author-domain' ? 'none' : 'permerror')
}

const noPolicy = (result: string): Authentication['dmarc'] => ({ result, domain: null, policy: null })

/** As mails name domains and selectors: they may be empty, or longer than any that exists. */
const named = (name: string | undefined): string | null => name?.slice(0, 253) || null
