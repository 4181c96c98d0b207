/** A request with every field of a service that has a counterpart here, and with some that have none. */

export interface FullRequest {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** Files of a form, as name and content; a request without this is JSON. */
  readonly files?: Readonly<Record<string, string>>
  /** The fields without effect, as the trace names them. */
  readonly ignored: readonly string[]
}

export const [ada, bob, eva, shop, help] = ['ada@example.net', 'bob@example.net', 'eva@example.net', 'shop@example.ch', 'help@example.ch']
/** An hour after the start of the fake clock. */
export const later = '2030-01-15T13:00:00.000Z'
export const laterSeconds = Date.parse(later) / 1000
/** With a link for the tracking of clicks. */
export const html = '<p><a href="https://shop.example/">Hi</a></p>'
export const file = Buffer.from('file').toString('base64')

/** Header fields of a whole mail object; `Content-Type` is left out, as one client repeats the fields in its own request. */
export const wholeHeader = {
  'X-Order': '4711',
  'MIME-Version': '1.0',
  'Content-Transfer-Encoding': '8bit',
  'Message-ID': '<own.1@mail.example.ch>',
} as const
