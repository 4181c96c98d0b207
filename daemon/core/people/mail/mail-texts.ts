/** Mails of the service to its users: fixed texts, as plain text and as HTML. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import type { ConfigCatalogs } from '#config/catalogs/config-catalogs.ts'
import { atFirstUse } from '#config/texts/formats.ts'
import type { Role } from '../../access/principal/role.ts'
import type { User } from '../users/user.ts'

/** A mail without sender and recipient. */
export interface MailText {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Parts of a mail. The plain text also contains the button's URL. */
interface Texts {
  readonly subject: string
  readonly paragraphs: readonly string[]
  readonly button?: { readonly label: string; readonly url: string }
  readonly footnote: string
  /** The link of a recipient without an account, who wants no more mails. */
  readonly stop?: { readonly label: string; readonly url: string }
}

const texts = (): ConfigCatalogs['mails'] => catalogIn('mails', 'en')

export function loginMail(url: string): MailText {
  const { subject, text, button, footnote } = texts().login
  return written({ subject, paragraphs: [text], button: { label: button, url }, footnote })
}

export function invitationMail(organization: string, inviter: User | undefined, role: Role, url: string): MailText {
  const { subject, someone, text, valid, button, footnote } = texts().invitation
  const by = inviter ? inviter.name || inviter.email : someone
  return written({
    subject: subject({ organization }),
    paragraphs: [text({ inviter: by, organization, role }), valid],
    button: { label: button, url },
    footnote,
  })
}

export function roleMail(organization: string, role: Role, url: string): MailText {
  const { subject, text, button, footnote } = texts().role
  const parts = { organization, role }
  return written({ subject: subject(parts), paragraphs: [text(parts)], button: { label: button, url }, footnote })
}

export function removedMail(organization: string): MailText {
  const { subject, text, footnote } = texts().removed
  return written({ subject: subject({ organization }), paragraphs: [text({ organization })], footnote })
}

export function domainMail(organization: string, domain: string, url: string): MailText {
  const { subject, text, signed, button, footnote } = texts().domain
  return written({
    subject: subject({ domain }),
    paragraphs: [text({ domain, organization }), signed({ domain })],
    button: { label: button, url },
    footnote,
  })
}

export function passkeyMail(name: string, what: 'added' | 'removed', url: string): MailText {
  const { notYou, passkey } = texts()
  return written({
    subject: passkey.subject({ what }),
    paragraphs: [passkey.text({ name, what })],
    button: { label: passkey.button, url },
    footnote: notYou,
  })
}

export function sessionsMail(count: number, url: string): MailText {
  const { notYou, sessions } = texts()
  const { subject, text, button } = sessions
  return written({ subject, paragraphs: [text({ count })], button: { label: button, url }, footnote: notYou })
}

export function reuseMail(clientName: string, endedKeys: readonly string[], url: string): MailText {
  const { subject, text, keys, again, button, footnote } = texts().reuse
  return written({
    subject,
    paragraphs: [text({ client: clientName }), ...(endedKeys.length === 0 ? [] : [keys({ keys: endedKeys.join(', ') })]), again],
    button: { label: button, url },
    footnote,
  })
}

/** Facts of a claim that its mail contains. */
export interface ClaimFacts {
  readonly clientName: string
  readonly userCode: string
  /** Creation time of the claim's sandbox. */
  readonly sandboxAt: number
}

export function claimMail({ clientName: client, userCode: code, sandboxAt }: ClaimFacts, url: string): MailText {
  const { subject, text, check, link, button, footnote } = texts().claim
  return written({
    subject: subject({ code }),
    paragraphs: [text({ client, at: dateFormat().format(sandboxAt) }), check({ code }), link],
    button: { label: button, url },
    footnote,
  })
}

export function claimedMail(client: string, code: string, undoUrl: string): MailText {
  const { notYou, claimed } = texts()
  const { subject, text, undo, button } = claimed
  return written({ subject, paragraphs: [text({ code, client }), undo], button: { label: button, url: undoUrl }, footnote: notYou })
}

/**
 * Contains no part of the message, because an agent wrote it. `project` is the parent project if the message belongs to a partition: people
 * name projects, but agents name partitions.
 */
export function approvalMail(project: string, url: string): MailText {
  const { subject, text, decide, button, footnote } = texts().approval
  return written({
    subject: subject({ project }),
    paragraphs: [text({ project }), decide],
    button: { label: button, url },
    footnote,
  })
}

/** Asks the owner of an address to confirm form notifications. The address belongs to no member. */
export function formRecipientMail(organization: string, form: string, url: string): MailText {
  const { subject, text, confirm, button, footnote } = texts().formRecipient
  return written({
    subject: subject({ form }),
    paragraphs: [text({ organization, form }), confirm],
    button: { label: button, url },
    footnote,
  })
}

/** Asks the owner of an address to confirm the alerts of an organization. The address belongs to no member. */
export function alertRecipientMail(organization: string, url: string): MailText {
  const { subject, text, confirm, button, footnote } = texts().alertRecipient
  return written({
    subject: subject({ organization }),
    paragraphs: [text({ organization }), confirm],
    button: { label: button, url },
    footnote,
  })
}

export type ChannelAct = 'created' | 'updated' | 'deleted'

/** Facts of a changed alert channel; `by` is the address of the person, or undefined for a key. */
export interface ChangedChannel {
  readonly organization: string
  readonly name: string
  readonly kind: string
  readonly act: ChannelAct
  readonly by: string | undefined
}

export function alertChannelMail({ organization, name, kind, act, by }: ChangedChannel, url: string): MailText {
  const { subject, text, someone, button, footnote } = texts().alertChannel
  return written({
    subject: subject({ organization, act }),
    paragraphs: [text({ organization, name, kind, act, by: by ?? someone })],
    button: { label: button, url },
    footnote,
  })
}

const dateFormat = atFirstUse(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }))

/** Returns a mail with the given texts in the layout of all mails of the service. */
export const writtenMail = (texts: Texts): MailText => written(texts)

function written({ subject, paragraphs, button, footnote, stop }: Texts): MailText {
  const text = [...paragraphs, ...(button ? [button.url] : []), footnote, ...(stop ? [`${stop.label}: ${stop.url}`] : [])].join('\n\n')
  const body = paragraphs.map((paragraph) => `<p style="margin:0 0 16px">${escape(paragraph)}</p>`).join('')
  const style =
    'display:inline-block;padding:12px 22px;border-radius:8px;background:#0f5f5c;color:#ffffff;font-weight:600;text-decoration:none'
  const link = button
    ? `<p style="margin:0 0 16px"><a href="${escape(button.url)}" style="${style}">${escape(button.label)}</a></p>` +
      `<p style="margin:0 0 16px;font-size:13px;color:#51606b;word-break:break-all">Or open ${escape(button.url)}</p>`
    : ''
  const end = stop ? ` <a href="${escape(stop.url)}" style="color:#51606b">${escape(stop.label)}</a>` : ''
  const html =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light">' +
    `<title>${escape(subject)}</title></head><body style="margin:0;padding:24px;background:#f3f5f6">` +
    '<div style="max-width:480px;margin:0 auto;padding:32px;background:#ffffff;border-radius:12px;font:16px/1.5 system-ui,-apple-system,Segoe UI,Roboto,Arial,sans-serif;color:#14212b">' +
    `<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">${escape(subject)}</h1>${body}${link}` +
    `<p style="margin:24px 0 0;padding:16px 0 0;border-top:1px solid #d8dfe3;font-size:13px;color:#51606b">${escape(footnote)}${end}</p></div></body></html>`
  return { subject, text: `${text}\n`, html }
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
