/** Recent attempts by actor: in the memory of a single daemon, or shared by all daemons of a store. */
import type { Daemons } from '#store/daemons/daemons.ts'
import type { SharedTries, Tried, TryWindow } from '#store/daemons/tries.ts'
import type { Clock } from '../clock.ts'
import { RecentTries } from './recent-tries.ts'

export interface TryOptions {
  readonly clock: Clock
  readonly database: { readonly daemons: Pick<Daemons, 'tries'> }
}

export class Tries {
  readonly #clock: Clock
  readonly #name: string
  readonly #window: TryWindow
  readonly #shared: SharedTries | undefined
  readonly #recent: RecentTries

  /** `name` identifies the kind of attempt; unique, and the same at all daemons. */
  constructor({ clock, database }: TryOptions, name: string, window: TryWindow) {
    this.#clock = clock
    this.#name = name
    this.#window = window
    this.#shared = database.daemons.tries
    this.#recent = new RecentTries(clock, window.windowMs)
  }

  /** Counts an attempt if the window has room, or if `always` is set. Returns the previous state. */
  async add(key: string, { always = false } = {}): Promise<Tried> {
    if (this.#shared) return this.#shared.add(this.#nameOf(key), this.#window, always)
    const before = this.#look(key)
    if (always || before.tries < this.#window.most) this.#recent.add(key, this.#window.most)
    return before
  }

  async look(key: string): Promise<Tried> {
    return this.#shared ? this.#shared.look(this.#nameOf(key), this.#window) : this.#look(key)
  }

  async clear(key: string): Promise<void> {
    if (this.#shared) await this.#shared.clear(this.#nameOf(key))
    else this.#recent.clear(key)
  }

  #nameOf(key: string): string {
    return `${this.#name} ${key}`
  }

  #look(key: string): Tried {
    const recent = this.#recent.of(key)
    const [oldest] = recent
    return { tries: recent.length, waitMs: oldest === undefined ? 0 : oldest + this.#window.windowMs - this.#clock.monotonic() }
  }
}
