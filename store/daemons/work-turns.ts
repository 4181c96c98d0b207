/**
 * Decides which shared works this daemon does. It starts a work after it took the lease, and returns the lease after the work has stopped.
 */
import type { SharedWork } from './daemons.ts'

/** Storage of leases. */
export interface LeaseTable {
  /** Takes free leases and returns the names of all leases that this daemon now holds. */
  take(names: readonly string[]): Promise<readonly string[]>
  giveBack(name: string): Promise<void>
}

interface Turn {
  readonly work: SharedWork
  /** Number of looks that found the lease free. */
  free: number
  isHeld: boolean
  /** A start or a stop in progress. */
  changing: Promise<void> | undefined
  /** Start of the move to another daemon. */
  leavingSince: number | undefined
  /** The work does not move before this time, because its last stop took too long. */
  staysUntil: number
}

/** After this number of looks, any daemon takes a work that its preferred daemon does not take. */
const maxFreeLooks = 3
/** A work that has not stopped within this time, in milliseconds, continues here and moves later. No item waits for the move. */
const leaveMs = 4000
const stayMs = 30_000

export class WorkTurns {
  readonly #self: string
  readonly #leases: LeaseTable
  readonly #onError: (error: unknown) => void
  readonly #now: () => number
  readonly #turns = new Map<string, Turn>()
  /** Keys are the names that writes use to schedule items. */
  readonly #doers = new Map<string, Turn>()

  /** `onError` receives errors of works that could not start or stop, and of leases that could not be returned. */
  constructor(self: string, leases: LeaseTable, onError: (error: unknown) => void, now = (): number => performance.now()) {
    this.#now = now
    this.#self = self
    this.#leases = leases
    this.#onError = onError
  }

  add(work: SharedWork): void {
    const turn = { work, free: 0, isHeld: false, changing: undefined, leavingSince: undefined, staysUntil: -Infinity }
    this.#turns.set(work.name, turn)
    for (const scheduled of work.does ?? []) this.#doers.set(scheduled, turn)
  }

  placeOf(scheduled: string): 'here' | 'elsewhere' | 'everywhere' {
    const turn = this.#doers.get(scheduled)
    if (!turn) return 'everywhere'
    return turn.isHeld ? 'here' : 'elsewhere'
  }

  /** Makes works of this daemon look for new items; without names, all works. */
  wake(names: readonly string[] = [...this.#turns.keys()]): void {
    for (const name of names) {
      const turn = this.#turns.get(name)
      if (turn?.isHeld) turn.work.look?.()
    }
  }

  holds(name: string): boolean {
    return this.#turns.get(name)?.isHeld ?? false
  }

  /** Takes leases that belong to this daemon, and returns leases that belong to others. `holders`: the current holder of each lease. */
  async look(holders: ReadonlyMap<string, string>, daemons: readonly string[]): Promise<void> {
    const wanted: string[] = []
    for (const [name, turn] of this.#turns) {
      const holder = holders.get(name)
      const isOurs = chosen(name, daemons) === this.#self
      turn.free = holder === undefined ? turn.free + 1 : 0
      if (holder === undefined && !turn.changing && (isOurs || turn.free > maxFreeLooks)) wanted.push(name)
      if (holder === this.#self && !turn.isHeld && !turn.changing)
        this.#begin(turn) // the response to taking the lease was lost
      else if (turn.isHeld && !turn.changing && turn.work.moves && !isOurs && this.#now() >= turn.staysUntil) {
        turn.leavingSince = this.#now()
        this.#release(turn)
      } else if (turn.leavingSince !== undefined && this.#now() - turn.leavingSince > leaveMs) this.#takeBack(turn)
    }
    if (wanted.length === 0) return
    for (const name of await this.#leases.take(wanted)) {
      const turn = this.#turns.get(name)
      if (turn && chosen(name, daemons) !== this.#self) turn.staysUntil = this.#now() + leaveMs // its preferred daemon may be starting
      if (turn) this.#begin(turn)
      else await this.#leases.giveBack(name) // `leave` was called in the meantime
    }
  }

  /** Stops the work if this daemon does it, and does not take it again. */
  async leave(name: string): Promise<void> {
    const turn = this.#turns.get(name)
    if (!turn) return
    await turn.changing
    this.#turns.delete(name)
    if (turn.isHeld) this.#release(turn)
    else await turn.work.stop() // resources that exist without a start
    await turn.changing
  }

  #begin(turn: Turn): void {
    turn.isHeld = true
    this.#change(turn, async () => turn.work.start())
  }

  #release(turn: Turn): void {
    turn.isHeld = false
    const { leavingSince } = turn
    this.#change(turn, async () => {
      await turn.work.stop()
      if (turn.leavingSince !== leavingSince) return // it continues here
      turn.leavingSince = undefined
      await this.#leases.giveBack(turn.work.name)
    })
  }

  #takeBack(turn: Turn): void {
    turn.leavingSince = undefined
    turn.staysUntil = this.#now() + stayMs
    this.#begin(turn)
  }

  /** Starts synchronously, so that callers in the same tick see a consistent state. */
  #change(turn: Turn, change: () => Promise<void>): void {
    const changing = change()
      .catch(this.#onError)
      .finally(() => {
        if (turn.changing === changing) turn.changing = undefined
      })
    turn.changing = changing
  }
}

/** Returns the preferred daemon of a work. It changes only when daemons come or go (rendezvous hashing). */
function chosen(name: string, daemons: readonly string[]): string | undefined {
  let best: string | undefined
  let most = -1
  for (const daemon of daemons) {
    const weight = weightOf(`${name} ${daemon}`)
    if (weight > most || (weight === most && best !== undefined && daemon < best)) [best, most] = [daemon, weight]
  }
  return best
}

/** FNV-1a with a final mixing step, because the names differ little. */
function weightOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d)
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b)
  return (hash ^ (hash >>> 16)) >>> 0
}
