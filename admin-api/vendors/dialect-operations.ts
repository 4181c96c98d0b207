/** Send requests of other services as operations. Each translates the request and passes it to the core like `POST /v1/messages`. */
import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import type { Principal } from '#core/access/principal/principal.ts'
import { Refusal } from '#core/refusals.ts'
import type { BulkReport } from '#core/submission/doors/bulk-reports.ts'
import type { BatchMessage, SendBatches } from '#core/submission/doors/send-batches.ts'
import { streamed, type BodyStream } from '../bodies/body-stream.ts'
import { check } from '../bodies/validation.ts'
import { media } from '../operation/answer.ts'
import { operation, type HandlerInput, type Operation } from '../operation/operation.ts'
import { sendRefusals } from '../rest/sending/messages.ts'
import { decoder } from '../wire/fields/codec.ts'
import { toRefusedSend } from '../wire/sending/refused-send.ts'
import { sendInput, toSendOrder } from '../wire/sending/send.ts'
import { toWholeOrder, wholeInput } from '../wire/sending/whole-send.ts'
import { callOperation, type CallCore } from './dialect-calls.ts'
import { useNewKey, type Dialect, type DialectMessage, type DialectSend, type Fields, type Sent, type Translation } from './dialect.ts'
import { dialects } from './dialects.ts'
import { Form } from './body/form.ts'
import { readFormRequest } from './body/form-request.ts'
import { firstSesOperation } from './first-ses.ts'
import { headerOf } from './body/header-fields.ts'
import { ignoredFields, unwatched, watched } from './body/ignored-fields.ts'
import { inVendorTerms } from './vendor-terms.ts'
import { awsKey, signedBody } from './sigv4.ts'
import { vendorKey } from './vendor-key.ts'

export interface DialectCore extends CallCore {
  readonly sendBatches: SendBatches
  readonly maxSendBodyBytes: number
}

const deadlineSeconds = 120
/** Limit for all messages of a request together, in multiples of the largest body. */
const maxRepeated = 8
const formRequest = streamed({ 'multipart/form-data': z.unknown(), 'application/x-www-form-urlencoded': z.unknown() })
/** Largest number of fields without effect that a trace lists. */
const maxIgnored = 20

function sendOperation(dialect: Dialect, send: DialectSend): Operation<DialectCore> {
  const translate = send.translate as (body: unknown, request: Request) => Translation
  const answer = send.answer as (
    sent: Sent,
    body: unknown,
    publicHost: string,
    headers: IncomingHttpHeaders,
  ) => ReturnType<DialectSend['answer']>
  type Request = Parameters<DialectSend['translate']>[1]
  type Input = HandlerInput<unknown, unknown, unknown, Principal, DialectCore>
  const run = async ({ core, body, bodyBytes, headers, params, query, principal }: Input) => {
    const publicHost = new URL(core.baseUrl).hostname
    const given = send.body ? watched(send.body, check(send.body, body, 'body')) : await formIn(core, body as BodyStream, headers)
    const translation = translate(given, { headers, params: params as Readonly<Record<string, string>>, nowMs: core.clock.now() })
    requireRoom(translation, given instanceof Form ? given.size : bodyBytes, core.maxSendBodyBytes)
    const divided = new Set(translation.messages.flatMap(({ own = [] }) => own))
    const beside = ignoredFields(watched(anything, query as Fields), [], divided).map((name) => `?${name}`)
    const ignored = ({ own = [] }: DialectMessage): readonly string[] => [
      ...(given instanceof Form ? given.ignored : ignoredFields(given, own, divided)),
      ...beside,
    ]
    const sent = await sentBy(core, principal, translation, { dialect, ignored })
    if (translation.keepsReport) await core.bulkReports.keep(principal, reportOf(sent))
    return answer(sent, given, publicHost, headers)
  }
  return operation({
    ...{ method: 'POST', path: send.path, operationId: send.operationId, tags: ['vendors'] },
    summary: `Send mail as a client of ${dialect.name}`,
    hiddenFromOpenApi: true,
    scope: 'api:send',
    openToSendOnlyKeys: true,
    errors: sendRefusals,
    ...(send.params && { params: send.params }),
    query: anything,
    body: send.body ? z.unknown() : formRequest,
    response: media('application/json'),
    maxBodyBytes: ({ maxSendBodyBytes }) => maxSendBodyBytes,
    ...{ maxBodySetting: 'POSTERN_HTTP_MAX_BODY_BYTES', deadlineSeconds },
    ...(dialect.signsRequests && { digestCheck: signedBody(send.path) }),
    credentials: [...(dialect.signsRequests ? [awsKey] : []), vendorKey],
    errorRenderer: dialect.refused,
    handle: run,
  })
}

/** Any query parameter is accepted, since no service uses them here. */
const anything = z.looseObject({})

const formIn = async ({ maxSendBodyBytes }: DialectCore, body: BodyStream, headers: IncomingHttpHeaders): Promise<Form> =>
  new Form(await readFormRequest(body, headers['content-type'] ?? '', maxSendBodyBytes))

/** Throws `request_too_large` if the repeated content of all messages would exceed `maxRepeated` times the largest body. */
function requireRoom({ messages: { length }, own }: Translation, size: number, maxBodyBytes: number): void {
  const room = maxRepeated * maxBodyBytes
  if (length <= 1 || length * size <= room) return
  const shared = size - charactersIn(own)
  if (length * shared <= room) return
  throw new Refusal(
    'request_too_large',
    `This request creates ${String(length)} messages; a request of this size may create at most ${String(Math.max(1, Math.floor(room / shared)))}. Send to fewer recipients at once.`,
  )
}

