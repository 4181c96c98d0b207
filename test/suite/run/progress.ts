/** Prints AVA's output about failures, counts tests, and reports the progress of the run. */
import { performance } from 'node:perf_hooks'
import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'

const outcome = /^ *([✔✘]) /u

export class Progress {
  readonly #write: (text: string) => unknown
  readonly #since = performance.now()
  #decoder = new StringDecoder('utf8')
  #failing: (line: string) => unknown = () => {}
  #rest = ''
  #passed = 0
  #failed = 0

  constructor(write: (text: string) => unknown) {
    this.#write = write
  }

  /** Starts reading the output of an AVA process; `failing` receives the line of each failed test. */
  begin(failing: (line: string) => unknown): void {
    this.#decoder = new StringDecoder('utf8')
    this.#failing = failing
  }

  /** Reads output of AVA. Counts lines about passed tests without printing them. */
  read(octets: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(octets)).split('\n')
    this.#rest = lines.pop() ?? ''
    const shown = lines.filter((line) => this.#isShown(line))
    if (shown.length > 0) this.#write(`${shown.join('\n')}\n`)
  }

  /** One line: how many tests have ended, and after how long. */
  report(): void {
    const seconds = Math.round((performance.now() - this.#since) / 1000)
    const time = `${String(Math.floor(seconds / 60))} min ${String(seconds % 60)} s`
    const failed = this.#failed === 0 ? '' : `, ${String(this.#failed)} of them failed`
    this.#write(`… ${String(this.#passed + this.#failed)} tests done after ${time}${failed}\n`)
  }

  /** Writes the last, unfinished line of a process. */
  end(): void {
    this.#write(this.#rest)
    this.#rest = ''
  }

  #isShown(whole: string): boolean {
    const line = stripVTControlCharacters(whole)
    const mark = outcome.exec(line)?.[1]
    if (mark === '✔') this.#passed += 1
    else if (mark === '✘') {
      this.#failed += 1
      this.#failing(line)
    }
    return mark !== '✔' && !line.includes('Using configuration from')
  }
}
