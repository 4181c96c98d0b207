/** Where log lines go: the output of the process, in the background, a batch at a time. */
import pino from 'pino'

/** Turns a line of JSON into the line that is written. */
export type LineFormat = (line: string) => string

/** Lines wait for at most a tenth of a second: a write for each would cost more than the line. */
const gatherMs = 100
const maxGathered = 64
const maxBufferedBytes = 8 * 1024 * 1024

/**
 * Lines to a file descriptor. When the reader falls 8 MiB behind, lines are dropped. What still waits when the process exits is
 * written then. Without lines there are no wake-ups.
 */
export function openLines(fd: number, format: LineFormat = (line) => line): pino.DestinationStream & { flush(done?: () => void): void } {
  const stream = pino.destination({ fd, sync: false, minLength: 8192, maxLength: maxBufferedBytes })
  let lines: string[] = []
  let timer: NodeJS.Timeout | undefined
  // one piece for all of them: the stream measures everything that it holds again with each piece
  const pass = (): void => {
    if (lines.length > 0) stream.write(lines.join(''))
    lines = []
  }
  const passAndFlush = (done?: () => void): void => {
    clearTimeout(timer)
    timer = undefined
    pass()
    stream.flush(done)
  }
  process.on('beforeExit', pass)
  process.on('exit', () => {
    if (lines.length === 0) return
    pass()
    stream.flushSync()
  })
  return {
    write(line) {
      lines.push(format(line))
      if (lines.length >= maxGathered) pass()
      timer ??= setTimeout(() => passAndFlush(), gatherMs).unref()
    },
    flush: passAndFlush,
  }
}
