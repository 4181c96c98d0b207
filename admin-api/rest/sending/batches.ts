/** `POST /v1/messages/batch`. */
import { Refusal } from '#core/refusals.ts'
import { action, type Action } from '../../actions/action.ts'
import { batchInput, batchResults, toBatchMessage } from '../../wire/sending/batch.ts'
import type { RestCore } from '../rest-core.ts'
import { sendRefusals } from './messages.ts'

const batchDeadlineSeconds = 120

export const batchActions: readonly Action<RestCore>[] = [
  action({
    id: 'sendMessageBatch',
    summary: 'Send up to 100 messages',
    description:
      'Each message is a separate send: it has its own trace and result, and counts separately against limits and budgets. ' +
      'Limits can therefore refuse some messages of a strict batch too. The response is sent when every accepted message is ' +
      'stored. The header `Idempotency-Key` can replace the field `idempotency_key`.',
    tags: ['messages'],
    scope: 'api:send',
    openToSendOnlyKeys: true,
    errors: sendRefusals,
    input: batchInput,
    output: batchResults,
    examples: {
      input: {
        messages: [
          { from: 'Shop <shop@example.ch>', to: 'ada@example.ch', subject: 'Your order', text: 'Thank you.' },
          { from: 'Shop <shop@example.ch>', to: 'bob@example.ch', subject: 'Your order', text: 'Thank you.' },
        ],
      },
      output: {
        results: [
          { trace_id: '0b6ab9a4-6a0c-4b0f-9d6f-0d5f8f1c2a3b', outcome: 'relayed' },
          { trace_id: '5787f135-63e2-4a35-969b-998bf941bedf', outcome: 'relayed' },
        ],
        accepted: 2,
        refused: 0,
      },
    },
    http: {
      method: 'POST',
      path: '/v1/messages/batch',
      from: { idempotency_key: { header: 'Idempotency-Key', orBody: true } },
      headers: {
        'Idempotent-Replayed': {
          description: '`true` if every result is the result of an earlier request with the same idempotency key.',
          of: (results) => (results.every((result) => !(result instanceof Refusal) && result.repeated) ? 'true' : undefined),
        },
      },
      maxBodyBytes: (core) => core.maxSendBodyBytes,
      maxBodySetting: 'POSTERN_HTTP_MAX_BODY_BYTES',
      deadlineSeconds: batchDeadlineSeconds,
    },
    run: ({ core, principal }, { messages, validation, idempotencyKey }) =>
      core.sendBatches.send(principal, { messages: messages.map(toBatchMessage), isStrict: validation === 'strict', idempotencyKey }),
  }),
]
