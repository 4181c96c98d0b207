/** A request with every supported field of a service and with some unsupported fields. */

export interface FullRequest {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** Files of a form by name; a request without files is JSON. */
  readonly files?: Readonly<Record<string, string>>
  /** Fields without effect, as in the trace. */
  readonly ignored: readonly string[]
}

export const [ada, bob, eva, shop, help] = ['ada@example.net', 'bob@example.net', 'eva@example.net', 'shop@example.ch', 'help@example.ch']
/** An hour after the start of the fake clock. */
export const later = '2030-01-15T13:00:00.000Z'
export const laterSeconds = Date.parse(later) / 1000
/** With a link for click tracking. */
export const html = '<p><a href="https://shop.example/">Hi</a></p>'
export const file = Buffer.from('file').toString('base64')

/** Header fields of a whole mail object. `Content-Type` is omitted, since one client copies the fields to its own request. */
export const wholeHeader = {
  'X-Order': '4711',
  'MIME-Version': '1.0',
  'Content-Transfer-Encoding': '8bit',
  'Message-ID': '<own.1@mail.example.ch>',
} as const
