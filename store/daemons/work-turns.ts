/** Which of the works that daemons share are done here: begun when a lease was taken, and given back after they ended. */
import type { SharedWork } from './daemons.ts'

/** How leases are kept, whatever keeps them. */
export interface LeaseTable {
  /** Takes those that are free; returns which are this daemon's now. */
  take(names: readonly string[]): Promise<readonly string[]>
  giveBack(name: string): Promise<void>
}

interface Turn {
  readonly work: SharedWork
  /** For so many looks the lease has been free. */
  free: number
  isHeld: boolean
  /** What is under way: its start or its end. */
  changing: Promise<void> | undefined
  /** Since when it is on its way to another daemon, and ends here. */
  leavingSince: number | undefined
  /** Until then it stays, as it took too long to end. */
  staysUntil: number
}

/** A work that the daemon that should have it does not take is taken by any other after so many looks. */
const maxFreeLooks = 3
/** What has not ended here within so long, in milliseconds, goes on here, and is to move again later, so that nothing waits for it. */
const leaveMs = 4000
const stayMs = 30_000

export class WorkTurns {
  readonly #self: string
  readonly #leases: LeaseTable
  readonly #onError: (error: unknown) => void
  readonly #now: () => number
  readonly #turns = new Map<string, Turn>()
  /** By what writes schedule. */
  readonly #doers = new Map<string, Turn>()

  /** `onError` is notified of works that could not start or stop, and of leases that could not be given back. */
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

  /** Has works that are done here look for what there is to do; all of them where no names are given. */
  wake(names: readonly string[] = [...this.#turns.keys()]): void {
    for (const name of names) {
      const turn = this.#turns.get(name)
      if (turn?.isHeld) turn.work.look?.()
    }
  }

  holds(name: string): boolean {
    return this.#turns.get(name)?.isHeld ?? false
  }

  /** Takes what is this daemon's turn, and gives back what is another's. `holders`: who has which lease. */
  async look(holders: ReadonlyMap<string, string>, daemons: readonly string[]): Promise<void> {
    const wanted: string[] = []
    for (const [name, turn] of this.#turns) {
      const holder = holders.get(name)
      const isOurs = chosen(name, daemons) === this.#self
      turn.free = holder === undefined ? turn.free + 1 : 0
      if (holder === undefined && !turn.changing && (isOurs || turn.free > maxFreeLooks)) wanted.push(name)
      if (holder === this.#self && !turn.isHeld && !turn.changing)
        this.#begin(turn) // the answer to its taking was lost
      else if (turn.isHeld && !turn.changing && turn.work.moves && !isOurs && this.#now() >= turn.staysUntil) {
        turn.leavingSince = this.#now()
        this.#release(turn)
      } else if (turn.leavingSince !== undefined && this.#now() - turn.leavingSince > leaveMs) this.#takeBack(turn)
    }
    if (wanted.length === 0) return
    for (const name of await this.#leases.take(wanted)) {
      const turn = this.#turns.get(name)
      if (turn && chosen(name, daemons) !== this.#self) turn.staysUntil = this.#now() + leaveMs // whose turn it is may still be starting
      if (turn) this.#begin(turn)
      else await this.#leases.giveBack(name) // it was left meanwhile
    }
  }

  /** Ends the work where it is done here, and takes it no more. */
  async leave(name: string): Promise<void> {
    const turn = this.#turns.get(name)
    if (!turn) return
    await turn.changing
    this.#turns.delete(name)
    if (turn.isHeld) this.#release(turn)
    else await turn.work.stop() // what it has made without being started
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
      if (turn.leavingSince !== leavingSince) return // it was taken back
      turn.leavingSince = undefined
      await this.#leases.giveBack(turn.work.name)
    })
  }

  #takeBack(turn: Turn): void {
    turn.leavingSince = undefined
    turn.staysUntil = this.#now() + stayMs
    this.#begin(turn)
  }

  /** Begins at once: who asks in the same moment whether the work is done here, and what of it, gets one answer. */
  #change(turn: Turn, change: () => Promise<void>): void {
    const changing = change()
      .catch(this.#onError)
      .finally(() => {
        if (turn.changing === changing) turn.changing = undefined
      })
    turn.changing = changing
  }
}

/** The daemon that should do a work: another one than before only where daemons came or went (rendezvous hashing). */
function chosen(name: string, daemons: readonly string[]): string | undefined {
  let best: string | undefined
  let most = -1
  for (const daemon of daemons) {
    const weight = weightOf(`${name} ${daemon}`)
    if (weight > most || (weight === most && best !== undefined && daemon < best)) [best, most] = [daemon, weight]
  }
  return best
}

/** FNV-1a with a last mixing, as the names differ little. */
function weightOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d)
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b)
  return (hash ^ (hash >>> 16)) >>> 0
}
