/** Views of stored messages for members of the organization and for short-lived links, with their parts. */
import { Readable } from 'node:stream'
import * as z from 'zod'
import type { Principal } from '#core/access/principal/principal.ts'
import type { Inboxes } from '#core/capture/inboxes/inboxes.ts'
import type { Capture } from '#core/capture/capture.ts'
import { isOfRoute, ofTrace, shown, type MessageViews, type ShownImage, type ViewedMessage } from '#core/capture/reading/message-views.ts'
import type { ReadMessage, ReadResult } from '#core/capture/reading/message-reader.ts'
import type { RawMessage } from '#core/capture/reading/readings.ts'
import type { TraceMessage, TraceMessages } from '#core/capture/reading/trace-messages.ts'
import type { InboundFile, InboundMail, InboundReading } from '#core/inbound-routes/inbound-mail.ts'
import { Refusal } from '#core/refusals.ts'
import type { SendApprovals } from '#core/submission/approval/send-approvals.ts'
import { media, raw, type Answer } from '../../operation/answer.ts'
import { operation, pathParameters, type Operation } from '../../operation/operation.ts'
import { attachmentFile, messageFile } from '../../http/download.ts'
import { inboxPath, memberPrincipal, memberTracePath } from './inboxes.ts'
import { messageFrame } from './message-frame.ts'
import { messagePage, maxSourceShown, type Shown, type Source } from './message-page.ts'
import type { Pages } from '../session/page-operation.ts'
import { textsFor, type PageTexts } from '../texts/texts-for.ts'
import { publicRefusalPage } from '../layout/refusal-page.ts'

export interface MessageViewCore {
  readonly inboxes: Inboxes
  readonly traceMessages: TraceMessages
  readonly sendApprovals: SendApprovals
  readonly messageViews: MessageViews
  readonly inboundMail: InboundMail
}

export const messageViewOperations = (pages: Pages, core: MessageViewCore): readonly Operation[] => [
  ...forMembers(pages, core),
  ...parts(core),
]

function forMembers(pages: Pages, core: MessageViewCore): readonly Operation[] {
  const path = '/organizations/{id}/inboxes/{inbox_id}/messages/{message_id}'
  return [
    pages.signedIn({ path, operationId: 'showInboxMessage', summary: 'Show a captured message' }, async (request) => {
      const { id = '', inbox_id: inboxId = '', message_id: captureId = '' } = request.params
      const { visitor, query, texts } = request
      const principal = await memberPrincipal(pages, request)
      const inbox = await core.inboxes.get(principal, inboxId)
      const self = `${inboxPath(id, inboxId)}/messages/${captureId}`
      const back = { path: inboxPath(id, inboxId), title: inbox.name }
      const traceAt = (traceId: string): string => memberTracePath(id, traceId)
      const viewed = { organizationId: id, inboxId, captureId }
      return show(core, principal, viewed, { self, back, traceAt, visitor, query, texts })
    }),
  ]
}

type Presented = Pick<Parameters<typeof messagePage>[0], 'self' | 'back' | 'visitor' | 'traceAt' | 'texts'> & {
  readonly query: (name: string) => string | undefined
}

async function show(
  core: MessageViewCore,
  principal: Principal,
  viewed: ViewedMessage,
  { query, ...presented }: Presented,
): Promise<Answer> {
  const [message, source] = await Promise.all([messageOf(core, principal, viewed), sourceOf(core, principal, viewed).raw().then(beginning)])
  const base = `/view/${core.messageViews.token(viewed)}`
  return messagePage({ ...presented, message, source, base, tab: query('tab'), showsRemote: query('images') === '1' })
}

interface Asked {
  readonly viewed: ViewedMessage
  readonly principal: Principal
  readonly source: ViewSource
  readonly base: string
  readonly index: number
  readonly query: (name: string) => string | undefined
  readonly texts: PageTexts
  readonly signal: AbortSignal
}

/** Replaces the inbox id for a message that waits for approval; its message id is the id of its trace. */
export const awaitingApproval = 'approval'

/** A message that a link shows. */
interface ViewSource {
  read(): Promise<ReadResult>
  attachment(index: number): Promise<Uint8Array>
  raw(): Promise<RawMessage>
}

async function messageOf(
  { inboxes, traceMessages, inboundMail }: MessageViewCore,
  principal: Principal,
  { inboxId, captureId }: ViewedMessage,
): Promise<Shown> {
  if (isOfRoute(inboxId)) return receivedOf(await inboundMail.get(principal, inboxId, captureId))
  if (inboxId === ofTrace) return sentOf(await traceMessages.message(principal, captureId))
  return sentOf(await inboxes.message(principal, inboxId, captureId))
}

function sentOf({ trace, read, capture }: TraceMessage & { readonly capture?: Capture }): Shown {
  const { id: traceId, subject, mailFrom, headerFrom, recipients, createdAt } = trace
  const arrival = capture
    ? ({ how: 'captured', at: capture.capturedAt, why: capture.captureReason } as const)
    : ({ how: 'accepted', at: createdAt } as const)
  return { read, subject, mailFrom, headerFrom, recipients, arrival, traceId }
}

function receivedOf({ message, read }: InboundReading): Shown {
  const { prepared, mailFrom, receivedAt } = message
  return {
    ...{ read, mailFrom, subject: prepared?.subject ?? '', headerFrom: prepared?.from[0] ?? '' },
    recipients: message.recipients.map((address) => ({ address })),
    arrival: { how: 'received', at: receivedAt },
  }
}

