/** Passes the output of AVA on, counts its tests, and says between whole lines how far it is. */
import { performance } from 'node:perf_hooks'
import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'

const outcome = /^ *([✔✘-]) /u

export class Progress {
  readonly #write: (text: string) => unknown
  readonly #decoder = new StringDecoder('utf8')
  readonly #since = performance.now()
  readonly #skipped = new Map<string, number>()
  #rest = ''
  #passed = 0
  #failed = 0

  constructor(write: (text: string) => unknown) {
    this.#write = write
  }

  /** Output of AVA, as it comes. */
  read(octets: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(octets)).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#count(stripVTControlCharacters(line))
    if (lines.length > 0) this.#write(`${lines.join('\n')}\n`)
  }

  /** One line: how many tests have ended, and after how long. */
  report(): void {
    const seconds = Math.round((performance.now() - this.#since) / 1000)
    const time = `${String(Math.floor(seconds / 60))} min ${String(seconds % 60)} s`
    const failed = this.#failed === 0 ? '' : `, ${String(this.#failed)} of them failed`
    this.#write(`… ${String(this.#passed + this.#failed)} tests done after ${time}${failed}\n`)
  }

  /** What is left of the output, and why tests were skipped. */
  end(): void {
    this.#write(this.#rest)
    for (const [reason, count] of this.#skipped) this.#write(`… ${String(count)} skipped: needs ${reason}\n`)
  }

  #count(line: string): void {
    const mark = outcome.exec(line)?.[1]
    if (mark === '✔') this.#passed += 1
    else if (mark === '✘') this.#failed += 1
    else if (mark === '-') {
      const reason = /\(needs (.+)\)$/.exec(line)?.[1]
      if (reason !== undefined) this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1)
    }
  }
}