/** Returns a lower bound of the size in octets. */
function charactersIn(view: unknown): number {
  const value = unwatched(view)
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce<number>((sum, one) => sum + charactersIn(one), 0)
}

/** Counts filled-in bodies, since they may be longer than the request. Throws `request_too_large` at the limit. */
function withinRoom(fields: Fields, room: { left: number }): Fields {
  for (const name of ['text', 'html']) room.left -= typeof fields[name] === 'string' ? fields[name].length : 0
  if (room.left >= 0) return fields
  throw new Refusal(
    'request_too_large',
    'The messages of this request are too large in total with their variables filled in. Send to fewer recipients at once.',
  )
}

/** A request to a dialect. Its traces list the parts without effect. */
interface Received {
  readonly dialect: Dialect
  /** Returns the fields, files and parameters that were not read for the message. */
  readonly ignored: (message: DialectMessage) => readonly string[]
}

/**
 * Sends the messages and returns their results. Refusals name the fields of the request. Throws the refusal of a single message, and of
 * strict messages.
 */
async function sentBy(
  { sendBatches, maxSendBodyBytes }: DialectCore,
  principal: Principal,
  { messages, isStrict = false, idempotencyKey, hasOneId = false }: Translation,
  received: Received,
): Promise<Sent> {
  const [first] = messages
  const room = { left: maxRepeated * maxSendBodyBytes }
  const batch = messages.map((message) => batchMessage(message, received, room))
  try {
    const order = { messages: batch, isStrict: isStrict && messages.length > 1, idempotencyKey, hasOneId }
    const sent = await sendBatches.send(principal, order)
    if (isStrict) requireAccepted(sent)
    requireOwnKey(sent)
    return sent.map((result, i) => (result instanceof Refusal ? inVendorTerms(result, [messages[i] ?? first]) : result))
  } catch (error) {
    throw error instanceof Refusal ? inVendorTerms(error, messages) : error
  }
}

function batchMessage(message: DialectMessage, { dialect, ignored }: Received, room: { left: number }): BatchMessage {
  let made: { readonly fields: Fields; readonly messageId: string | undefined; readonly left: readonly string[] } | undefined
  const make = () => {
    const given = message.fields()
    const { tags, metadata, left = [] } = message.labels ?? {}
    const { headers, messageId, left: fieldsLeft } = headerOf(dialect, given['headers'] as Fields | null | undefined, message.names)
    return { fields: withinRoom(present({ ...given, headers, tags, metadata }), room), messageId, left: [...fieldsLeft, ...left] }
  }
  return {
    order() {
      const { fields, messageId, left } = (made ??= make())
      const without = [...ignored(message), ...left].slice(0, maxIgnored)
      return {
        ...(message.isWhole ? wholeOrderOf(fields) : sendOrderOf(fields)),
        ...{ isTest: message.isTest, dialect: { of: dialect.name, ignored: without } },
        ...(messageId !== undefined && { messageId }),
      }
    },
    refused: () => toRefusedSend((made ??= make()).fields),
  }
}

const reportOf = (sent: Sent): Omit<BulkReport, 'at'> => ({
  accepted: sent.flatMap((one) => (one instanceof Refusal ? [] : [one.traceId])),
  refused: sent.flatMap((one, index) => (one instanceof Refusal ? [{ index, message: one.message }] : [])),
})

/**
 * Throws if some strict messages were refused. This can happen at acceptance, after all checks passed. The error lists the accepted
 * messages.
 */
function requireAccepted(sent: Sent): void {
  const first = sent.find((one) => one instanceof Refusal)
  if (!first) return
  const taken = sent.flatMap((one) => (one instanceof Refusal ? [] : [one.traceId]))
  if (taken.length === 0) throw first
  const { code, message, nextAction, details, retryAfterSeconds } = first
  throw new Refusal(
    code,
    `${String(taken.length)} of ${String(sent.length)} messages were accepted, and the others were refused: ${message}`,
    {
      ...{ nextAction, details: { ...details, trace_ids: taken }, cause: first },
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    },
  )
}

/**
 * Throws `conflict` if the idempotency key belongs to a different request, since nothing was sent. Responses of other services have no
 * field for a warning, and those services refuse such a key as well.
 */
function requireOwnKey(sent: Sent): void {
  const accepted = sent.flatMap((one) => (one instanceof Refusal ? [] : [one]))
  if (accepted.length === 0 || accepted.some(({ repeated }) => !repeated) || !accepted.some(({ differs }) => differs)) return
  throw new Refusal('conflict', 'This idempotency key was used within 24 hours for another request; nothing was sent. Use a new key.', {
    nextAction: useNewKey,
  })
}

const decode = decoder(sendInput)
const decodeWhole = decoder(wholeInput)
const sendOrderOf = (fields: Fields) => toSendOrder(decode(check(sendInput, fields, 'body')))
const wholeOrderOf = (fields: Fields) => toWholeOrder(decodeWhole(check(wholeInput, fields, 'body')))

/** Returns the fields that have a value. */
function present(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const said: Record<string, unknown> = {}
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    if (value !== undefined && value !== null && value !== '') said[name] = value
  }
  return said
}

/** Operations of all dialects, in their order. */
export const dialectOperations: readonly Operation<DialectCore>[] = [
  ...dialects.flatMap((dialect) => [
    ...dialect.sends.map((send) => sendOperation(dialect, send)),
    ...(dialect.calls ?? []).map((call) => callOperation(dialect, call)),
  ]),
  firstSesOperation,
]
