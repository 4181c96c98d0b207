/** Short-lived links under which a stored message is shown without a session, and the images of others that such a view asks for. */
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
  /** Address of the pages for people, without a slash at the end. */
  readonly origin: string
}

/**
 * In an inbox by the id of its capture, by that of its trace (`inboxId` is then `ofTrace`), or mail that came in, by its id
 * (`inboxId` is then that of its inbound route).
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

/** How long a link works: at least so many milliseconds, and less than twice as many. */
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

  /** Stays the same for a while, so that what was loaded once is not loaded again. */
  token({ organizationId, inboxId, captureId }: ViewedMessage): string {
    const until = (Math.floor(this.#options.clock.now() / validMs) + 2) * validMs
    const facts = [organizationId, inboxId, captureId, until.toString(36)].join('.')
    return `${facts}.${this.#mac('message-view.v1', facts)}`
  }

  urlOf(message: ViewedMessage): string {
    return `${this.#options.origin}/view/${this.token(message)}`
  }

  /** Throws `not_found` alike for links that are made up and those whose time is over. */
  read(token: string): ViewedMessage {
    const at = token.lastIndexOf('.')
    const [organizationId = '', inboxId = '', captureId = '', until = ''] = token.slice(0, at).split('.')
    const isReal = this.#isMac('message-view.v1', token.slice(0, at), token.slice(at + 1))
    if (isReal && Number.parseInt(until, 36) > this.#options.clock.now()) return { organizationId, inboxId, captureId }
    throw new Refusal('not_found', 'This link to a message has expired; links are valid for about 15 minutes. Request a new one.')
  }

  /** What whoever holds a link may read: it names one message, and this principal reads nothing else. */
  principalOf({ organizationId }: ViewedMessage): Principal {
    return { organizationId, projectId: '', bound: false, scopes: ['api:read'], credentialId: 'view' }
  }

  /** The query under which a view fetches an image of its message; it cannot be made up for another address. */
  imageQuery({ captureId }: ViewedMessage, address: string): string {
    return new URLSearchParams({ u: address, s: this.#mac('message-view.image.v1', `${captureId} ${address}`) }).toString()
  }

  /** Throws `not_found` for what is not to be seen, and for what is no image, and `overloaded` while many are being fetched. */
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

/** Throws `not_found` for what is no image of a harmless format. */
export function shown(bytes: Uint8Array | undefined): ShownImage {
  const contentType = bytes && imageType(bytes)
  if (!contentType) throw noImage()
  return { contentType, bytes }
}

const noImage = (): Refusal => new Refusal('not_found', 'Image not found.')

/** The type of an image by its first bytes, whatever its sender says: only formats that cannot run; undefined for others, such as SVG. */
function imageType(bytes: Uint8Array): string | undefined {
  if (starts(bytes, 0, '\x89PNG\r\n\x1a\n')) return 'image/png'
  if (starts(bytes, 0, '\xff\xd8\xff')) return 'image/jpeg'
  if (starts(bytes, 0, 'GIF87a') || starts(bytes, 0, 'GIF89a')) return 'image/gif'
  if (starts(bytes, 0, 'RIFF') && starts(bytes, 8, 'WEBP')) return 'image/webp'
  return undefined
}

const starts = (bytes: Uint8Array, at: number, text: string): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.max(0, Math.min(text.length, bytes.length - at))).toString('latin1') === text
