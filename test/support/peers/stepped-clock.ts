/** The time of day of one process, which a test steps while the process runs; how fast time goes by stays the same. */
import { globSync, renameSync, writeFileSync } from 'node:fs'

export class SteppedClock {
  readonly #file: string
  #seconds = 0

  /** `file`: where the process reads what its clock says beside the right time; `seconds`: that at its start. Needs the peer `faketime`. */
  constructor(file: string, seconds: number) {
    this.#file = file
    this.set(seconds)
  }

  /** So many seconds beside the right time from now on; the process sees it within a second or two. */
  set(seconds: number): void {
    this.#seconds = seconds
    writeFileSync(`${this.#file}.new`, `${seconds < 0 ? '' : '+'}${seconds}s\n`)
    renameSync(`${this.#file}.new`, this.#file) // never read half
  }

  /** In milliseconds, what the process should have as its time. */
  get now(): number {
    return Date.now() + this.#seconds * 1000
  }

  /** The variables of the process. */
  get env(): Readonly<Record<string, string>> {
    const [library] = globSync('/usr/lib/*/faketime/libfaketime.so.1')
    if (library === undefined) throw new Error('libfaketime is not installed')
    const look = { FAKETIME_TIMESTAMP_FILE: this.#file, FAKETIME_CACHE_DURATION: '1' }
    return { ...look, LD_PRELOAD: library, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
  }
}
