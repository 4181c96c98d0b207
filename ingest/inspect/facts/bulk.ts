/** Whether a mail is one of many: what it says of itself, and what it offers its reader. */
import { valueOf, type Mail } from './parsed-mail.ts'
import { isUnsubscribeLink, type WebLink } from './web-links.ts'

/** Fields in which senders of newsletters name a campaign. */
const campaign =
  /^x-(?:campaign(?:-?id)?|mailing-?id|mc-user|mailchimp-campaign-?id|mailgun-(?:tag|campaign)|mailjet-campaign|sg-campaign|cmail-gameid|newsletter(?:-?id)?|list-?id|mailer-?recptid|msys-api)$/i

export function bulkSigns(mail: Mail, links: readonly WebLink[]): string[] {
  const { fields } = mail
  const signs = ['List-Id', 'List-Unsubscribe', 'Feedback-ID'].filter((name) => valueOf(fields, name.toLowerCase()) !== undefined)
  const precedence = valueOf(fields, 'precedence')?.trim().toLowerCase() ?? ''
  if (precedence === 'bulk' || precedence === 'list') signs.push(`Precedence: ${precedence}`)
  const named = fields.find(({ name }) => campaign.test(name))
  if (named) signs.push(named.name)
  if (links.some(isUnsubscribeLink)) signs.push('a link to unsubscribe')
  return signs
}
