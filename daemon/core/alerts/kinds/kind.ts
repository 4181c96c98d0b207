/** Interface of a kind of channel: it writes the request of one alert for its receiver. */
import type { AlertEvent } from './alert-event.ts'

/** Everything that the request depends on. */
export interface AlertToWrite {
  readonly event: AlertEvent
  readonly language: string
  /** The stored event as text, which webhooks get unchanged. */
  readonly body: string
  readonly deliveryId: string
  /** Start of the attempt, in milliseconds since the epoch. */
  readonly at: number
}

export interface AlertRequest {
  readonly url: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

export type WriteAlert<Target> = (alert: AlertToWrite, target: Target) => AlertRequest

/** Returns a request with a JSON body. */
export const jsonRequest = (url: string, body: object, headers: AlertRequest['headers'] = {}): AlertRequest => ({
  ...{ url, body: JSON.stringify(body), headers },
})

/** A channel whose URL is its only secret. */
export interface UrlTarget {
  readonly url: string
}
