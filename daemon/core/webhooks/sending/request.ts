/** Builds the body and the header fields of one attempt: endpoint format, signature of this attempt, and custom header fields. */
import type { SealedSecret } from '../../access/secret-box.ts'
import type { Core } from '../../core.ts'
import type { DeliveryType } from '../delivery.ts'
import { headersContext, signingContext, type WebhookEndpoint } from '../endpoint.ts'
import { openedUrl } from '../endpoints/target-url.ts'
import type { MessageFacts } from '../formats/format.ts'
import { certificateUrl } from '../formats/subscription.ts'
import { written } from '../formats/written.ts'
import { signatureHeaders } from './signature.ts'

/** The content to send. Some formats need facts of the message that the event does not contain. */
export interface SentDelivery {
  readonly deliveryId: string
  readonly eventType: DeliveryType
  /** In the native format. */
  readonly body: string
  readonly message?: MessageFacts | undefined
}

interface RequestOptions extends Pick<Core, 'secrets'> {
  readonly baseUrl: string
}

export interface DeliveryRequest {
  readonly url: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** Sends the stored body, or its translation by the format of the endpoint, signed with the secret. */
export interface SignedTarget {
  /** The stored URL; see `openedUrl`. */
  readonly targetUrl: string
  readonly sealedSecret: SealedSecret
  /** See `SecretBox.seal`. */
  readonly secretContext: string
  /** The endpoint of an event webhook: format, keys and header fields. */
  readonly endpoint?: WebhookEndpoint
}

/** Writes its own request from the stored body. */
export interface WritingTarget {
  /** Returns undefined if a secret of the target cannot be decrypted. `at` is the start of the attempt. */
  readonly write: (delivery: SentDelivery, at: number) => DeliveryRequest | undefined
  /** The URL in displayed texts, without secrets. */
  readonly shownUrl: string
}

/** How requests to a target are written, and what is stored about the responses. */
export type RequestTarget = (SignedTarget | WritingTarget) & {
  /** Removes URLs, tokens and secrets of the target from errors and responses before they are stored, logged or returned. */
  readonly redact?: (text: string) => string
  /** Reads from a response that failed how long the receiver wants no request, in milliseconds. */
  readonly retryAfterMs?: (answer: string) => number | undefined
}

/** Builds the request. Returns undefined if a secret of the target cannot be decrypted. */
export function requestOf(options: RequestOptions, target: RequestTarget, delivery: SentDelivery, at: number): DeliveryRequest | undefined {
  if ('write' in target) return target.write(delivery, at)
  const { secrets } = options
  const { endpoint } = target
  const secret = secrets.open(target.sealedSecret, target.secretContext)
  const url = openedUrl(secrets, target.targetUrl, target.secretContext)
  const given = endpoint?.headers ? secrets.open(endpoint.headers.sealed, headersContext(endpoint.id)) : '{}'
  const format = endpoint?.format
  const inFormat = endpoint && format !== undefined && format !== 'native'
  const privateKey = inFormat && endpoint.signing ? secrets.open(endpoint.signing.sealedKey, signingContext(endpoint.id)) : ''
  if (secret === undefined || url === undefined || given === undefined || privateKey === undefined) return undefined
  const own = JSON.parse(given) as Readonly<Record<string, string>>
  const { deliveryId } = delivery
  const signed = (body: string): Readonly<Record<string, string>> => signatureHeaders(secret, { deliveryId, at, body: Buffer.from(body) })
  if (!inFormat) return { url, body: delivery.body, headers: { ...own, ...signed(delivery.body) } }
  const { baseUrl } = options
  const urls = {
    ...{ url, baseUrl },
    certificateUrl: certificateUrl(baseUrl, endpoint.signing?.certificateId ?? ''),
    publicHost: new URL(baseUrl).hostname,
  }
  const { body, headers } = written(format, delivery, { id: endpoint.id, secret, privateKey, ...urls, at })
  return { url, body, headers: { ...own, ...signed(body), ...headers } }
}
