/** Messages in the format of Amazon SNS: fields sorted by name, signed with RSA and SHA-1 (signature version 1). */
import { sign } from 'node:crypto'
import { isoTime, type FormatEndpoint, type FormatRequest } from './format.ts'

type Content =
  | { readonly Type: 'Notification'; readonly Message: string; readonly Subject: string }
  | { readonly Type: 'SubscriptionConfirmation'; readonly Message: string; readonly SubscribeURL: string; readonly Token: string }

/** Signed fields, in this order; absent fields are skipped. */
const signedFields = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']

/** Returns a topic name for the endpoint in the form of an SNS ARN. */
export const topicOf = (endpointId: string): string => `arn:aws:sns:us-east-1:000000000000:${endpointId}`

export function snsMessage(content: Content, deliveryId: string, endpoint: FormatEndpoint): FormatRequest {
  const { id, at, privateKey, certificateUrl } = endpoint
  const fields: Readonly<Record<string, string>> = { ...content, MessageId: deliveryId, TopicArn: topicOf(id), Timestamp: isoTime(at) }
  const text = signedFields.flatMap((name) => (name in fields ? [`${name}\n${fields[name] ?? ''}\n`] : [])).join('')
  const signature = sign('sha1', Buffer.from(text), privateKey).toString('base64')
  return {
    body: JSON.stringify({ ...fields, SignatureVersion: '1', Signature: signature, SigningCertURL: certificateUrl }),
    headers: {
      'content-type': 'text/plain; charset=UTF-8',
      'x-amz-sns-message-type': content.Type,
      'x-amz-sns-message-id': deliveryId,
      'x-amz-sns-topic-arn': topicOf(id),
    },
  }
}
