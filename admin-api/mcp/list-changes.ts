/**
 * Tells clients that listen when the list of tools is another one for them: flags, plan, role and scopes are looked at every few
 * seconds, which are reads of what is kept in memory. Only the era from 2026-07-28 on can carry it; older clients list again.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerEventBus } from '@modelcontextprotocol/server'
import type { Clock, Timer } from '#core/clock.ts'
import { Refusal } from '#core/refusals.ts'
import type { Caller } from './tools/tool-calls.ts'

export interface ListChangesOptions {
  readonly clock: Clock
  /** The names of the tools that the caller is shown. */
  readonly listedFor: (caller: Caller) => Promise<readonly string[]>
  readonly onError: (error: unknown) => void
}

const lookMs = 5000

type Listener = Parameters<ServerEventBus['subscribe']>[0]

export class ListChanges {
  readonly #options: ListChangesOptions
  readonly #callers = new AsyncLocalStorage<Caller>()
  /** Each who listens, for as long as its connection; what it hears is its own. */
  readonly bus: ServerEventBus = {
    publish: () => {},
    subscribe: (listener) => this.#watch(this.#callers.getStore(), listener),
  }

  constructor(options: ListChangesOptions) {
    this.#options = options
  }

  /** Whoever subscribes within is this caller. */
  of<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    return this.#callers.run(caller, work)
  }

  #watch(caller: Caller | undefined, listener: Listener): () => void {
    if (!caller) return () => {}
    const { clock, onError } = this.#options
    let [known, isOver]: [string | undefined, boolean] = [undefined, false]
    let timer: Timer | undefined
    const look = async (): Promise<void> => {
      const names = await this.#namesFor(caller)
      if (isOver) return
      if (known !== undefined && names !== known) listener({ kind: 'tools_list_changed' })
      known = names
      timer = clock.after(lookMs, () => void look().catch(onError))
    }
    void look().catch(onError)
    return () => {
      isOver = true
      timer?.cancel()
    }
  }

  /** None for a token that ended: whoever lists again is told so. */
  async #namesFor(caller: Caller): Promise<string> {
    try {
      const principal = await caller.authenticateAgain()
      return (await this.#options.listedFor({ ...caller, principal })).join(' ')
    } catch (error) {
      if (error instanceof Refusal) return ''
      throw error
    }
  }
}
