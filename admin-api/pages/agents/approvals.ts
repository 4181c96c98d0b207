/** What an agent wants to send to real recipients: shown as it will go out, to be approved or refused by a member. Without scripts. */
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
import { timeOf } from '../layout/page-words.ts'
import { memberTracePath } from '../messages/inboxes.ts'
import { linkedText } from '../messages/linked-text.ts'
import { files, framed, named, shortened } from '../messages/message-page.ts'
import { awaitingApproval } from '../messages/message-view.ts'
import { csrfField } from '../session/confirm-first.ts'
import { seeOther, type Pages, type SignedInRequest } from '../session/page-operation.ts'

export interface ApprovalPagesCore {
  readonly sendApprovals: SendApprovals
  readonly messageViews: Pick<MessageViews, 'token'>
}

const path = '/organizations/{id}/approvals/{trace_id}'

/** Characters; longer texts are cut here, and whole in the download. */
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
        ...{ organizationId, visitor: request.visitor, mayDecide: hasScope(principal, 'api:send') },
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
  readonly mayDecide: boolean
  readonly self: string
  /** Path under which the parts of the message are. */
  readonly base: string
  readonly showsRemote: boolean
}

function approvalPage(shown: Presented): Answer {
  const { trace, read, base } = shown
  const subject = decodeEncodedWords(trace.subject) || 'Without a subject'
  return page({
    title: 'Approve a message',
    width: 'wide',
    visitor: shown.visitor,
    hasFrames: true,
    content: html`<h1>An agent wants to send this</h1>
      ${stateOf(shown)}
      <dl class="mail">
        ${legible(facts(shown, subject)).map(
          ([label, value]) =>
            html`<dt>${label}</dt>
              <dd dir="auto">${value}</dd>`,
        )}
      </dl>
      ${!read.ok && html`<p class="note">${read.unreadable}</p>`} ${read.ok && contents(shown, read.message)}
      <p class="after"><a class="button quiet" href="${base}/raw">Download the message</a></p>
      ${read.ok && decision(shown)}`,
  })
}

/** Whether it waits, or what was decided. */
function stateOf({ trace: { approval }, isExpired, mayDecide, obstacle }: Presented): Html {
  const { decision: made, expiresAt } = approval
  if (made?.as === 'approved') return html`<p class="done" role="status">Approved by ${made.email} on ${timeOf(made.at)}.</p>`
  if (made?.as === 'refused') return html`<p class="note">Refused by ${made.email} on ${timeOf(made.at)}. It was not sent.</p>`
  if (made?.as === 'withdrawn') return html`<p class="note">The agent withdrew it on ${timeOf(made.at)}. It was not sent.</p>`
  if (made || isExpired) return html`<p class="note">It was not approved in time, and was not sent. The agent can ask again.</p>`
  if (!mayDecide) return html`<p class="note">Your role cannot approve it. Ask a member who may send, until ${timeOf(expiresAt)}.</p>`
  if (obstacle !== undefined) return html`<p class="note">Nothing has left, and it cannot be approved now. ${obstacle}</p>`
  return html`<p class="lead">
    Nothing has left yet. Look at everything below: what you approve is sent exactly so, once. It can be approved until
    ${timeOf(expiresAt)}.
  </p>`
}

type Facts = readonly (readonly [label: string, value: Html | string])[]

/** Without characters that show the text around them in another order, or are not seen, as an agent may have written them. */
function legible(rows: Facts): Facts {
  let overrides = 0
  const shown = rows.map(([label, value]) => {
    if (typeof value !== 'string') return [label, value] as const
    const { text, removed } = withoutInvisible(value)
    overrides += removed.bidi
    return [label, text] as const
  })
  const warning = `${overrides} characters that change the direction of text are in the fields above; they are left out here, and are sent.`
  return overrides === 0 ? shown : [...shown, ['Look closely', warning]]
}

function facts({ trace, read, projectName, destination, fallbacks, organizationId }: Presented, subject: string): Facts {
  const all = (addresses: readonly string[]): string => addresses.join(', ')
  const message = read.ok ? read.message : undefined
  // whoever gets it and stands neither in To nor in Cc, the sender too
  const open = new Set([...(message?.to ?? []), ...(message?.cc ?? [])].map(({ address }) => foldAddress(address)))
  const others = all(trace.recipients.map(({ address }) => address).filter((address) => !open.has(foldAddress(address))))
  const suppressed = all(trace.recipients.filter(({ status }) => status === 'suppressed').map(({ address }) => address))
  const rows: Facts = [
    ['From', message ? all(message.from.map(exactly)) : trace.headerFrom],
    ['To', message ? all(message.to.map(exactly)) : others],
    ['Cc', message ? all(message.cc.map(exactly)) : ''],
    ['Bcc', message ? others : ''],
    ['Reply-To', message ? all(message.replyTo.map(exactly)) : ''],
    ['Envelope sender', trace.mailFrom === trace.headerFrom ? '' : trace.mailFrom],
    ['Not sent to', suppressed === '' ? '' : `${suppressed}, as they are suppressed`],
    ['Subject', subject],
    ['Project', projectName],
    ['Goes through', destination ?? 'a destination that was deleted'],
    ['Or, if that fails', all(fallbacks)],
    ['Leaves', trace.sendAt === undefined ? 'when it is approved' : html`${timeOf(trace.sendAt)}, if it is approved`],
    ['Digest', html`<code>${trace.approval.digest}</code>`],
    ['Trace', html`<a href="${memberTracePath(organizationId, trace.id)}">What happened to this message</a>`],
  ]
  return rows.filter(([, value]) => value !== '')
}

/** A name that could pass for an address, or for the end of one, stands in quotes. */
const exactly = ({ name, address }: ReadAddress): string =>
  /[<>@,;"]/.test(name) ? `${JSON.stringify(shortened(name))} <${address}>` : named({ name, address })

function contents(shown: Presented, message: ReadMessage): Html {
  const text = message.text.slice(0, maxTextShown)
  return html`${
      message.document.html !== '' &&
      html`<h2 id="html">HTML</h2>
        <section class="sheet" aria-labelledby="html">${framed(shown, message)}</section>`
    }
    <h2 id="text">Text</h2>
    <section class="sheet" aria-labelledby="text">
      ${message.text.length > maxTextShown && html`<p class="meta">The first ${maxTextShown} characters; the download has the rest.</p>`}
      <pre class="text" tabindex="0">${linkedText(text)}</pre>
    </section>
    ${
      message.attachments.length > 0 &&
      html`<h2 id="files">Files</h2>
        <section class="sheet" aria-labelledby="files">${files(shown.base, message)}</section>`
    }`
}

function decision({ trace: { approval }, isExpired, mayDecide, obstacle, self, visitor }: Presented): Html | undefined {
  if (approval.decision || isExpired || !mayDecide) return undefined
  const fields = html`${csrfField(visitor)}<input type="hidden" name="digest" value="${approval.digest}" />`
  return html`<section class="sheet buttons" aria-label="Decision">
    ${obstacle === undefined && html`<form method="post" action="${self}/approve">${fields}<button>Approve and send</button></form>`}
    <form method="post" action="${self}/refuse">${fields}<button class="danger">Refuse</button></form>
  </section>`
}
