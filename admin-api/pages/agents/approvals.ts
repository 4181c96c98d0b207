/**
 * Approval pages: show a message that an agent wants to send to real recipients, for a member to approve or refuse. Works without scripts.
 */
import { hasScope, type Principal } from '#core/access/principal/principal.ts'
import { foldAddress } from '#core/addresses.ts'
import type { ReadAddress, ReadMessage } from '#core/capture/reading/message-reader.ts'
import type { MessageViews } from '#core/capture/reading/message-views.ts'
import type { SendApprovals, ShownApproval } from '#core/submission/approval/send-approvals.ts'
import { approvalPath } from '#core/trace/approval/asked.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { withoutInvisible } from '#ingest/mime/invisible-characters.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { html, type Html } from '../layout/html.ts'
import { page, type Visitor } from '../layout/layout.ts'
import { inEnglish, numberOf, timeOf } from '../layout/page-texts.ts'
import { memberTracePath } from '../messages/inboxes.ts'
import { linkedText } from '../messages/linked-text.ts'
import { files, framed, named, shortened } from '../messages/message-page.ts'
import { awaitingApproval } from '../messages/message-view.ts'
import { csrfField } from '../session/confirm-first.ts'
import { seeOther, type Pages, type SignedInRequest } from '../session/page-operation.ts'
import type { PageTexts } from '../texts/texts-for.ts'

export interface ApprovalPagesCore {
  readonly sendApprovals: SendApprovals
  readonly messageViews: Pick<MessageViews, 'token'>
}

const path = '/organizations/{id}/approvals/{trace_id}'

/** In characters. Longer texts are cut here; the download has the whole text. */
const maxTextShown = 128 * 1024

export function approvalOperations(pages: Pages, { sendApprovals, messageViews }: ApprovalPagesCore): readonly Operation[] {
  const principalOf = ({ signedIn, params: { id = '' } }: SignedInRequest): Promise<Principal> =>
    pages.people.members.principalOf(signedIn.user.id, id)
  const decide = (verb: 'approve' | 'refuse', operationId: string, summary: string): Operation =>
    pages.form(
      {
        ...{ path: `${path}/${verb}`, operationId, summary },
        back: ({ id = '', trace_id: traceId = '' }) => approvalPath(id, traceId),
      },
      async (request) => {
        const { id = '', trace_id: traceId = '' } = request.params
        const { user } = request.signedIn
        const approver = { userId: user.id, email: user.email }
        await sendApprovals[verb](await principalOf(request), traceId, request.form.get('digest') ?? '', approver)
        return seeOther(approvalPath(id, traceId))
      },
    )
  return [
    pages.signedIn({ path, operationId: 'showApproval', summary: 'Show a message that waits for an approval' }, async (request) => {
      const { id: organizationId = '', trace_id: traceId = '' } = request.params
      const principal = await principalOf(request)
      const shown = await sendApprovals.show(principal, traceId)
      const token = messageViews.token({ organizationId, inboxId: awaitingApproval, captureId: traceId })
      return approvalPage({
        ...shown,
        ...{ organizationId, visitor: request.visitor, texts: request.texts, mayDecide: hasScope(principal, 'api:send') },
        ...{ self: approvalPath(organizationId, traceId), base: `/view/${token}`, showsRemote: request.query('images') === '1' },
      })
    }),
    decide('approve', 'approveSend', 'Approve a message of an agent'),
    decide('refuse', 'refuseSend', 'Refuse a message of an agent'),
  ]
}

interface Presented extends ShownApproval {
  readonly organizationId: string
  readonly visitor: Visitor
  readonly texts: PageTexts
  readonly mayDecide: boolean
  readonly self: string
  /** Path prefix of the parts of the message. */
  readonly base: string
  readonly showsRemote: boolean
}

function approvalPage(shown: Presented): Answer {
  const { trace, read, base, texts } = shown
  const { approval: said, message } = texts.mail
  const subject = decodeEncodedWords(trace.subject) || message.withoutSubject
  return page({
    title: said.title,
    lang: texts.lang,
    width: 'wide',
    visitor: shown.visitor,
    hasFrames: true,
    content: html`<h1>${said.heading}</h1>
      ${stateOf(shown)}
      <dl class="mail">
        ${legible(facts(shown, subject), texts).map(
          ([label, value]) =>
            html`<dt>${label}</dt>
              <dd dir="auto">${value}</dd>`,
        )}
      </dl>
      ${!read.ok && html`<p class="note" ${inEnglish(texts)}>${read.unreadable}</p>`} ${read.ok && contents(shown, read.message)}
      <p class="after"><a class="button quiet" href="${base}/raw">${message.download}</a></p>
      ${read.ok && decision(shown)}`,
  })
}

