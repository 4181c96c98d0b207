/** The facts that all checks use, computed once for each mail. */
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
  /** Null if the mail has no HTML. */
  readonly page: HtmlPage | null
  /** Web links in HTML and text. */
  readonly links: readonly WebLink[]
  /** Signs of bulk mail; empty for a personal message. */
  readonly bulk: readonly string[]
  /** The domain of MAIL FROM, or of EHLO for the null reverse-path. */
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

/** Counts the words of a text. */
export const countWords = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

/** True if neither the HTML nor the text contains a word. */
export const isWordless = ({ page, mail }: Pick<Facts, 'page' | 'mail'>): boolean =>
  countWords(`${page?.text ?? ''} ${mail.text ?? ''}`) === 0

/** Header fields that name the campaign of a newsletter. */
const campaign =
  /^x-(?:campaign(?:-?id)?|mailing-?id|mc-user|mailchimp-campaign-?id|mailgun-(?:tag|campaign)|mailjet-campaign|sg-campaign|cmail-gameid|newsletter(?:-?id)?|list-?id|mailer-?recptid|msys-api)$/i

/** An unsubscribe link in HTML or text. All other signs of bulk mail are header fields. */
export const linkSign = 'a link to unsubscribe'

/** Collects signs of bulk mail in the header and the links. */
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
