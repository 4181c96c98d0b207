/**
 * The SNS subscription handshake. The receiver gets a confirmation URL and usually requests it automatically. The confirmation changes
 * nothing here, because the creation of the endpoint already is the subscription.
 */
import * as z from 'zod'
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { SecretBox } from '../../access/secret-box.ts'
import type { WebhookEndpoint } from '../endpoint.ts'
import { addDelivery } from '../events/add-delivery.ts'
import type { FormatEndpoint, FormatRequest } from './format.ts'
import { snsMessage, topicOf } from './sns-message.ts'

const type = 'subscription_confirmation'
const stored = z.object({ type: z.literal(type), token: z.string() })

/** Path of confirmations below the public address of the service. */
export const subscriptionPath = '/sns'
export const certificatePath = (file: string): string => `${subscriptionPath}/${file}`

/** Receivers check the file name, so it has the form of SNS certificate names. */
const fileOf = (certificateId: string): string => `SimpleNotificationService-${certificateId}.pem`
export const certificateIdOf = (file: string): string | undefined => /^SimpleNotificationService-([\da-f]{32})\.pem$/.exec(file)?.[1]

export const certificateUrl = (baseUrl: string, certificateId: string): string => `${baseUrl}${certificatePath(fileOf(certificateId))}`

const purpose = 'webhook-subscription.v1'
const tokenOf = (secrets: SecretBox, topic: string): string => secrets.mac(purpose, Buffer.from(topic)).toString('hex')

/** Adds a confirmation request to the write that sets the SES format or changes the address of such an endpoint. */
export function announceSubscription(
  database: Database,
  change: Change,
  secrets: SecretBox,
  organizationId: string,
  { id: endpointId, projectId, updatedAt: at }: WebhookEndpoint,
): void {
  const eventId = database.newId('evt', at)
  const body = JSON.stringify({ id: eventId, type, created_at: new Date(at).toISOString(), token: tokenOf(secrets, topicOf(endpointId)) })
  addDelivery(database, change, organizationId, { eventId, eventType: type, endpointId, projectId, traceId: null, body, at })
}

/** Returns a function that writes a stored confirmation request. Returns undefined for other bodies. */
export function confirmationOf(body: string): ((deliveryId: string, endpoint: FormatEndpoint) => FormatRequest) | undefined {
  const parsed = stored.safeParse(JSON.parse(body))
  if (!parsed.success) return undefined
  const { token } = parsed.data
  return (deliveryId, endpoint) => {
    const topic = topicOf(endpoint.id)
    const query = new URLSearchParams({ Action: 'ConfirmSubscription', TopicArn: topic, Token: token })
    const url = `${endpoint.baseUrl}${subscriptionPath}?${query.toString()}`
    const text = `You have chosen to subscribe to the topic ${topic}.\nTo confirm the subscription, visit the SubscribeURL included in this message.`
    return snsMessage({ Type: 'SubscriptionConfirmation', Message: text, SubscribeURL: url, Token: token }, deliveryId, endpoint)
  }
}

/** Returns the response to a confirmation, in the XML of SNS. Returns undefined for an unknown topic or token. */
export function confirmed(secrets: SecretBox, topic: string, token: string): string | undefined {
  if (!/^arn:aws:sns:us-east-1:0{12}:whk_\w{1,60}$/.test(topic) || tokenOf(secrets, topic) !== token) return undefined
  const result = `<ConfirmSubscriptionResult><SubscriptionArn>${topic}:postern</SubscriptionArn></ConfirmSubscriptionResult>`
  return `<ConfirmSubscriptionResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/">${result}</ConfirmSubscriptionResponse>`
}