/** Returns the state of the approval: pending, expired or decided. */
function stateOf({ trace: { approval }, isExpired, mayDecide, obstacle, texts }: Presented): Html {
  const { decision: made, expiresAt } = approval
  const { approval: said } = texts.mail
  const at = (ms: number): Html => timeOf(ms, texts.lang)
  if (made?.as === 'approved') return html`<p class="done" role="status">${said.approvedBy({ who: made.email ?? '', at: at(made.at) })}</p>`
  if (made?.as === 'refused') return html`<p class="note">${said.refusedBy({ who: made.email ?? '', at: at(made.at) })}</p>`
  if (made?.as === 'withdrawn') return html`<p class="note">${said.withdrawn({ at: at(made.at) })}</p>`
  if (made || isExpired) return html`<p class="note">${said.expired}</p>`
  if (!mayDecide) return html`<p class="note">${said.mayNot({ until: at(expiresAt) })}</p>`
  if (obstacle !== undefined) return html`<p class="note">${said.obstacle} <span ${inEnglish(texts)}>${obstacle}</span></p>`
  return html`<p class="lead">${said.lead({ until: at(expiresAt) })}</p>`
}

type Facts = readonly (readonly [label: string, value: Html | string])[]

/** Removes invisible characters and direction overrides, since an agent may have written the text. */
function legible(rows: Facts, { mail: { approval: said } }: PageTexts): Facts {
  let overrides = 0
  const shown = rows.map(([label, value]) => {
    if (typeof value !== 'string') return [label, value] as const
    const { text, removed } = withoutInvisible(value)
    overrides += removed.bidi
    return [label, text] as const
  })
  return overrides === 0 ? shown : [...shown, [said.lookClosely, said.overrides({ count: overrides })]]
}

function facts({ trace, read, projectName, destination, fallbacks, organizationId, texts }: Presented, subject: string): Facts {
  const { approval: said, message: field } = texts.mail
  const all = (addresses: readonly string[]): string => addresses.join(', ')
  const message = read.ok ? read.message : undefined
  // recipients that are neither in To nor in Cc, including the sender
  const open = new Set([...(message?.to ?? []), ...(message?.cc ?? [])].map(({ address }) => foldAddress(address)))
  const others = all(trace.recipients.map(({ address }) => address).filter((address) => !open.has(foldAddress(address))))
  const suppressed = all(trace.recipients.filter(({ status }) => status === 'suppressed').map(({ address }) => address))
  const rows: Facts = [
    [field.from, message ? all(message.from.map(exactly)) : trace.headerFrom],
    [field.to, message ? all(message.to.map(exactly)) : others],
    [field.cc, message ? all(message.cc.map(exactly)) : ''],
    [field.bcc, message ? others : ''],
    [field.replyTo, message ? all(message.replyTo.map(exactly)) : ''],
    [field.envelopeSender, trace.mailFrom === trace.headerFrom ? '' : trace.mailFrom],
    [said.notSentTo, suppressed === '' ? '' : said.suppressed({ addresses: suppressed })],
    [field.subject, subject],
    [said.project, projectName],
    [said.through, destination ?? said.deleted],
    [said.fallback, all(fallbacks)],
    [said.leaves, trace.sendAt === undefined ? said.whenApproved : said.ifApproved({ at: timeOf(trace.sendAt, texts.lang) })],
    [said.digest, html`<code>${trace.approval.digest}</code>`],
    [texts.trace.trace, html`<a href="${memberTracePath(organizationId, trace.id)}">${field.happened}</a>`],
  ]
  return rows.filter(([, value]) => value !== '')
}

/** Quotes a name that could pass for an address or for the end of one. */
const exactly = ({ name, address }: ReadAddress): string =>
  /[<>@,;"]/.test(name) ? `${JSON.stringify(shortened(name))} <${address}>` : named({ name, address })

function contents(shown: Presented, message: ReadMessage): Html {
  const text = message.text.slice(0, maxTextShown)
  const { texts } = shown
  const { tabs } = texts.mail.message
  return html`${
      message.document.html !== '' &&
      html`<h2 id="html">${tabs.html}</h2>
        <section class="sheet" aria-labelledby="html">${framed(shown, message)}</section>`
    }
    <h2 id="text">${tabs.text}</h2>
    <section class="sheet" aria-labelledby="text">
      ${message.text.length > maxTextShown && html`<p class="meta">${texts.mail.approval.cut({ characters: numberOf(maxTextShown, texts.lang) })}</p>`}
      <pre class="text" tabindex="0">${linkedText(text)}</pre>
    </section>
    ${
      message.attachments.length > 0 &&
      html`<h2 id="files">${tabs.files}</h2>
        <section class="sheet" aria-labelledby="files">${files(shown.base, message, texts)}</section>`
    }`
}

function decision({ trace: { approval }, isExpired, mayDecide, obstacle, self, visitor, texts }: Presented): Html | undefined {
  if (approval.decision || isExpired || !mayDecide) return undefined
  const { approval: said } = texts.mail
  const fields = html`${csrfField(visitor)}<input type="hidden" name="digest" value="${approval.digest}" />`
  return html`<section class="sheet buttons" aria-label="${said.decision}">
    ${obstacle === undefined && html`<form method="post" action="${self}/approve">${fields}<button>${said.approve}</button></form>`}
    <form method="post" action="${self}/refuse">${fields}<button class="danger">${said.refuse}</button></form>
  </section>`
}
