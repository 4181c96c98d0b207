/** Progress display: a bar on a terminal, and a line at each quarter elsewhere. */

interface Out {
  readonly isTTY?: boolean
  write(text: string): unknown
}

const width = 24

export class ProgressLine {
  readonly #out: Out
  readonly #what: string
  readonly #total: number
  #done = 0
  #quarter = 0

  constructor(out: Out, what: string, total: number) {
    this.#out = out
    this.#what = what
    this.#total = total
  }

  add(count: number): void {
    this.#done += count
    if (this.#out.isTTY === true) return void this.#out.write(`\r${this.#bar()} ${this.#text()}`)
    const quarter = Math.floor((4 * this.#done) / this.#total)
    if (quarter > this.#quarter) this.#out.write(`${this.#text()}\n`)
    this.#quarter = quarter
  }

  /** Ends the line of the bar. */
  end(): void {
    if (this.#out.isTTY === true) this.#out.write('\n')
  }

  #bar(): string {
    const full = Math.round((width * this.#done) / this.#total)
    return `[${'#'.repeat(full)}${' '.repeat(width - full)}]`
  }

  #text(): string {
    return `${this.#what} ${this.#done} of ${this.#total}`
  }
}
