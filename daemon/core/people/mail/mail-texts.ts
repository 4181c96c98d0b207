/** The mails of the service to its users: fixed words, as text and as HTML. */
import type { Role } from '../../access/scope/role.ts'
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

const notYou = 'If this was not you, sign in, look at your sessions and passkeys, and tell an owner of your organization.'

export const loginMail = (url: string): MailText =>
  written({
    subject: 'Your sign-in link',
    paragraphs: ['Use this link to sign in to Postern. It works once, within 15 minutes, on any device.'],
    button: { label: 'Sign in', url },
    footnote: 'If you did not ask for it, ignore this mail: nobody can sign in without the link. Pass it on to nobody.',
  })

export const invitationMail = (organization: string, inviter: User | undefined, role: Role, url: string): MailText =>
  written({
    subject: `Invitation to ${organization}`,
    paragraphs: [
      `${inviter ? inviter.name || inviter.email : 'An administrator'} invites you to ${organization} on Postern, as ${role}.`,
      'The invitation is open for 7 days. You accept it after you have signed in with this address.',
    ],
    button: { label: 'See the invitation', url },
    footnote: 'If you do not know the sender, ignore this mail: nothing happens without you.',
  })

export const roleMail = (organization: string, role: Role, url: string): MailText =>
  written({
    subject: `You are ${role} of ${organization} now`,
    paragraphs: [`Your role in ${organization} was changed to ${role}. What you may do changed at once.`],
    button: { label: 'Open Postern', url },
    footnote: 'If you did not expect this, ask an owner of the organization.',
  })

export const removedMail = (organization: string): MailText =>
  written({
    subject: `You left ${organization}`,
    paragraphs: [`You are no member of ${organization} any more, and cannot see it any longer.`],
    footnote: 'If you did not expect this, ask an owner of the organization.',
  })

export const passkeyMail = (name: string, what: 'added' | 'removed', url: string): MailText =>
  written({
    subject: what === 'added' ? 'A new passkey signs you in' : 'A passkey was removed',
    paragraphs: [`The passkey “${name}” was ${what === 'added' ? 'added to' : 'removed from'} your account.`],
    button: { label: 'See your account', url },
    footnote: notYou,
  })

export const sessionsMail = (count: number, url: string): MailText =>
  written({
    subject: 'You were signed out elsewhere',
    paragraphs: [`${count === 1 ? 'One session' : `${count} sessions`} of your account on other devices ended.`],
    button: { label: 'See your account', url },
    footnote: notYou,
  })

export const reuseMail = (clientName: string, endedKeys: readonly string[], url: string): MailText =>
  written({
    subject: 'The access of an application was ended',
    paragraphs: [
      `A token of ${clientName} was used twice. It may have been copied, so the whole access that you had allowed was ended.`,
      ...(endedKeys.length === 0 ? [] : [`So were the API keys that it minted: ${endedKeys.join(', ')}.`]),
      'If you still want the application to work, connect it again. This also happens when a program asks twice at the same time.',
    ],
    button: { label: 'See applications with access', url },
    footnote: 'If it happens again, ask who makes the application where its tokens are kept.',
  })

/** What the mail of a claim tells of it. */
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
      `An agent (${clientName}) asks you to take over a sandbox project on Postern, made on ${dateFormat.format(sandboxAt)} UTC.`,
      `Your agent must be showing the code ${userCode}. If it shows another one, or you use no agent, do not go on.`,
      'You sign in by this link and see what you take over; nothing changes before you agree. It works once, within 30 minutes.',
    ],
    button: { label: 'Sign in and see', url },
    footnote: 'If you did not expect this, ignore this mail: nothing happens without you. Pass the link on to nobody.',
  })

export const claimedMail = (clientName: string, userCode: string, undoUrl: string): MailText =>
  written({
    subject: 'You took over a sandbox',
    paragraphs: [
      `The sandbox with the code ${userCode} is an organization of yours now, and its agent (${clientName}) may do there what you chose.`,
      'If that was a mistake, end the session of the agent. This link is good for 7 days.',
    ],
    button: { label: 'Undo: end the session', url: undoUrl },
    footnote: notYou,
  })

const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

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
