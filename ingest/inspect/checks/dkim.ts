/** Check 2: whether a DKIM signature is valid and well made. */
import type { Said } from '#core/inspect/report.ts'
import { weakAlgorithm, weakKey, type DkimFacts } from '../facts/authentication.ts'
import type { Facts } from '../facts/mail-facts.ts'
import { isMailboxProvider, isOwnDomain } from '../facts/ownership.ts'
import { countOf } from '../facts/parsed-mail.ts'
import { unanswered, type Finding, type Verdict } from './verdict.ts'
import { say, term } from '../sentences/say.ts'

const strongBits = 2048
const dayMs = 86_400_000

export function checkDkim(facts: Facts): Verdict {
  const { auth, mail, input } = facts
  const { dkim } = auth
  const evidence = dkim.map((signature) => ({ label: term('signature', { domain: signature.domain }), value: described(signature) }))
  const valid = dkim.filter(({ result }) => result === 'pass')
  if (valid.length === 0) return withoutValid(facts, evidence)
  const hasRsa = valid.some(({ keyBits }) => keyBits !== null)
  const checked = valid.map((signature) => findingsOf(signature, { hasRsa, now: input.now, fromFields: countOf(mail.fields, 'from') }))
  // a receiver uses the best signature, and Ed25519 in addition to RSA is as good as a longer key
  const isBeside = hasRsa && valid.some(({ keyBits }) => keyBits === null)
  const fewest = checked
    .map((findings) => findings.filter(({ isWeakKey }) => !(isWeakKey && isBeside)))
    .reduce((best, findings) => (findings.length < best.length ? findings : best))
  if (fewest.length === 0)
    return { status: 'pass', summary: say('dkim_pass', { domains: valid.map(({ domain }) => domain).join(', ') }), evidence }
  const silent = dkim.find(({ result }) => result === 'temperror')
  if (silent) return unanswered(say('silent_dkim_key', { domain: silent.domain }), evidence)
  return {
    ...{ status: 'warn', points: 6, evidence },
    summary: [say('dkim_holds_but'), ...fewest.map(({ text }) => text)],
    fix: fewest.map(({ fix }) => fix),
  }
}

function withoutValid(facts: Facts, evidence: Verdict['evidence'] = []): Verdict {
  const { dkim } = facts.auth
  const [first] = dkim
  if (!first) return { status: 'fail', summary: say('dkim_unsigned'), fix: signAdvice(facts) }
  if (dkim.some(({ result }) => result === 'temperror')) return unanswered(say('silent_dkim_key', { domain: first.domain }), evidence)
  const found = refusals.flatMap((refusal) => dkim.filter(({ comment }) => comment === refusal.because).map((by) => ({ by, refusal })))
  const { refusal, by } = found[0] ?? { refusal: undefined, by: first }
  const summary = refusal?.summary ?? say('dkim_broken', { reason: by.comment || by.result })
  const isOwn = dkim.some(({ domain }) => isOwnDomain(domain.toLowerCase(), facts))
  return { status: 'fail', summary, fix: isOwn ? (refusal?.fix(by) ?? say('fix_dkim_selector')) : signAdvice(facts), evidence }
}

/** Advice for a mail without a signature of its sender. */
function signAdvice({ mail: { fromDomain: domain } }: Facts): Said {
  if (domain === '') return say('fix_one_from')
  return isMailboxProvider(domain) ? say('fix_from_own_domain') : say('fix_dkim_sign', { domain })
}

interface Refusal {
  readonly because: string
  /** Undefined if mailauth's comment is the summary. */
  readonly summary?: Said
  readonly fix: (signature: DkimFacts) => Said
}

/** Reasons why no signature counts, by the comment of mailauth. The first that applies is reported. */
const refusals: readonly Refusal[] = [
  { because: weakKey, summary: say('dkim_weak'), fix: () => say('fix_dkim_new_key') },
  { because: weakAlgorithm, summary: say('dkim_sha1'), fix: () => say('fix_dkim_sha256') },
  { because: 'no key', fix: ({ selector, domain }) => say('fix_dkim_publish', { name: `${selector}._domainkey.${domain}` }) },
  { because: 'body hash did not verify', fix: () => say('fix_dkim_unchanged') },
  { because: 'expired', fix: () => say('fix_dkim_expiry') },
]

interface KeyFinding extends Finding {
  readonly isWeakKey?: boolean
}

function findingsOf(signature: DkimFacts, around: { hasRsa: boolean; now: number; fromFields: number }): KeyFinding[] {
  const { keyBits, isBodyLimited, isTesting, expiresAt, signed } = signature
  const findings: KeyFinding[] = []
  if (keyBits !== null && keyBits < strongBits)
    findings.push({ text: say('dkim_short_key', { bits: keyBits }), fix: say('fix_dkim_key'), isWeakKey: true })
  if (keyBits === null && !around.hasRsa)
    findings.push({
      text: say('dkim_ed25519_alone'),
      fix: say('fix_dkim_rsa_too'),
    })
  if (isBodyLimited) findings.push({ text: say('dkim_body_limited'), fix: say('fix_dkim_whole') })
  if (isTesting) findings.push({ text: say('dkim_testing'), fix: say('fix_dkim_testing') })
  if (expiresAt !== null && expiresAt - around.now < dayMs)
    findings.push({
      text: say('dkim_expires'),
      fix: say('fix_dkim_expiry'),
    })
  const covered = signed.filter((name) => name === 'from').length
  if (covered <= around.fromFields)
    findings.push({
      text: say('dkim_from_open'),
      fix: say('fix_dkim_oversign'),
    })
  return findings
}

function described({ selector, algorithm, keyBits, result, comment }: DkimFacts): string {
  const key = keyBits === null ? '' : `, ${keyBits} bits`
  return `${result}${comment === '' ? '' : ` (${comment})`}; selector ${selector}, ${algorithm}${key}`
}
