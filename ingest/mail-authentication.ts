/** SPF, DKIM, DMARC and ARC of a mail that came in, by mailauth, which is loaded with the first one. */
import { Readable } from 'node:stream'
import type { Clock } from '#core/clock.ts'
import type { Authenticate, Authentication, ReceivedMail } from '#core/inbound-routes/authentication.ts'
import type { RecordResolver, Resolver } from '#core/outbound/resolver.ts'

export interface AuthenticationOptions {
  readonly resolver: Resolver & RecordResolver
  readonly clock: Clock
  /** Our name, for the comments of SPF. */
  readonly hostname: string
}

const questionMs = 5000
const allMs = 10_000
/** A mail that leads to more questions is made to. */
const questionsMax = 100
/** Each signature costs a question and arithmetic. */
const signaturesMax = 10
/** A longer header block is not worth its arithmetic. */
const headOctetsMax = 256 * 1024
const pieceOctets = 64 * 1024

export const mailAuthentication =
  (options: AuthenticationOptions): Authenticate =>
  async (mail) => {
    try {
      return await authenticate(mail, options)
    } catch {
      return unknown
    }
  }

/** When nothing could be found out, by whatever defect. */
const unknown: Authentication = {
  spf: { result: 'temperror', domain: null },
  dkim: [],
  dmarc: { result: 'temperror', domain: null, policy: null },
  arc: { result: 'temperror' },
}

async function authenticate({ raw, mailFrom, remoteAddress, helo }: ReceivedMail, options: AuthenticationOptions): Promise<Authentication> {
  const [{ spf }, { dkimVerify }, { evaluateDmarc }, { arc }] = await Promise.all([
    import('mailauth/lib/spf/index.js'),
    import('mailauth/lib/dkim/verify.js'),
    import('mailauth/lib/dmarc/index.js'),
    import('mailauth/lib/arc/index.js'),
  ])
  const resolver = bounded(options)
  const content = withFewSignatures(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength))
  const [spfResult, dkimResult] = await Promise.all([
    spf({ sender: mailFrom, ip: remoteAddress, helo, mta: options.hostname, resolver }),
    dkimVerify(content === undefined ? Buffer.from('\r\n') : inPieces(content), { resolver, sender: mailFrom }),
  ])
  const arcResult = await arc(dkimResult.arc as Parameters<typeof arc>[0], { resolver })
  const signatures = dkimResult.results.filter(({ status }) => status.result !== 'none')
  const passing = signatures.filter(({ status }) => status.result === 'pass')
  const { response } = await evaluateDmarc({
    headerFrom: dkimResult.headerFrom,
    fromFields: (dkimResult as { fromFields?: number }).fromFields,
    spfDomains: spfResult.status.result === 'pass' ? [spfResult.domain] : [],
    dkimDomains: passing.map(({ id, signingDomain, status }) => ({ id, domain: signingDomain, underSized: status.underSized })),
    resolver,
  } as Parameters<typeof evaluateDmarc>[0])
  return {
    spf: { result: spfResult.status.result, domain: spfResult.domain || null },
    dkim: signatures.map(({ status, signingDomain, selector }) => {
      return { result: status.result, domain: signingDomain ?? null, selector: selector ?? null }
    }),
    dmarc: response
      ? { result: response.status.result, domain: response.policyDomain ?? response.domain ?? null, policy: response.policy ?? null }
      : { result: 'none', domain: null, policy: null },
    arc: { result: arcResult.status.result },
  }
}

/** So that other work has its turn while a long mail is hashed. */
const inPieces = (content: Buffer): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(content.length / pieceOctets) }, (_, n) => content.subarray(n * pieceOctets, (n + 1) * pieceOctets)),
  )

/** The mail without what is beyond the first signatures; undefined when its header block is too long to look at. */
function withFewSignatures(raw: Buffer): Buffer | undefined {
  const found = raw.indexOf('\r\n\r\n')
  const end = found === -1 ? raw.length : found + 2
  if (end > headOctetsMax) return undefined
  let seen = 0
  const head = raw.toString('latin1', 0, end)
  const fewer = head.replaceAll(/^(?:dkim-signature|arc-[a-z-]+)[ \t]*:[^\r\n]*\r\n(?:[ \t][^\r\n]*\r\n)*/gim, (field) =>
    /^dkim/i.test(field) && ++seen > signaturesMax ? '' : field,
  )
  return seen > signaturesMax ? Buffer.concat([Buffer.from(fewer, 'latin1'), raw.subarray(end)]) : raw
}

type Records = readonly unknown[]

/** DNS in the form that mailauth asks for, under deadlines. Rejects with the codes of Node. */
function bounded({ resolver, clock }: AuthenticationOptions): (name: string, type: string) => Promise<never> {
  const endsAt = clock.monotonic() + allMs
  let asked = 0
  return (name, type) => {
    const { promise, resolve, reject } = Promise.withResolvers<Records>()
    const leftMs = Math.min(questionMs, endsAt - clock.monotonic())
    if (leftMs <= 0 || ++asked > questionsMax) return Promise.reject(coded('ETIMEOUT', name))
    const timer = clock.after(leftMs, () => reject(coded('ETIMEOUT', name)))
    ask(resolver, name, type)
      .then((records) => (records.length > 0 ? resolve(records) : reject(coded('ENODATA', name))))
      .catch((error: unknown) => reject(coded(codeOf(error), name)))
      .finally(() => timer.cancel())
    return promise as Promise<never>
  }
}

const nameForm = /^(?=.{1,253}\.?$)(?:[!-\-/-~]{1,63}\.)*[!-\-/-~]{1,63}\.?$/

/** Records that are not asked for by name are answered as absent: PTR counts for nothing (RFC 7208 §5.5). */
async function ask(resolver: Resolver & RecordResolver, name: string, type: string): Promise<Records> {
  if (!nameForm.test(name)) return []
  if (type === 'A') return resolver.resolve4(name)
  if (type === 'AAAA') return resolver.resolve6(name)
  if (type === 'MX') return resolver.resolveMx(name)
  return type === 'TXT' ? (await resolver.resolveTxt(name)).map((text) => [text]) : []
}

const codes: Readonly<Record<string, string>> = { not_found: 'ENOTFOUND', timeout: 'ETIMEOUT' }
const codeOf = (error: unknown): string => (error instanceof Error && 'problem' in error && codes[String(error.problem)]) || 'ESERVFAIL'
const coded = (code: string, name: string): Error => Object.assign(new Error(`no answer about ${name}`), { code })
