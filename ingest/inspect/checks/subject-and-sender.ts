/** Check 13: what the reader sees first, and what filters know of spam and of forgeries. */
import { addressList } from '../../mime/address-list.ts'
import { emojiIn, hasCheckMark, hasInvisible, hasMixedScripts } from '../facts/characters.ts'
import { domainOf, organizationOf, sameOrganization } from '../../dns/domains.ts'
import type { Facts } from '../facts/mail-facts.ts'
import { valueOf, type Mail } from '../facts/parsed-mail.ts'
import { failedFor, lessForEach, type Finding, type Verdict } from './verdict.ts'
import { alignment } from './dmarc.ts'

const maxSubject = 150
/** Providers of mailboxes for everybody, whose addresses are sent from their own servers only. */
const freeMail =
  /^(?:gmail\.com|googlemail\.com|(?:yahoo|ymail|rocketmail)\.[a-z.]{2,6}|(?:outlook|hotmail|live|msn)\.[a-z.]{2,6}|aol\.com|icloud\.com|me\.com|mac\.com|gmx\.[a-z]{2,3}|web\.de|t-online\.de|freenet\.de|proton\.me|protonmail\.com|bluewin\.ch|orange\.fr|free\.fr|laposte\.net|wanadoo\.fr|libero\.it|mail\.ru|yandex\.[a-z]{2,3}|qq\.com|163\.com|zoho\.com)$/

export function checkSubjectAndSender(facts: Facts): Verdict {
  const { mail } = facts
  const grave = deceptions(facts)
  if (grave.length > 0) return failedFor(grave)
  const found = [...subjectFindings(mail.subject), ...senderFindings(mail)]
  return lessForEach('subject_and_sender', found, 1, 1, 'Subject and sender are clear.')
}

function deceptions(facts: Facts): Finding[] {
  const { mail } = facts
  const { fields, subject, from, fromDomain } = mail
  const findings: Finding[] = []
  const isReply = ['in-reply-to', 'references'].some((name) => valueOf(fields, name) !== undefined)
  if (/^\s*(?:re|fwd?|aw|wg|tr|sv|antw)\s*:/i.test(subject) && !isReply)
    findings.push({
      text: 'The subject pretends to be a reply or a forward.',
      fix: 'Remove "Re:" or "Fwd:", unless the mail is a reply.',
    })
  const [author] = from
  const named = /[^\s<>"'(),;:@]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/i.exec(author?.name ?? '')?.[0]
  if (named !== undefined && named.toLowerCase() !== author?.address.toLowerCase())
    findings.push({
      text: `The name of the sender shows another address (${named}).`,
      fix: 'Write a name, and no address, before the address.',
    })
  const { dkim, spf, unknown } = alignment(facts)
  if (freeMail.test(organizationOf(fromDomain)) && !dkim && !spf && !unknown)
    findings.push({
      text: `The mail has an address at ${fromDomain}, but was not sent by its servers.`,
      fix: 'Send from an address of your own domain, and put the other one into Reply-To.',
    })
  return findings
}

function subjectFindings(subject: string): Finding[] {
  const findings: Finding[] = []
  const letters = subject.replaceAll(/[^\p{L}]/gu, '')
  const capitals = letters.replaceAll(/[^\p{Lu}]/gu, '').length
  if (subject.trim() === '') findings.push({ text: 'The subject is empty.', fix: 'Write a subject that says what the mail is about.' })
  if (subject.length > maxSubject)
    findings.push({ text: `The subject has more than ${maxSubject} characters.`, fix: 'Make it shorter; phones show about 40.' })
  if (letters.length >= 10 && capitals > letters.length / 2)
    findings.push({ text: 'Most of the subject is in capitals.', fix: 'Write it in ordinary letters.' })
  if (/!!|\$\$\$/.test(subject) || emojiIn(subject) > 2)
    findings.push({ text: 'The subject shouts (!!, $$$ or more than two emoji).', fix: 'Use one sign of that sort at most.' })
  if (hasInvisible(subject))
    findings.push({ text: 'The subject has characters that cannot be seen.', fix: 'Remove control and zero-width characters.' })
  if (hasMixedScripts(subject))
    findings.push({ text: 'A word of the subject mixes alphabets, as forgeries do.', fix: 'Write each word in one alphabet.' })
  return findings
}

function senderFindings({ fields, from, fromDomain }: Mail): Finding[] {
  const findings: Finding[] = []
  const { name = '', address = '' } = from[0] ?? {}
  const reply = addressList(valueOf(fields, 'reply-to') ?? '').find((entry) => entry.address !== '')?.address
  if (name.trim() === '')
    findings.push({ text: 'The sender has no name.', fix: 'Put a name before the address: Example Shop <shop@example.com>.' })
  if (/^(?:no|do-?not)[._-]?reply/i.test(address) && reply === undefined)
    findings.push({ text: 'The sender accepts no replies.', fix: 'Add a Reply-To address that is read.' })
  if (reply !== undefined && !sameOrganization(domainOf(reply), fromDomain))
    findings.push({ text: `Replies go to another organization (${domainOf(reply)}).`, fix: 'Receive replies at your own domain.' })
  if (hasCheckMark(name) || emojiIn(name) > 0)
    findings.push({ text: 'The name of the sender has a check mark or an emoji.', fix: 'Use letters only.' })
  if (hasInvisible(name) || hasMixedScripts(name))
    findings.push({
      text: 'The name of the sender mixes alphabets or has characters that cannot be seen.',
      fix: 'Write it in one alphabet.',
    })
  return findings
}
