/** The mail of an alert. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import { writtenMail, type MailText } from '../../people/mail/mail-texts.ts'
import type { AlertEvent } from './alert-event.ts'
import { alertText, blockOf } from './alert-text.ts'

const maxSubject = 150

/** The recipient is an administrator, a member who sees billing, the operator, or the address of a channel, which can end its alerts. */
export type MailReason = 'member' | 'billing' | 'operator' | { readonly stopUrl: string }

/** `why` is the reason in the foot of the mail. */
export function alertMail(event: AlertEvent, language: string, why: MailReason): MailText {
  const { title, paragraphs, url, button } = alertText(event, language)
  const { footnotes, stop } = catalogIn('mails', language).alertMessage
  const foot =
    typeof why === 'string' ? { footnote: footnotes[why] } : { footnote: footnotes.channel, stop: { label: stop, url: why.stopUrl } }
  return writtenMail({
    subject: blockOf([[title]], '', maxSubject),
    ...{ paragraphs, button: { label: button, url }, ...foot },
  })
}
