/**
 * Notifies clients that listen when their list of tools changes. The list is compared every 5 seconds; flags, plan, role and scopes come
 * from memory. The notification requires the protocol from 2026-07-28 on; older clients list the tools again.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerEventBus } from '@modelcontextprotocol/server'
import type { Clock, Timer } from '#core/clock.ts'
import { Refusal } from '#core/refusals.ts'
import type { Caller } from './tools/tool-calls.ts'

export interface ListChangesOptions {
  readonly clock: Clock
  /** Returns the names of the tools that the caller sees. */
  readonly listedFor: (caller: Caller) => Promise<readonly string[]>
  readonly onError: (error: unknown) => void
}

const lookMs = 5000

type Listener = Parameters<ServerEventBus['subscribe']>[0]

export class ListChanges {
  readonly #options: ListChangesOptions
  readonly #callers = new AsyncLocalStorage<Caller>()
  /** Subscriptions of the package's server. Each listener is notified of changes for its own caller only. */
  readonly bus: ServerEventBus = {
    publish: () => {},
    subscribe: (listener) => this.#watch(this.#callers.getStore(), listener),
  }

  constructor(options: ListChangesOptions) {
    this.#options = options
  }

  /** Runs `work`; a subscription during the work belongs to this caller. */
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

  /** Returns an empty text for a token that is no longer valid. The client gets the error when it lists again. */
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
