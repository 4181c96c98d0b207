/** The mails of the service to its users: fixed words, as text and as HTML. */
import { atFirstUse } from '#config/words/formats.ts'
import type { DomainChange } from '../../domains/domain-change.ts'
import type { RecordPurpose } from '../../domains/sending-domain.ts'
import type { Role } from '../../access/principal/role.ts'
import type { User } from '../users/user.ts'

/** A mail before it has a sender and a recipient. */
export interface MailText {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** What a mail says; the button's address stands in the text too. */
interface Words {
  readonly subject: string
  readonly paragraphs: readonly string[]
  readonly button?: { readonly label: string; readonly url: string }
  readonly footnote: string
}

const notYou = 'If this was not you, sign in, check your sessions and passkeys, and notify an owner of your organization.'

export const loginMail = (url: string): MailText =>
  written({
    subject: 'Your sign-in link',
    paragraphs: ['Use this link to sign in to Postern. It works once, within 15 minutes, on any device.'],
    button: { label: 'Sign in', url },
    footnote: 'If you did not request it, ignore this email: no one can sign in without the link. Do not share it.',
  })

export const invitationMail = (organization: string, inviter: User | undefined, role: Role, url: string): MailText =>
  written({
    subject: `Invitation to ${organization}`,
    paragraphs: [
      `${inviter ? inviter.name || inviter.email : 'An administrator'} invites you to ${organization} on Postern, as ${role}.`,
      'The invitation is valid for 7 days. To accept it, sign in with this address.',
    ],
    button: { label: 'View the invitation', url },
    footnote: 'If you do not know the sender, ignore this email: nothing happens unless you accept.',
  })

export const roleMail = (organization: string, role: Role, url: string): MailText =>
  written({
    subject: `Your role in ${organization} is now ${role}`,
    paragraphs: [`Your role in ${organization} was changed to ${role}. The change is effective immediately.`],
    button: { label: 'Open Postern', url },
    footnote: 'If you did not expect this, ask an owner of the organization.',
  })

export const removedMail = (organization: string): MailText =>
  written({
    subject: `You are no longer a member of ${organization}`,
    paragraphs: [`You are no longer a member of ${organization} and no longer have access to it.`],
    footnote: 'If you did not expect this, ask an owner of the organization.',
  })

export function domainMail(organization: string, { domain, isVerified, lost, found }: DomainChange, url: string): MailText {
  const records = (list: DomainChange['lost']): string => list.map(({ purpose, name }) => `${purposes[purpose]} at ${name}`).join(', ')
  const subject =
    isVerified === undefined ? `DNS records of ${domain} changed` : isVerified ? `${domain} is verified` : `${domain} is no longer verified`
  const fate =
    isVerified === undefined
      ? []
      : [isVerified ? `Mail from ${domain} is signed with DKIM from now on.` : `Mail from ${domain} is not signed with DKIM any longer.`]
  return written({
    subject,
    paragraphs: [
      `A check of the sending domain ${domain} of ${organization} found changes in DNS.`,
      ...(lost.length > 0 ? [`Missing or changed: ${records(lost)}.`] : []),
      ...(found.length > 0 ? [`Published again: ${records(found)}.`] : []),
      ...fate,
    ],
    button: { label: 'View the domain', url },
    footnote: 'Postern checks your sending domains every day.',
  })
}

const purposes: Readonly<Record<RecordPurpose, string>> = {
  dkim: 'the DKIM record',
  spf: 'the SPF record',
  dmarc: 'the DMARC record',
  bounce_mx: 'the MX record',
  bounce_spf: 'the SPF record',
}

export const passkeyMail = (name: string, what: 'added' | 'removed', url: string): MailText =>
  written({
    subject: what === 'added' ? 'A passkey was added' : 'A passkey was removed',
    paragraphs: [`The passkey “${name}” was ${what === 'added' ? 'added to' : 'removed from'} your account.`],
    button: { label: 'View your account', url },
    footnote: notYou,
  })

export const sessionsMail = (count: number, url: string): MailText =>
  written({
    subject: 'You were signed out on other devices',
    paragraphs: [`${count === 1 ? 'One session' : `${count} sessions`} of your account on other devices ended.`],
    button: { label: 'View your account', url },
    footnote: notYou,
  })

export const reuseMail = (clientName: string, endedKeys: readonly string[], url: string): MailText =>
  written({
    subject: 'The access of an application was revoked',
    paragraphs: [
      `A token of ${clientName} was used twice. It may have been copied, so all access that you had granted was revoked.`,
      ...(endedKeys.length === 0 ? [] : [`The API keys that it created were revoked too: ${endedKeys.join(', ')}.`]),
      'If you still want the application to work, connect it again. This can also happen when an application sends the same request twice.',
    ],
    button: { label: 'View applications with access', url },
    footnote: 'If it happens again, ask the maker of the application how it stores its tokens.',
  })

/** What the mail of a claim contains of it. */
export interface ClaimFacts {
  readonly clientName: string
  readonly userCode: string
  /** When its sandbox was made. */
  readonly sandboxAt: number
}

export const claimMail = ({ clientName, userCode, sandboxAt }: ClaimFacts, url: string): MailText =>
  written({
    subject: `Is ${userCode} the code of your agent?`,
    paragraphs: [
      `An agent (${clientName}) asks you to claim a sandbox project on Postern, created on ${dateFormat().format(sandboxAt)} UTC.`,
      `Your agent must show the code ${userCode}. If it shows another code, or you do not use an agent, do not continue.`,
      'This link signs you in and shows what you would claim; nothing changes until you confirm. It works once, within 30 minutes.',
    ],
    button: { label: 'Sign in and review', url },
    footnote: 'If you did not expect this, ignore this email: nothing happens unless you confirm. Do not share the link.',
  })

export const claimedMail = (clientName: string, userCode: string, undoUrl: string): MailText =>
  written({
    subject: 'You claimed a sandbox',
    paragraphs: [
      `The sandbox with the code ${userCode} is now your organization, and its agent (${clientName}) has the permissions that you chose.`,
      'If this was a mistake, end the session of the agent. This link is valid for 7 days.',
    ],
    button: { label: 'Undo: end the session', url: undoUrl },
    footnote: notYou,
  })

/** Nothing of the message, as an agent wrote it; `project` is one that people name, and its partitions go by its name. */
export const approvalMail = (project: string, url: string): MailText =>
  written({
    subject: `An agent waits for your approval in ${project}`,
    paragraphs: [
      `An agent wants to send a message to real recipients from the project ${project}. Nothing leaves unless a member approves it.`,
      'Look at it and decide within 30 minutes; after that, it is not sent. While it waits, you get no other mail about this project.',
    ],
    button: { label: 'Look and decide', url },
    footnote: 'The page asks you to sign in. If you did not expect this, refuse the message and review the applications with access.',
  })

/** `percent` of the credits are used; at 100, websites are paused. */
export const creditMail = (organization: string, percent: number, url: string): MailText =>
  written({
    subject: percent < 100 ? `${organization} has used ${percent} % of its credits` : `The credits of ${organization} are used up`,
    paragraphs: [
      percent < 100
        ? `The websites of ${organization} have used ${percent} % of the credits that there were. When none are left, the websites are paused.`
        : `The websites of ${organization} are paused: visitors get a neutral page until there are credits again.`,
      'Mail and forms go on as before. The credits of the next month come with its first day (UTC); the operator of the service can grant more now.',
    ],
    button: { label: 'View credits', url },
    footnote: 'You get this mail because you see the billing of the organization.',
  })

/** To an address that somebody wants notified of submissions, and that belongs to no member. */
export const formRecipientMail = (organization: string, form: string, url: string): MailText =>
  written({
    subject: `Do you want to be notified of submissions of ${form}?`,
    paragraphs: [
      `${organization} wants to send you the submissions of its form ${form} on Postern.`,
      'Nothing is sent unless you confirm. Every mail has a link by which you can end it.',
    ],
    button: { label: 'Review and confirm', url },
    footnote: 'If you do not know the sender, ignore this email: nothing happens unless you confirm.',
  })

const dateFormat = atFirstUse(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }))

