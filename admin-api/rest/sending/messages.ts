/** `POST /v1/messages`. Spec "POST /v1/messages". */
import { publishablePrefix } from '#core/publishable/key-token.ts'
import { anyOrigin } from '#core/visitors/web-origin.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import type { FieldProblem } from '#core/refusals.ts'
import { action, type Action } from '../../actions/action.ts'
import { publishable } from '../../credentials/credentials.ts'
import { toRefusedSend } from '../../wire/sending/refused-send.ts'
import { acceptance, sendInput, toSendOrder } from '../../wire/sending/send.ts'
import type { RestCore } from '../rest-core.ts'

const sendDeadlineSeconds = 120
/** Spec "Limits" 9. */
const maxPageBodyBytes = 65_536

/** Errors of every send operation. */
export const sendRefusals = [
  'not_found',
  'no_route',
  'quota_exhausted_captures',
  'quota_exhausted',
  'feature_disabled',
  'project_budget_exhausted',
  'conflict',
  'storage_full',
] as const

/** Additional errors of sends from browsers. Spec "Errors". */
const pageRefusals = [
  'invalid_key',
  'key_kind_mismatch',
  'origin_not_allowed',
  'recipient_not_allowed',
  'from_locked',
  'attachments_not_allowed',
  'rate_limit_exceeded',
  'captcha_required',
  'captcha_failed',
  'captcha_unavailable',
  'captcha_not_configured',
  'feature_unavailable',
] as const

const publishableKeys = publishable<RestCore>({
  prefix: publishablePrefix,
  authenticate: (key, { headers }, core) => core.publishable.keys.authenticate(key, headers.origin),
  limits: {
    maxBodyBytes: maxPageBodyBytes,
    admit: (principal, remoteAddress, core) => core.publishable.sends.admit(principal, remoteAddress),
    countRefused: (principal, remoteAddress, core) => core.publishable.sends.countRefused(principal, remoteAddress),
  },
  captchaHeader: 'X-Service-Captcha-Token',
  cors: { allowedOrigin: anyOrigin, requestHeaders: ['authorization', 'content-type', 'idempotency-key'] },
})

export const messageActions: readonly Action<RestCore>[] = [
  action({
    id: 'sendMessage',
    summary: 'Send a message',
    description:
      'Returns as soon as the message is stored and its outcome is decided; delivery continues asynchronously. If every ' +
      'recipient is suppressed, `status` is `suppressed` and nothing is sent. The header `Idempotency-Key` can replace the field ' +
      '`idempotency_key`. A repeated key returns the first response again with the header `Idempotent-Replayed: true` and sends ' +
      'nothing; if the body differs from the first one, `warnings` reports it. Browsers can call this operation with a ' +
      'publishable key. The body then has at most 65536 bytes and no attachments, headers, tags, metadata, destination_id or ' +
      'list_unsubscribe. The key must allow the origin of the page, every recipient in to, cc and bcc, and the sender. A key ' +
      'with a captcha requires the captcha token of the visitor in the header `X-Service-Captcha-Token`. `from` defaults to the ' +
      'sender of the key.',
    tags: ['messages'],
    scope: 'api:send',
    openToSendOnlyKeys: true,
    errors: [...sendRefusals, ...pageRefusals],
    input: sendInput,
    output: acceptance,
    examples: {
      input: { from: 'Shop <shop@example.ch>', to: 'ada@example.ch', subject: 'Your order', text: 'Thank you.' },
      output: { trace_id: '0b6ab9a4-6a0c-4b0f-9d6f-0d5f8f1c2a3b', outcome: 'relayed' },
    },
    http: {
      method: 'POST',
      path: '/v1/messages',
      from: { idempotency_key: { header: 'Idempotency-Key', orBody: true } },
      headers: {
        'Idempotent-Replayed': {
          description: '`true` if the idempotency key was used before and this is the original response.',
          of: ({ repeated }) => (repeated ? 'true' : undefined),
        },
      },
      maxBodyBytes: (core) => core.maxSendBodyBytes,
      maxBodySetting: 'POSTERN_HTTP_MAX_BODY_BYTES',
      credentials: [publishableKeys, 'bearer'],
      deadlineSeconds: sendDeadlineSeconds,
      alsoMissing: (body, principal, core) => missingSender(core, body, principal),
      onInvalid: (principal, body, refusal, core) => core.refusedSends.record(principal, toRefusedSend(body), refusal),
    },
    run({ core, principal, client: { origin, address, captchaToken } }, fields) {
      const order = toSendOrder(fields)
      if (principal.publishableToken === undefined) return core.sendMessages.send(principal, order)
      return core.publishable.sends.send(principal, order, { origin, remoteAddress: address, captchaToken })
    },
  }),
]

/**
 * Returns the problem of a missing sender; destinations and rules decide whether `from` is required. Publishable keys have a fixed sender.
 */
async function missingSender(
  core: RestCore,
  body: Readonly<Record<string, unknown>>,
  principal: Principal,
): Promise<readonly FieldProblem[]> {
  const text = (name: string): string | undefined => (typeof body[name] === 'string' ? body[name] : undefined)
  if (principal.publishableToken !== undefined || (body['from'] !== undefined && body['from'] !== null)) return []
  const order = { projectId: text('project_id'), destinationId: text('destination_id'), environment: text('environment') }
  return core.sendMessages.missingSender(principal, order)
}
