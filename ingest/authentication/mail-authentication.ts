/** SPF, DKIM, DMARC and ARC of an incoming mail, by mailauth. The result depends only on the mail and on DNS. */
import type { Authentication, ReceivedMail } from '#core/inbound-routes/authentication.ts'
import { arc } from 'mailauth/lib/arc/index.js'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js'
import { spf } from 'mailauth/lib/spf/index.js'
import { withFewSignatures } from './few-signatures.ts'
import type { Resolve } from '../dns/resolve.ts'
import { excessOf } from './verifiable-head.ts'

/** Signatures over a longer header block are not verified. Such a mail is not displayed either. */
const maxHeadOctets = 256 * 1024

/** Authenticates a mail. `hostname` is the hostname of this server, for SPF macros. */
export async function authenticateMail(
  { raw, mailFrom, remoteAddress, helo }: ReceivedMail,
  hostname: string,
  resolve: Resolve,
): Promise<Authentication> {
  // mailauth accepts any resolver of this form, but its type requires that of Node
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
  // several authors, or an author without a valid domain: no policy applies, although a mail client may still show a name
  return noPolicy((evaluated as { reason?: string }).reason === 'no-author-domain' ? 'none' : 'permerror')
}

const noPolicy = (result: string): Authentication['dmarc'] => ({ result, domain: null, policy: null })

/** Domains and selectors as the mail writes them: they may be empty, or longer than DNS permits. */
const named = (name: string | undefined): string | null => name?.slice(0, 253) || null
