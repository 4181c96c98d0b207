/** Check 2: whether a signature holds, and how well it is made. */
import { weakKey, type DkimFacts } from '../facts/authentication.ts'
import type { Facts } from '../facts/mail-facts.ts'
import { countOf } from '../facts/parsed-mail.ts'
import { unanswered, type Finding, type Verdict } from './verdict.ts'

const strongBits = 2048
const dayMs = 86_400_000

export function checkDkim({ auth: { dkim }, mail, input }: Facts): Verdict {
  const evidence = dkim.map((signature) => ({ label: `Signature of ${signature.domain}`, value: described(signature) }))
  const valid = dkim.filter(({ result }) => result === 'pass')
  if (valid.length === 0) return withoutValid(dkim, evidence)
  const hasRsa = valid.some(({ keyBits }) => keyBits !== null)
  const checked = valid.map((signature) => findingsOf(signature, { hasRsa, now: input.now, fromFields: countOf(mail.fields, 'from') }))
  // strong with weak: a receiver takes the best, and Ed25519 beside RSA is as good as a longer key
  const isBeside = hasRsa && valid.some(({ keyBits }) => keyBits === null)
  const fewest = checked
    .map((findings) => findings.filter(({ isWeakKey }) => !(isWeakKey && isBeside)))
    .reduce((best, findings) => (findings.length < best.length ? findings : best))
  if (fewest.length === 0)
    return { status: 'pass', summary: `Signed by ${valid.map(({ domain }) => domain).join(' and ')}, and the signature holds.`, evidence }
  const silent = dkim.find(({ result }) => result === 'temperror')
  if (silent) return unanswered(`the DKIM key of ${silent.domain}`, evidence)
  return {
    ...{ status: 'warn', points: 6, evidence },
    summary: `The signature holds, but: ${fewest.map(({ text }) => text).join(' ')}`,
    fix: fewest.map(({ fix }) => fix).join(' '),
  }
}

function withoutValid(dkim: readonly DkimFacts[], evidence: Verdict['evidence'] = []): Verdict {
  const [first] = dkim
  if (!first)
    return {
      status: 'fail',
      summary: 'The mail is not signed.',
      fix: 'Sign with DKIM for the domain of the From address: publish the public key below selector._domainkey and let the sending service sign.',
    }
  if (dkim.some(({ result }) => result === 'temperror')) return unanswered(`the DKIM key of ${first.domain}`, evidence)
  const weak = dkim.some(({ comment }) => comment === weakKey)
  return {
    ...{ status: 'fail', evidence },
    summary: weak
      ? 'The key of the signature is shorter than 1024 bits, so that no receiver accepts it.'
      : `No signature holds: ${first.comment || first.result}.`,
    fix: weak
      ? 'Create an RSA key of 2048 bits, publish it below a new selector, and sign with it.'
      : 'Check that the published key belongs to the selector that signs, and that nothing changes the mail after it was signed (footers, link rewriting, line wrapping).',
  }
}

interface KeyFinding extends Finding {
  readonly isWeakKey?: boolean
}

function findingsOf(signature: DkimFacts, around: { hasRsa: boolean; now: number; fromFields: number }): KeyFinding[] {
  const { keyBits, isBodyLimited, isTesting, expiresAt, signed } = signature
  const findings: KeyFinding[] = []
  if (keyBits !== null && keyBits < strongBits)
    findings.push({ text: `its RSA key has only ${keyBits} bits.`, fix: 'Change to an RSA key of 2048 bits.', isWeakKey: true })
  if (keyBits === null && !around.hasRsa)
    findings.push({
      text: 'it is made with Ed25519 alone, which some receivers cannot verify.',
      fix: 'Sign with RSA of 2048 bits as well.',
    })
  if (isBodyLimited) findings.push({ text: 'its tag l= lets others add text to the mail.', fix: 'Sign the whole body: leave l= out.' })
  if (isTesting) findings.push({ text: 'its key says t=y, that it is only a test.', fix: 'Remove t=y from the key record.' })
  if (expiresAt !== null && expiresAt - around.now < dayMs)
    findings.push({
      text: 'it expires within a day, before slow receivers see it.',
      fix: 'Let signatures last for a week, or leave x= out.',
    })
  const covered = signed.filter((name) => name === 'from').length
  if (covered <= around.fromFields)
    findings.push({
      text: 'another From field could be added without breaking it.',
      fix: 'Name From once more than it occurs in h= (oversigning).',
    })
  return findings
}

function described({ selector, algorithm, keyBits, result, comment }: DkimFacts): string {
  const key = keyBits === null ? '' : `, ${keyBits} bits`
  return `${result}${comment === '' ? '' : ` (${comment})`}; selector ${selector}, ${algorithm}${key}`
}
