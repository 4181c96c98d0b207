/** What all checks look at, made once for a mail. */
import { authenticate, spfIdentity, type Authentication } from './authentication.ts'
import { readPage, type HtmlPage } from './html-page.ts'
import type { InspectInput } from './score-input.ts'
import { openMail, valueOf, type Mail } from './parsed-mail.ts'
import { Questions } from '../../dns/questions.ts'
import { isUnsubscribeLink, webLinks, type WebLink } from './web-links.ts'

export interface Facts {
  readonly input: InspectInput
  readonly questions: Questions
  readonly mail: Mail
  readonly auth: Authentication
  /** Null for mail without HTML. */
  readonly page: HtmlPage | null
  /** Links to the web, in HTML and in text. */
  readonly links: readonly WebLink[]
  /** Why the mail looks like one of many; empty for what looks like a message to one person. */
  readonly bulk: readonly string[]
  /** The domain of MAIL FROM, or of EHLO for the null sender. */
  readonly mailFromDomain: string
}

export async function factsOf(input: InspectInput): Promise<Facts> {
  const questions = new Questions(input.resolve)
  const mail = await openMail(input.raw)
  const page = mail.html === null ? null : readPage(mail.html)
  const links = webLinks(page, mail.text)
  const auth = await authenticate(input, mail, questions)
  return { ...{ input, questions, mail, auth, page, links }, bulk: bulkSigns(mail, links), mailFromDomain: spfIdentity(input) }
}

/** How many words a text has. */
export const countWords = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

/** Whether neither the HTML nor the text of a mail shows a word. */
export const isWordless = ({ page, mail }: Pick<Facts, 'page' | 'mail'>): boolean =>
  countWords(`${page?.text ?? ''} ${mail.text ?? ''}`) === 0

/** Fields in which senders of newsletters name a campaign. */
const campaign =
  /^x-(?:campaign(?:-?id)?|mailing-?id|mc-user|mailchimp-campaign-?id|mailgun-(?:tag|campaign)|mailjet-campaign|sg-campaign|cmail-gameid|newsletter(?:-?id)?|list-?id|mailer-?recptid|msys-api)$/i

/** The sign of bulk mail that is no field of its header. */
export const linkSign = 'a link to unsubscribe'

/** Why the mail looks like one of many: what it says of itself, and what it offers its reader. */
function bulkSigns(mail: Mail, links: readonly WebLink[]): string[] {
  const { fields } = mail
  const signs = ['List-Id', 'List-Unsubscribe', 'Feedback-ID'].filter((name) => valueOf(fields, name.toLowerCase()) !== undefined)
  const precedence = valueOf(fields, 'precedence')?.trim().toLowerCase() ?? ''
  if (precedence === 'bulk' || precedence === 'list') signs.push(`Precedence: ${precedence}`)
  const named = fields.find(({ name }) => campaign.test(name))
  if (named) signs.push(named.name)
  if (links.some(isUnsubscribeLink)) signs.push(linkSign)
  return signs
}
