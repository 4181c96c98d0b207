/**
 * The ledger of a crash test: acknowledgements to clients, messages with a 250 of the smart host, and the times of kills. Its audit knows
 * only the promises of the daemon.
 */
import type { Delivery } from '../support/smtp/sink-script.ts'
import { carriesText, isNotice, isWholeLetter, letterOf, markerOf, textOf, type Mark } from './letters.ts'

/** Outcome for the client. `refused` includes messages that were not sent completely. */
export type Status = 'open' | 'acked' | 'refused' | 'unknown'

/** Required end of a message: at the smart host, or in the inbox. */
export type Fate = 'relay' | 'capture'

export interface Entry extends Mark {
  readonly door: 'smtp' | 'rest'
  readonly fate: Fate
  readonly from: string
  readonly to: readonly string[]
  readonly key?: string
  status: Status
  traceId?: string
}

interface Copy {
  readonly entry: Entry
  readonly recipient: string
  readonly answeredAt: number
}

/** Returns true for recipients that the smart host always refuses. */
export const isRefusedForGood = (address: string): boolean => address.startsWith('refuse')

/** After a reply of the smart host, a kill within this time may cause a second copy. */
const windowMs = 3000
/** After a kill, the smart host may still reply to data of the killed daemon within this time. */
const afterlifeMs = 1000

export class Ledger {
  readonly entries = new Map<string, Entry>()
  readonly #problems: string[] = []
  readonly #others: string[] = []
  readonly #kills: number[] = []
  readonly #copies = new Map<string, Copy[]>()
  readonly #awaited = new Set<string>()
  readonly #postponed = new Set<Entry>()

  open(entry: Omit<Entry, 'status'>): Entry {
    const opened: Entry = { ...entry, status: 'open' }
    this.entries.set(entry.marker, opened)
    return opened
  }

  /** Records an acknowledgement. A second one for a repeated key must name the same trace. */
  acknowledge(entry: Entry, traceId: string | undefined): void {
    if (traceId === undefined) this.problem(`${entry.marker}: acknowledged without a trace id`)
    else if (entry.traceId !== undefined && entry.traceId !== traceId) this.problem(`${entry.marker}: the repeated key gave another trace`)
    else entry.traceId = traceId
    entry.status = 'acked'
    if (entry.fate === 'capture' || this.#postponed.has(entry)) return
    const owed = entry.to.filter((recipient) => !isRefusedForGood(recipient) && !this.#copies.has(copyKey(entry, recipient)))
    for (const recipient of owed) this.#awaited.add(copyKey(entry, recipient))
  }

  /** The smart host hung up without a reply. The daemon may wait long before a retry, which risks a second copy. */
  hungUpOn(content: Buffer): void {
    const entry = this.entries.get(markerOf(content) ?? '')
    if (!entry) return
    this.#postponed.add(entry)
    for (const recipient of entry.to) this.#awaited.delete(copyKey(entry, recipient))
  }

  /** Entries whose connection the smart host closed. */
  postponed(): readonly Entry[] {
    return [...this.#postponed]
  }

  /** Returns true if all accepting recipients have a copy. */
  isServed(entry: Entry): boolean {
    return entry.to.every((recipient) => isRefusedForGood(recipient) || this.#copies.has(copyKey(entry, recipient)))
  }

  /** Records a refusal or an unknown outcome. An acknowledged message keeps its status. */
  settle(entry: Entry, status: 'refused' | 'unknown'): void {
    if (entry.status === 'open') entry.status = status
    else if (entry.status === 'refused' && status === 'unknown') entry.status = status
  }

  killed(): void {
    this.#kills.push(performance.now())
  }

  /** Records a delivery and checks its content immediately. */
  delivered({ to, content, answeredAt }: Delivery): void {
    const entry = this.entries.get(markerOf(content) ?? '')
    if (!entry) {
      this.problem(`delivered, but never sent: ${content.toString('latin1', 0, 300)}`)
      return
    }
    if (isNotice(content)) return this.#noticed(entry, to)
    const whole =
      entry.door === 'smtp' ? isWholeLetter(content, letterOf(entry, entry.from, entry.to)) : carriesText(content, textOf(entry))
    if (!whole) this.problem(`${entry.marker}: delivered with other content (${String(content.length)} octets)`)
    for (const recipient of to) {
      const key = copyKey(entry, recipient)
      this.#copies.set(key, [...(this.#copies.get(key) ?? []), { entry, recipient, answeredAt }])
      this.#awaited.delete(key)
    }
  }

  /** A notice goes only to the author and lists only permanently refused recipients. */
  #noticed(entry: Entry, to: readonly string[]): void {
    if (to.join() !== entry.from) this.problem(`${entry.marker}: a notice for ${entry.from} went to ${to.join()}`)
    if (!entry.to.some(isRefusedForGood)) this.problem(`${entry.marker}: a notice about recipients that were not refused`)
  }

  get awaited(): number {
    return this.#awaited.size
  }

  /** Returns an acknowledged message that has not arrived yet. */
  oneAwaited(): Entry | undefined {
    const [first] = this.#awaited
    return first === undefined ? undefined : this.entries.get(first.slice(0, first.indexOf(' ')))
  }

  /** Records a lost, doubled or changed message, a wrong trace, or a problem that `verify` found. */
  problem(text: string): void {
    this.#problems.push(`ledger: ${text}`)
  }

  /** Records any other fault of the daemon. */
  fault(text: string): void {
    this.#others.push(text)
  }

  /** All faults of the daemon. Failed ledgers come first, because the report shows the first fault. */
  get faults(): readonly string[] {
    return [...this.#problems, ...this.#others]
  }

  acked(fate?: Fate): Entry[] {
    return [...this.entries.values()].filter((entry) => entry.status === 'acked' && (fate === undefined || entry.fate === fate))
  }

  count(status: Status): number {
    return [...this.entries.values()].filter((entry) => entry.status === status).length
  }

  /** Entries that reached a recipient more than once. */
  duplicated(): Entry[] {
    const twice = [...this.#copies.values()].filter((copies) => copies.length > 1)
    return [...new Set(twice.flatMap((copies) => copies.map(({ entry }) => entry)))]
  }

  /** Compares acknowledged messages with deliveries; differences are problems. */
  auditDeliveries(): void {
    for (const key of this.#awaited) this.problem(`${key}: acknowledged, never delivered`)
    for (const [key, copies] of this.#copies) this.#auditCopies(key, copies)
  }

  #auditCopies(key: string, copies: readonly Copy[]): void {
    const { entry, recipient } = copies[0] as Copy
    if (entry.status === 'refused') this.problem(`${key}: refused or never finished, yet delivered`)
    if (entry.fate === 'capture') this.problem(`${key}: meant for capture, yet delivered`)
    if (!entry.to.includes(recipient)) this.problem(`${key}: delivered to another recipient`)
    for (const { answeredAt } of copies.slice(0, -1)) {
      const excused = this.#kills.some((kill) => kill - answeredAt <= windowMs && answeredAt - kill <= afterlifeMs)
      if (!excused) this.problem(`${key}: delivered again although no kill came within ${String(windowMs)} ms of the answer`)
    }
  }
}

const copyKey = (entry: Entry, recipient: string): string => `${entry.marker} to ${recipient}`
