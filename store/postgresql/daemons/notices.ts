/** Notices between daemons through NOTIFY. They are collected while a notification is in transit, and split to fit its size. */

/** A notification has fewer than 8,000 octets. */
const maxPayload = 7000
/** More items of a topic are published as a gap. Daemons that receive a gap read the store. */
const maxItems = 5000

export interface Notice {
  readonly from: string
  readonly topic: string
  readonly items: readonly string[]
  /** Id of an answer that the sender expects after the arrival. */
  readonly answer?: string
}

/** Topic of a gap: the notice that replaces too many items. */
export const gapTopic = 'gap'

/** Items to publish, by topic. */
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

  /** Removes all items and returns them as payloads. */
  take(from: string): string[] {
    const payloads = [...this.#items].flatMap(([topic, items]) => payloadsOf({ from, topic, items: [...items] }))
    this.#items.clear()
    return payloads
  }
}

/** JSON in ASCII. A notification is text in the encoding of the database, which may lack characters. */
export const toPayload = (notice: unknown): string =>
  JSON.stringify(notice).replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Splits a notice into payloads that fit a notification. */
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

/** Returns undefined for a payload that is not a notice of a daemon. */
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
