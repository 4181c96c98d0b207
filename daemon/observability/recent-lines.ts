/** Keeps the latest log lines in memory, so that the lines of a message can be requested while the daemon runs. */
import type { DestinationStream } from 'pino'

const maxLines = 20_000
const maxCharacters = 8 * 1024 * 1024

type Flushable = DestinationStream & { flush?(done?: () => void): void }

export class RecentLines {
  /** The lines, oldest first from `#oldest`. */
  readonly #lines: string[] = []
  #oldest = 0
  #characters = 0

  /** Returns a stream that keeps lines and passes them on. */
  before(stream: Flushable): Flushable {
    return {
      write: (line) => {
        this.add(line)
        stream.write(line)
      },
      ...(stream.flush && { flush: (done?: () => void) => stream.flush?.(done) }),
    }
  }

  add(line: string): void {
    this.#lines.push(line)
    this.#characters += line.length
    while (this.#characters > maxCharacters || this.#lines.length - this.#oldest > maxLines) {
      this.#characters -= this.#lines[this.#oldest]?.length ?? 0
      this.#lines[this.#oldest++] = ''
    }
    // removes dropped lines in batches, so that each line costs the same
    if (this.#oldest > maxLines) this.#lines.splice(0, this.#oldest)
    if (this.#oldest > maxLines) this.#oldest = 0
  }

  /** Returns the lines that contain a text, oldest first. */
  with(text: string): string[] {
    return this.#lines.slice(this.#oldest).filter((line) => line.includes(text))
  }
}
