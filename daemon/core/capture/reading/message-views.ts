/** Short-lived links that show a stored message without a session, and the remote images of such a view. */
import { timingSafeEqual } from 'node:crypto'
import type { Principal } from '../../access/principal/principal.ts'
import type { SecretBox } from '../../access/secret-box.ts'
import type { Clock } from '../../clock.ts'
import type { GetBytes } from '../../outbound/get-bytes.ts'
import { Refusal } from '../../refusals.ts'

export interface MessageViewOptions {
  readonly secrets: SecretBox
  readonly clock: Clock
  readonly get: GetBytes
  /** Address of the pages for people, without a trailing slash. */
  readonly origin: string
}

/**
 * A message in an inbox by its capture id, by its trace id (`inboxId` is `ofTrace`), or received mail by its id (`inboxId` is its inbound
 * route).
 */
export interface ViewedMessage {
  readonly organizationId: string
  readonly inboxId: string
  readonly captureId: string
}

export const ofTrace = 'trace'
export const isOfRoute = (inboxId: string): boolean => inboxId.startsWith('inr_')

export interface ShownImage {
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** A link is valid for at least this time, and less than twice as long. */
const validMs = 15 * 60_000
const imageLimits = { deadlineMs: 10_000, maxBytes: 5 * 1024 * 1024 }
const maxFetches = 32
const maxFetchesOfOrganization = 12
const maxAddress = 4096
const macBytes = 16

export class MessageViews {
  readonly #options: MessageViewOptions
  readonly #fetchesOf = new Map<string, number>()
  #fetches = 0

  constructor(options: MessageViewOptions) {
    this.#options = options
  }

  get origin(): string {
    return this.#options.origin
  }

  /** Returns a token that stays the same for some minutes, so that browsers can cache images. */
  token({ organizationId, inboxId, captureId }: ViewedMessage): string {
    const until = (Math.floor(this.#options.clock.now() / validMs) + 2) * validMs
    const facts = [organizationId, inboxId, captureId, until.toString(36)].join('.')
    return `${facts}.${this.#mac('message-view.v1', facts)}`
  }

  urlOf(message: ViewedMessage): string {
    return `${this.#options.origin}/view/${this.token(message)}`
  }

  /** Throws `not_found` for invalid and expired links. */
  read(token: string): ViewedMessage {
    const at = token.lastIndexOf('.')
    const [organizationId = '', inboxId = '', captureId = '', until = ''] = token.slice(0, at).split('.')
    const isReal = this.#isMac('message-view.v1', token.slice(0, at), token.slice(at + 1))
    if (isReal && Number.parseInt(until, 36) > this.#options.clock.now()) return { organizationId, inboxId, captureId }
    throw new Refusal('not_found', 'This link to a message has expired; links are valid for about 15 minutes. Request a new one.')
  }

  /** Returns a principal for one message; links must not grant access to anything else. */
  principalOf({ organizationId }: ViewedMessage): Principal {
    return { organizationId, projectId: '', bound: false, scopes: ['api:read'], credentialId: 'view' }
  }

  /** Returns the query for an image of the message. It is authenticated, so it cannot be forged for another address. */
  imageQuery({ captureId }: ViewedMessage, address: string): string {
    return new URLSearchParams({ u: address, s: this.#mac('message-view.image.v1', `${captureId} ${address}`) }).toString()
  }

  /** Fetches an image. Throws `not_found` for an invalid query or content, and `overloaded` while too many images are being fetched. */
  async image({ organizationId, captureId }: ViewedMessage, address: string, mac: string, signal: AbortSignal): Promise<ShownImage> {
    const isAsked = address.length <= maxAddress && this.#isMac('message-view.image.v1', `${captureId} ${address}`, mac)
    if (!isAsked || !/^https?:\/\//.test(address)) throw noImage()
    if (this.#fetches >= maxFetches || (this.#fetchesOf.get(organizationId) ?? 0) >= maxFetchesOfOrganization)
      throw new Refusal('overloaded', 'Too many images are being loaded; try again.', { retryAfterSeconds: 2 })
    this.#count(organizationId, 1)
    try {
      return shown(await this.#options.get(address, imageLimits, signal))
    } finally {
      this.#count(organizationId, -1)
    }
  }

  #count(organizationId: string, by: 1 | -1): void {
    this.#fetches += by
    const fetches = (this.#fetchesOf.get(organizationId) ?? 0) + by
    if (fetches > 0) this.#fetchesOf.set(organizationId, fetches)
    else this.#fetchesOf.delete(organizationId)
  }

  #mac(purpose: string, data: string): string {
    return this.#options.secrets.mac(purpose, Buffer.from(data)).subarray(0, macBytes).toString('base64url')
  }

  #isMac(purpose: string, data: string, given: string): boolean {
    const wanted = Buffer.from(this.#mac(purpose, data))
    const got = Buffer.from(given)
    return got.length === wanted.length && timingSafeEqual(got, wanted)
  }
}

/** Throws `not_found` unless the content is a PNG, JPEG, GIF or WebP image. */
export function shown(bytes: Uint8Array | undefined): ShownImage {
  const contentType = bytes && imageType(bytes)
  if (!contentType) throw noImage()
  return { contentType, bytes }
}

const noImage = (): Refusal => new Refusal('not_found', 'Image not found.')

/**
 * Returns the image type by its first bytes, ignoring the declared type. Only formats that cannot contain scripts; undefined for others,
 * such as SVG.
 */
function imageType(bytes: Uint8Array): string | undefined {
  if (starts(bytes, 0, '\x89PNG\r\n\x1a\n')) return 'image/png'
  if (starts(bytes, 0, '\xff\xd8\xff')) return 'image/jpeg'
  if (starts(bytes, 0, 'GIF87a') || starts(bytes, 0, 'GIF89a')) return 'image/gif'
  if (starts(bytes, 0, 'RIFF') && starts(bytes, 8, 'WEBP')) return 'image/webp'
  return undefined
}

const starts = (bytes: Uint8Array, at: number, text: string): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.max(0, Math.min(text.length, bytes.length - at))).toString('latin1') === text
