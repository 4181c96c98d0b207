/** The mail of an alert. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import { writtenMail, type MailText } from '../../people/mail/mail-texts.ts'
import type { AlertEvent } from './alert-event.ts'
import { alertText, blockOf } from './alert-text.ts'

const maxSubject = 150

/** The recipient is an administrator, a member who sees billing, the address of a channel, or the operator. */
export type MailReason = 'member' | 'billing' | 'channel' | 'operator'

/** `why` is the reason in the foot of the mail. */
export function alertMail(event: AlertEvent, language: string, why: MailReason): MailText {
  const { title, paragraphs, url, button } = alertText(event, language)
  const { footnotes } = catalogIn('mails', language).alertMessage
  return writtenMail({
    subject: blockOf([[title]], '', maxSubject),
    ...{ paragraphs, button: { label: button, url }, footnote: footnotes[why] },
  })
}
