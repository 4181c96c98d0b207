/** Check 13: subject and sender as the reader sees them, with signs of spam and forgery. */
import { addressList } from '../../mime/address-list.ts'
import { emojiIn, hasCheckMark, hasInvisible, hasMixedScripts, readsLike } from '../facts/characters.ts'
import { domainOf, sameOrganization } from '../../dns/domains.ts'
import type { Facts } from '../facts/mail-facts.ts'
import { isMailboxProvider } from '../facts/ownership.ts'
import { valueOf, type Mail } from '../facts/parsed-mail.ts'
import { failedFor, lessForEach, type Finding, type Verdict } from './verdict.ts'
import { alignment } from './dmarc.ts'
import { say } from '../sentences/say.ts'

const maxSubject = 150
export function checkSubjectAndSender(facts: Facts): Verdict {
  const { mail } = facts
  const grave = deceptions(facts)
  if (grave.length > 0) return failedFor(grave)
  const found = [...subjectFindings(mail.subject), ...senderFindings(mail)]
  return lessForEach('subject_and_sender', found, 1, 1, say('subject_pass'))
}

function deceptions(facts: Facts): Finding[] {
  const { mail } = facts
  const { fields, subject, from, fromDomain } = mail
  const findings: Finding[] = []
  const isReply = ['in-reply-to', 'references'].some((name) => valueOf(fields, name) !== undefined)
  if (/^\s*(?:re|fwd?|aw|wg|tr|sv|antw)\s*:/i.test(subject) && !isReply)
    findings.push({
      text: say('subject_reply'),
      fix: say('fix_subject_reply'),
    })
  const [author] = from
  const named = /[^\s<>"'(),;:@]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/i.exec(author?.name ?? '')?.[0]
  if (named !== undefined && named.toLowerCase() !== author?.address.toLowerCase())
    findings.push({
      text: say('from_address_in_name', { address: named }),
      fix: say('fix_from_name_only'),
    })
  const reply = addressList(valueOf(fields, 'reply-to') ?? '')
  for (const domain of new Set([...from, ...reply].map(({ address }) => domainOf(address)))) {
    const plain = readsLike(domain)
    if (plain !== undefined) findings.push({ text: say('from_lookalike', { domain, plain }), fix: say('fix_from_lookalike') })
  }
  const { dkim, spf, unknown } = alignment(facts)
  if (isMailboxProvider(fromDomain) && !dkim && !spf && !unknown)
    findings.push({
      text: say('from_free_mail', { domain: fromDomain }),
      fix: say('fix_from_own_domain'),
    })
  return findings
}

function subjectFindings(subject: string): Finding[] {
  const findings: Finding[] = []
  const letters = subject.replaceAll(/[^\p{L}]/gu, '')
  const capitals = letters.replaceAll(/[^\p{Lu}]/gu, '').length
  if (subject.trim() === '') findings.push({ text: say('subject_empty'), fix: say('fix_subject_empty') })
  if (subject.length > maxSubject) findings.push({ text: say('subject_long', { max: maxSubject }), fix: say('fix_subject_long') })
  if (letters.length >= 10 && capitals > letters.length / 2)
    findings.push({ text: say('subject_capitals'), fix: say('fix_subject_capitals') })
  if (/!!|\$\$\$/.test(subject) || emojiIn(subject) > 2) findings.push({ text: say('subject_shouts'), fix: say('fix_subject_shouts') })
  if (hasInvisible(subject)) findings.push({ text: say('subject_invisible'), fix: say('fix_subject_invisible') })
  if (hasMixedScripts(subject)) findings.push({ text: say('subject_scripts'), fix: say('fix_subject_scripts') })
  return findings
}

function senderFindings({ fields, from, fromDomain }: Mail): Finding[] {
  const findings: Finding[] = []
  const { name = '', address = '' } = from[0] ?? {}
  const reply = addressList(valueOf(fields, 'reply-to') ?? '').find((entry) => entry.address !== '')?.address
  if (name.trim() === '') findings.push({ text: say('from_no_name'), fix: say('fix_from_name') })
  if (/^(?:no|do-?not)[._-]?reply/i.test(address) && reply === undefined)
    findings.push({ text: say('from_no_reply'), fix: say('fix_from_reply_to') })
  if (reply !== undefined && !sameOrganization(domainOf(reply), fromDomain))
    findings.push({ text: say('from_reply_elsewhere', { domain: domainOf(reply) }), fix: say('fix_from_own_replies') })
  if (hasCheckMark(name) || emojiIn(name) > 0) findings.push({ text: say('from_marks'), fix: say('fix_from_letters') })
  if (hasInvisible(name) || hasMixedScripts(name))
    findings.push({
      text: say('from_scripts'),
      fix: say('fix_from_scripts'),
    })
  return findings
}
