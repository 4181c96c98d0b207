/** What daemons publish by NOTIFY: collected while a notification is on its way, and split so that each fits. */

/** A notification takes fewer than 8,000 octets. */
const maxPayload = 7000
/** More of one topic than this is published as a gap: whoever is notified of it looks into the store. */
const maxItems = 5000

export interface Notice {
  readonly from: string
  readonly topic: string
  readonly items: readonly string[]
  /** The sender wants to be notified when this has arrived. */
  readonly answer?: string
}

/** Stands for what is too much to be published. */
export const gapTopic = 'gap'

/** What is to be published, by topic. */
export class Outgoing {
  readonly #items = new Map<string, Set<string>>()

  get isEmpty(): boolean {
    return this.#items.size === 0
  }

  add(topic: string, items: Iterable<string>): void {
    const known = this.#items.get(topic) ?? new Set()
    for (const item of items) known.add(item)
    if (known.size > maxItems) {
      this.#items.clear()
      this.#items.set(gapTopic, new Set())
    } else this.#items.set(topic, known)
  }

  /** Takes all of it, as payloads. */
  take(from: string): string[] {
    const payloads = [...this.#items].flatMap(([topic, items]) => payloadsOf({ from, topic, items: [...items] }))
    this.#items.clear()
    return payloads
  }
}

/** JSON in ASCII, as a notification is text in the encoding of the database, which may lack characters. */
export const toPayload = (notice: unknown): string =>
  JSON.stringify(notice).replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** One notice as notifications that fit. */
export function payloadsOf({ items, ...notice }: Notice): string[] {
  const parts: string[][] = [[]]
  let size = 0
  for (const item of items) {
    const length = toPayload(item).length + 1
    if (size + length > maxPayload - 200 && size > 0) {
      parts.push([])
      size = 0
    }
    parts.at(-1)?.push(item)
    size += length
  }
  return parts.map((part) => toPayload({ ...notice, items: part }))
}

/** Undefined for what no daemon has published. */
export function noticeOf(payload: string): Notice | undefined {
  try {
    const notice = JSON.parse(payload) as Partial<Notice>
    return typeof notice.from === 'string' && typeof notice.topic === 'string' && Array.isArray(notice.items)
      ? (notice as Notice)
      : undefined
  } catch {
    return undefined
  }
}
