/** The only daemon at an embedded store. It does all work and has no other daemon to notify. */
import type { Daemons, SharedWork } from './daemons.ts'

export class OneDaemon implements Daemons {
  readonly isAlone = true
  readonly id = ''
  readonly tries = undefined
  readonly #works = new Map<string, SharedWork>()

  isRunning(id: string): boolean {
    return id === this.id
  }

  publish(): void {}

  async publishToAll(): Promise<void> {}

  async askOthers(): Promise<void> {}

  onAsked(): void {}

  subscribe(): void {}

  onGap(): void {}

  onBeat(): void {}

  isCurrent(): boolean {
    return true
  }

  now(): undefined {}

  async share(work: SharedWork): Promise<void> {
    this.#works.set(work.name, work)
    await work.start()
  }

  async leave(name: string): Promise<void> {
    const work = this.#works.get(name)
    this.#works.delete(name)
    await work?.stop()
  }

  holds(name: string): boolean {
    return this.#works.has(name)
  }

  placeOf(): 'here' {
    return 'here'
  }

  wake(_name: string, here: () => void): void {
    here()
  }

  async doOthersWork(): Promise<false> {
    return false
  }

  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return work()
  }
}
