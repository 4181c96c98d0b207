/**
 * Send paths of other products that are not served here. A request to one of them gets an error that names the send path of this service.
 */
import { Refusal } from '#core/refusals.ts'

const sendPaths: readonly (readonly [product: string, ...paths: string[]])[] = [
  ['SendGrid', '/mail/send'],
  ['Mailjet', '/v3/send'],
  ['Mandrill', '/api/1.0/messages/send', '/api/1.0/messages/send.json', '/api/1.0/messages/send-template'],
  ['Mailtrap', '/api/send', '/api/send/{inbox}'],
  ['Elastic Email', '/v4/emails', '/v4/emails/transactional', '/v2/email/send'],
  ['SMTP2GO', '/v3/email/send'],
  ['ZeptoMail', '/v1.1/email'],
  ['Postal', '/api/v1/send/message', '/api/v1/send/raw'],
  ['Loops', '/api/v1/transactional'],
  ['Plunk', '/v1/send', '/api/v1/send'],
  ['another product', '/v1/emails', '/v1/emails/batch', '/api/emails', '/api/v1/emails', '/api/messages', '/api/v1/messages'],
  ['another product', '/send', '/v1/message', '/v1/messages/send', '/v1/mail/send', '/v1/send-email', '/send-email'],
]

/** All foreign paths in the notation of operations, with their refusals. */
export const foreignPaths: ReadonlyMap<string, () => Refusal> = new Map(
  sendPaths.flatMap(([product, ...paths]) => paths.map((path) => [path, () => refusalOf(product, path)] as const)),
)

const refusalOf = (product: string, path: string): Refusal =>
  new Refusal('not_found', `${path} is the address of ${product}; here POST /v1/messages sends a message. /openapi.json has its fields.`, {
    nextAction: 'use_send_operation',
    details: { send: { method: 'POST', path: '/v1/messages' }, openapi: '/openapi.json' },
  })