function sourceOf(core: MessageViewCore, principal: Principal, { inboxId, captureId }: ViewedMessage): ViewSource {
  const { inboxes, sendApprovals, traceMessages, inboundMail } = core
  if (isOfRoute(inboxId))
    return {
      read: async () => (await inboundMail.get(principal, inboxId, captureId)).read,
      attachment: async (index) => (await inboundMail.attachment(principal, inboxId, captureId, index)).bytes,
      raw: async () => wholeOf(await inboundMail.raw(principal, inboxId, captureId)),
    }
  if (inboxId === ofTrace)
    return {
      read: async () => (await traceMessages.message(principal, captureId)).read,
      attachment: (index) => traceMessages.attachment(principal, captureId, index),
      raw: () => traceMessages.raw(principal, captureId),
    }
  if (inboxId === awaitingApproval)
    return {
      read: async () => (await sendApprovals.show(principal, captureId)).read,
      attachment: (index) => sendApprovals.attachment(principal, captureId, index),
      raw: () => sendApprovals.raw(principal, captureId),
    }
  return {
    read: async () => (await inboxes.message(principal, inboxId, captureId)).read,
    attachment: (index) => inboxes.attachment(principal, inboxId, captureId, index),
    raw: () => inboxes.raw(principal, inboxId, captureId),
  }
}

const wholeOf = ({ bytes }: InboundFile): RawMessage => ({ size: bytes.length, pieces: Readable.from([bytes], { objectMode: true }) })

/** Operations under a link. They ignore cookies: only the link determines access. */
function parts(core: MessageViewCore): readonly Operation[] {
  const { messageViews } = core
  const part = (path: string, operationId: string, summary: string, answer: (asked: Asked) => Promise<Answer>): Operation => {
    const full = `/view/{token}${path}`
    return operation({
      method: 'GET',
      path: full,
      operationId,
      summary,
      tags: ['pages'],
      scope: 'none',
      hiddenFromOpenApi: true,
      errorRenderer: publicRefusalPage,
      params: z.strictObject(Object.fromEntries(pathParameters(full).map((name) => [name, z.string().max(300)]))),
      query: z.looseObject({}),
      response: media('text/html'),
      handle({ params, query, headers, signal }) {
        const { token = '', index = '' } = params as Record<string, string | undefined>
        const viewed = messageViews.read(token)
        const one = (name: string): string | undefined => (typeof query[name] === 'string' ? query[name] : undefined)
        const principal = messageViews.principalOf(viewed)
        return answer({
          viewed,
          principal,
          source: sourceOf(core, principal, viewed),
          base: `/view/${token}`,
          index: /^\d{1,4}$/.test(index) ? Number(index) : -1,
          query: one,
          texts: textsFor(headers),
          signal,
        })
      },
    })
  }
  return [
    part('', 'viewMessage', 'Show a captured message by its link', ({ principal, viewed, base, query, texts }) =>
      show(core, principal, viewed, { self: base, traceAt: (id) => `/share/traces/${id}`, query, texts }),
    ),
    part('/html', 'viewMessageHtml', 'The HTML of a message, for a sandboxed frame', async (asked) => {
      const remote = (address: string): string => `${asked.base}/image?${messageViews.imageQuery(asked.viewed, address)}`
      const options = { origin: messageViews.origin, base: asked.base, showsRemote: asked.query('images') === '1', remote }
      return messageFrame(readOf(await asked.source.read()), options)
    }),
    part('/image', 'viewMessageImage', 'A remote image of a message', async ({ viewed, query, signal }) =>
      imageAnswer(await messageViews.image(viewed, query('u') ?? '', query('s') ?? '', signal)),
    ),
    part('/embedded/{index}', 'viewMessageEmbedded', 'An image that a message carries', async ({ source, index }) =>
      imageAnswer(shown(await source.attachment(index))),
    ),
    part('/attachments/{index}', 'viewMessageAttachment', 'Download a file of a message', async (asked) => {
      const { source, index } = asked
      const bytes = await source.attachment(index)
      const known = readOf(await source.read()).attachments[index]
      return attachmentFile(bytes, index, known, saved)
    }),
    part('/raw', 'viewMessageRaw', 'Download a message', async ({ source, viewed }) => {
      const { size, pieces } = await source.raw()
      const body = Readable.from(pieces, { objectMode: false })
      return messageFile(body, viewed.captureId, { ...saved, 'content-length': String(size) })
    }),
  ]
}

function readOf(read: ReadResult): ReadMessage {
  if (read.ok) return read.message
  throw new Refusal('not_found', read.unreadable)
}

/** Isolates the content from the pages of this service. */
const apart = { 'content-security-policy': "default-src 'none'; sandbox", 'referrer-policy': 'no-referrer' }
const saved = { ...apart, 'cache-control': 'no-store' }

const imageAnswer = ({ bytes, contentType }: ShownImage): Answer =>
  raw(bytes, { contentType, headers: { ...apart, 'cache-control': 'private, max-age=600' } })

/** Reads the part that a page shows. */
async function beginning({ size, pieces }: RawMessage): Promise<Source> {
  const taken: Uint8Array[] = []
  let length = 0
  for await (const piece of pieces) {
    taken.push(piece)
    length += piece.length
    if (length >= maxSourceShown) break
  }
  return { size, beginning: Buffer.concat(taken).subarray(0, maxSourceShown) }
}
