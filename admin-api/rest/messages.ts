/** `POST /v1/messages`. Spec "POST /v1/messages". */
import { invalid } from '#core/refusals.ts'
import { operation, type Operation } from '../operation.ts'
import { check } from '../validation.ts'
import { idempotencyHeader, sendBody, sendShape, toSendOrder, toWireAcceptance } from '../wire/send.ts'
import type { RestCore } from './core.ts'

const sendDeadlineSeconds = 120

export const messageOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/messages',
    operationId: 'sendMessage',
    summary: 'Send a message',
    description:
      'Answers as soon as the message is on disk and its outcome decided; the attempt to relay follows. ' +
      'When every recipient is suppressed, status is suppressed and nothing is sent. ' +
      'The header Idempotency-Key stands for the field idempotency_key.',
    tags: ['messages'],
    right: 'api:send',
    errors: [
      'not_found',
      'no_route',
      'quota_exhausted_captures',
      'quota_exhausted',
      'project_budget_exhausted',
      'conflict',
      'storage_full',
    ],
    maxBodyBytes: core.sendBodyBytesMax,
    maxBodySetting: 'POSTERN_HTTP_MAX_BODY_BYTES',
    deadlineSeconds: sendDeadlineSeconds,
    body: sendBody,
    response: sendShape,
    examples: {
      body: { from: 'Shop <shop@example.ch>', to: 'ada@example.ch', subject: 'Your order', text: 'Thank you.' },
      response: { trace_id: '0b6ab9a4-6a0c-4b0f-9d6f-0d5f8f1c2a3b', outcome: 'relayed' },
    },
    async handle({ body, scope, headers }) {
      const key = idempotencyKey(body.idempotency_key, headers['idempotency-key'])
      return toWireAcceptance(await core.sendMessages.send(scope, toSendOrder(body, key)))
    },
  }),
]

function idempotencyKey(inBody: string | undefined, inHeader: string | string[] | undefined): string | undefined {
  if (inHeader === undefined) return inBody
  const { 'Idempotency-Key': key } = check(idempotencyHeader, { 'Idempotency-Key': inHeader }, 'body')
  if (inBody !== undefined && key !== inBody)
    throw invalid([{ path: 'idempotency_key', message: 'differs from the header Idempotency-Key; give one of them' }])
  return key
}
