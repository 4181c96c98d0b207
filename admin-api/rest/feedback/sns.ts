/** Resources for receivers of webhooks in the SES format: the certificate of a signature, and the confirmation URL. */
import * as z from 'zod'
import { certificatePath, subscriptionPath } from '#core/webhooks/formats/subscription.ts'
import { media, raw } from '../../operation/answer.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import type { RestCore } from '../rest-core.ts'

const open = { method: 'GET', tags: ['webhooks'], scope: 'none', hiddenFromOpenApi: true, errors: ['not_found'] } as const
const text = z.string().max(200)

export const snsOperations: readonly Operation<RestCore>[] = [
  operation({
    ...open,
    path: certificatePath('{file}'),
    operationId: 'getWebhookCertificate',
    summary: 'Get the certificate that a webhook endpoint signs with',
    params: z.strictObject({ file: text }),
    response: media('application/x-pem-file'),
    handle: async ({ core, params: { file } }) => raw(await core.webhooks.certificate(file), { contentType: 'application/x-pem-file' }),
  }),
  operation({
    ...open,
    path: subscriptionPath,
    operationId: 'confirmWebhookSubscription',
    summary: 'Confirm a subscription, which changes nothing',
    query: z.strictObject({ Action: z.literal('ConfirmSubscription'), TopicArn: text, Token: text }),
    response: media('text/xml'),
    handle: ({ core, query }) => raw(core.webhooks.confirmed(query.TopicArn, query.Token), { contentType: 'text/xml' }),
  }),
]
