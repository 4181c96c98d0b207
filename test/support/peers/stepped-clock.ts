/** The time of day of one process, which a test steps while the process runs. The speed of time does not change. */
import { globSync, renameSync, writeFileSync } from 'node:fs'

export class SteppedClock {
  readonly #file: string
  #seconds = 0

  /** `file`: the process reads its offset from the right time there. `seconds`: the offset at its start. Needs the peer `faketime`. */
  constructor(file: string, seconds: number) {
    this.#file = file
    this.set(seconds)
  }

  /** Sets the offset in seconds. The process sees it within two seconds. */
  set(seconds: number): void {
    this.#seconds = seconds
    writeFileSync(`${this.#file}.new`, `${seconds < 0 ? '' : '+'}${seconds}s\n`)
    renameSync(`${this.#file}.new`, this.#file) // never read partially
  }

  /** The time that the process should have, in milliseconds. */
  get now(): number {
    return Date.now() + this.#seconds * 1000
  }

  /** The environment variables of the process. */
  get env(): Readonly<Record<string, string>> {
    const [library] = globSync('/usr/lib/*/faketime/libfaketime.so.1')
    if (library === undefined) throw new Error('libfaketime is not installed')
    const look = { FAKETIME_TIMESTAMP_FILE: this.#file, FAKETIME_CACHE_DURATION: '1' }
    return { ...look, LD_PRELOAD: library, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
  }
}
