/**
 * The handshake of SNS: a receiver is asked to confirm at an address, and most do so by themselves. Here the confirmation is answered and
 * changes nothing: who made the endpoint has asked for its events.
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

/** Where confirmations are answered, below the public address of the service. */
export const subscriptionPath = '/sns'
export const certificatePath = (file: string): string => `${subscriptionPath}/${file}`

/** The file is named as those of SNS are, which receivers look at. */
const fileOf = (certificateId: string): string => `SimpleNotificationService-${certificateId}.pem`
export const certificateIdOf = (file: string): string | undefined => /^SimpleNotificationService-([\da-f]{32})\.pem$/.exec(file)?.[1]

export const certificateUrl = (baseUrl: string, certificateId: string): string => `${baseUrl}${certificatePath(fileOf(certificateId))}`

const purpose = 'webhook-subscription.v1'
const tokenOf = (secrets: SecretBox, topic: string): string => secrets.mac(purpose, Buffer.from(topic)).toString('hex')

/** Adds the request to confirm to the write that makes the endpoint one of SNS, or moves it to another address. */
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

/** How a stored body that asks for confirmation is sent; undefined for any other. */
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

/** What a confirmation is answered with, in the XML of SNS; undefined when we have not asked for it. */
export function confirmed(secrets: SecretBox, topic: string, token: string): string | undefined {
  if (!/^arn:aws:sns:us-east-1:0{12}:whk_\w{1,60}$/.test(topic) || tokenOf(secrets, topic) !== token) return undefined
  const result = `<ConfirmSubscriptionResult><SubscriptionArn>${topic}:postern</SubscriptionArn></ConfirmSubscriptionResult>`
  return `<ConfirmSubscriptionResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/">${result}</ConfirmSubscriptionResponse>`
}