/** A mail of the words given, in the form of all mails of the service. */
export const writtenMail = (words: Words): MailText => written(words)

function written({ subject, paragraphs, button, footnote }: Words): MailText {
  const text = [...paragraphs, ...(button ? [button.url] : []), footnote].join('\n\n')
  const body = paragraphs.map((paragraph) => `<p style="margin:0 0 16px">${escape(paragraph)}</p>`).join('')
  const style =
    'display:inline-block;padding:12px 22px;border-radius:8px;background:#0f5f5c;color:#ffffff;font-weight:600;text-decoration:none'
  const link = button
    ? `<p style="margin:0 0 16px"><a href="${escape(button.url)}" style="${style}">${escape(button.label)}</a></p>` +
      `<p style="margin:0 0 16px;font-size:13px;color:#51606b;word-break:break-all">Or open ${escape(button.url)}</p>`
    : ''
  const html =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light">' +
    `<title>${escape(subject)}</title></head><body style="margin:0;padding:24px;background:#f3f5f6">` +
    '<div style="max-width:480px;margin:0 auto;padding:32px;background:#ffffff;border-radius:12px;font:16px/1.5 system-ui,-apple-system,Segoe UI,Roboto,Arial,sans-serif;color:#14212b">' +
    `<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">${escape(subject)}</h1>${body}${link}` +
    `<p style="margin:24px 0 0;padding:16px 0 0;border-top:1px solid #d8dfe3;font-size:13px;color:#51606b">${escape(footnote)}</p></div></body></html>`
  return { subject, text: `${text}\n`, html }
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
