/** Postfix's `smtp-sink` as the receiver of relay measurements: it counts and discards mail. */
import { spawn, type ChildProcess } from 'node:child_process'
import { connect } from 'node:net'
import { once } from 'node:events'
import { waitFor } from '../../support/waits.ts'
import { programPort } from '../../support/network/program-port.ts'

/** Longer than the retry delay of any message in a measurement. */
const stallMinutes = 10

export class SmtpSink implements AsyncDisposable {
  readonly port: number
  /** Number of accepted messages. */
  count = 0
  #child: ChildProcess
  #counted = new Set<() => void>()

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
    child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk.toString('latin1')))
    process.once('exit', () => child.kill('SIGKILL'))
  }

  /** Starts it on a free port, or on the one given. */
  static async start(wanted?: number): Promise<SmtpSink> {
    const port = wanted ?? (await programPort())
    const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
    const child = spawn('/usr/sbin/smtp-sink', [...user, '-c', `127.0.0.1:${String(port)}`, '1000'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await waitFor('smtp-sink accepts connections', () => {
      if (child.exitCode !== null) throw new Error(`smtp-sink ended with ${String(child.exitCode)}`)
      return answers(port)
    })
    return new SmtpSink(child, port)
  }

  /** Resolves with the time of the last of `count` messages. Rejects if no message arrives for 10 minutes. */
  async reached(count: number): Promise<number> {
    const stalled = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      const minutes = `${String(stallMinutes)} minutes`
      stalled.reject(new Error(`smtp-sink has counted ${String(this.count)} of ${String(count)} messages, and none for ${minutes}`))
    }, stallMinutes * 60_000)
    try {
      while (this.count < count) {
        await Promise.race([new Promise<void>((resolve) => this.#counted.add(resolve)), stalled.promise])
        this.#counted.clear()
        timer.refresh()
      }
      return performance.now()
    } finally {
      clearTimeout(timer)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'close')
  }

  /** Its counters, rewritten in place after every event. */
  #read(text: string): void {
    const at = text.lastIndexOf('mesg=')
    const count = Number(/^mesg=(\d+)[\r\n]/.exec(text.slice(at))?.[1] ?? NaN)
    if (Number.isNaN(count)) return
    this.count = count
    for (const resolve of this.#counted) resolve()
  }
}

function answers(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(undefined))
  })
}
